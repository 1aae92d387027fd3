package ssh

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// call is what a command line of ssh asks for.
type call struct {
	host  string // as typed, without user and port
	set   sshopt.Flags
	words []string // of the command

	tty     int  // -t is 1 or more, -T is -1
	saidTTY bool // -o RequestTTY has said it, "auto" too
	noInput bool // -n

	// What -o has said, "no" and "default" too.
	saidLocal, saidSession, saidInput, saidBackground, saidAgent, saidGateway, saidEscape bool

	background bool   // -f
	level      string // of what is said: -q, -v and LogLevel
	local      string // where the command line says LocalCommand, or none
	control    string // -O
	query      string // -Q
	show       bool   // -G
	version    bool   // -V

	terminated bool // options have ended with --
	help       bool

	subsystem bool
	noCommand bool            // -N
	forwards  []hosts.Forward // -L, -R and -D
	wide      []hosts.Forward // the same, where GatewayPorts is on
	sockets   []string        // directives about those that are listened on here
	gateway   bool            // -g: ports that name no address are for other machines too
	clear     bool            // ClearAllForwardings
	forward   string          // of -W
	sendEnv   []string        // options
	command   string          // of RemoteCommand
	log       string          // of -E
	escape    string          // of -e and EscapeChar
	ignored   []string        // options that have no effect
	warnings  []string        // what is done without
	jumps     bool            // -J
}

// withValue are ssh's options that take one.
const withValue = "BbcDEeFIiJLlmOoPpQRSWw"

// notHere are options that would change what happens, and are not supported, with what to do instead.
var notHere = map[byte]string{
	'w': "tunnels are not supported: -L, -R and -D forward ports, and ssh itself makes tunnels",
	'X': "X11 is not supported: ssh itself forwards it", 'Y': "X11 is not supported: ssh itself forwards it",
	'I': "keys of PKCS#11 come from ssh-agent: add them with ssh-add -s", 'K': "GSSAPI is not supported: ssh itself logs in with it",
}

// noEffect are options that change nothing that Fairlead does.
const noEffect = "kMSxyC"

// parse reads ssh's command line: options before and behind the destination, then the command.
func parse(args []string) (*call, error) {
	c := &call{}
	for {
		rest, err := c.options(args)
		switch {
		case err != nil:
			return nil, err
		case c.version || c.help || c.query != "":
			return c, nil
		case len(rest) == 0 && c.host == "":
			return nil, errors.New("the destination is missing: fairlead ssh [options] [user@]host [command]")
		case len(rest) == 0:
			return c, c.check()
		case c.host != "":
			c.words = rest
			return c, c.check()
		}
		if err := c.destination(rest[0]); err != nil {
			return nil, err
		}
		if args = rest[1:]; c.terminated {
			c.words = args
			return c, c.check()
		}
	}
}

// options reads options, and returns what stands behind them.
func (c *call) options(args []string) (rest []string, err error) {
	for len(args) > 0 {
		word := args[0]
		if word == "--help" {
			c.help = true
			return nil, nil
		}
		if word == "--" {
			c.terminated = true
			return args[1:], nil
		}
		if len(word) < 2 || word[0] != '-' {
			return args, nil
		}
		args = args[1:]
		for i := 1; i < len(word); i++ {
			o := word[i]
			if !strings.ContainsRune(withValue, rune(o)) {
				if err := c.option(o, ""); err != nil {
					return nil, err
				}
				continue
			}
			value := word[i+1:]
			if value == "" {
				if len(args) == 0 {
					return nil, fmt.Errorf("-%c needs a value", o)
				}
				value, args = args[0], args[1:]
			}
			if err := c.option(o, value); err != nil {
				return nil, err
			}
			break
		}
	}
	return nil, nil
}

func (c *call) option(o byte, value string) error {
	if why, ok := notHere[o]; ok {
		return fmt.Errorf("-%c: %s", o, why)
	}
	if strings.IndexByte(noEffect, o) >= 0 {
		c.ignored = append(c.ignored, "-"+string(o))
		return nil
	}
	keyword := map[byte]string{
		'b': "BindAddress", 'B': "BindInterface", 'c': "Ciphers", 'm': "MACs", 'i': "IdentityFile", 'J': "ProxyJump", 'l': "User", 'p': "Port", 'P': "Tag",
	}[o]
	switch o {
	case '4':
		return last(&c.set, "AddressFamily=inet")
	case '6':
		return last(&c.set, "AddressFamily=inet6")
	case 'a':
		return c.agent("ForwardAgent=no")
	case 'A':
		return c.agent("ForwardAgent=yes")
	case 'e':
		if _, err := escapeOf(value); err != nil {
			return fmt.Errorf("-e %w", err)
		}
		c.escape, c.saidEscape = value, true
	case 'E':
		c.log = value
	case 'f':
		c.background, c.noInput = true, true
	case 'F':
		return c.set.ReadFile(value)
	case 'g':
		c.gateway, c.saidGateway = true, true
	case 'G':
		c.show = true
	case 'h', '?':
		c.help = true
	case 'L', 'R', 'D':
		f, err := hosts.ParseForward("-"+string(o), value)
		if err != nil {
			return fmt.Errorf("-%c: %w", o, err)
		}
		c.forwards = append(c.forwards, f)
		c.wide = append(c.wide, f.Wide(value))
	case 'N':
		c.noCommand = true
	case 'n':
		c.noInput = true
	case 'o':
		return c.directive(value)
	case 'O':
		c.control = value
	case 'Q':
		c.query = value
	case 'q':
		c.level = nothing
	case 's':
		c.subsystem = true
	case 't':
		c.tty = max(c.tty, 0) + 1
	case 'T':
		c.tty = -1
	case 'v':
		c.level = steps
	case 'V':
		c.version = true
	case 'W':
		if c.forward != "" {
			return errors.New("-W may be given once")
		}
		c.forward = value
	case '1', '2':
		if o == '1' {
			return errors.New("-1: protocol 1 is not supported")
		}
	default:
		if keyword == "" {
			return fmt.Errorf("-%c is not an option of ssh", o)
		}
		switch o {
		case 'i':
			if why := inaccessible(value); why != nil { // as ssh, which goes on with the keys that it has
				c.warnings = append(c.warnings, fmt.Sprintf("-i %s: %v; going on without it", value, why))
				return nil
			}
			value = sshopt.Quoted(value)
		case 'J':
			if c.jumps {
				return errors.New("-J may be given once: separate several jump hosts with commas")
			}
			c.jumps = true
		case 'l':
			return c.set.User(value)
		case 'b', 'B', 'c', 'm':
			return last(&c.set, keyword+"="+value)
		}
		return c.set.Option(keyword + "=" + value)
	}
	return nil
}

// valuesOf are the values of what directive reads itself; what is another one is an error, as with ssh.
var valuesOf = map[string][]string{
	"requesttty":  {"yes", "no", "true", "false", "force", "auto"},
	"sessiontype": {"none", "subsystem", "default"},
	"stdinnull":   switches, "forkafterauthentication": switches, "gatewayports": switches, "clearallforwardings": switches,
	"streamlocalbindunlink": switches,
}

var switches = []string{"yes", "no", "true", "false"}

// directive takes one -o: what is about the program on the host is for us, and the rest for the connection.
func (c *call) directive(text string) error {
	o, err := sshconfig.ParseOption(text)
	switch {
	case err == nil:
	case o.IgnoredBy(c.set.Set.Lines):
		c.ignored = append(c.ignored, "-o "+o.Name)
		return nil
	case o.Name == "":
		return fmt.Errorf("-o %s: %w", strings.SplitN(text, "=", 2)[0], err)
	default:
		return fmt.Errorf("-o %s: %w", o.Name, err)
	}
	value := strings.ToLower(strings.Join(o.Words(), " "))
	if some := valuesOf[o.Keyword]; some != nil && !slices.Contains(some, value) {
		return fmt.Errorf("-o %s: %q is not %s", o.Name, value, strings.Join(some[:len(some)-1], ", ")+" or "+some[len(some)-1])
	}
	switch o.Keyword {
	case "requesttty":
		if !c.saidTTY {
			c.saidTTY = true
			c.request(value)
		}
	case "remotecommand":
		if value != sshconfig.None && c.command == "" {
			c.command = o.Value
		}
		return c.set.Option("RemoteCommand=none") // of the files none counts
	case "sendenv":
		c.sendEnv = append(c.sendEnv, text)
	case "loglevel":
		level, ok := levels[value]
		switch {
		case !ok:
			return fmt.Errorf("-o %s: %q is not QUIET, FATAL, ERROR, INFO, VERBOSE, DEBUG, DEBUG1, DEBUG2 or DEBUG3", o.Name, o.Value)
		case c.level == "": // the first counts; -q and -v go before it
			c.level = level
		}
	case "sessiontype":
		c.saidSession = true
		switch value {
		case "subsystem":
			c.subsystem = true
		case "none":
			return c.option('N', "")
		}
	case "stdinnull":
		c.saidInput = true
		c.noInput = c.noInput || on(value)
	case "forkafterauthentication":
		c.saidBackground = true
		if on(value) {
			return c.option('f', "")
		}
	case "forwardagent":
		if c.saidAgent { // the first counts
			return nil
		}
		c.saidAgent = true
		return c.set.Option(text)
	case "gatewayports":
		if !c.saidGateway {
			c.gateway, c.saidGateway = on(value), true
		}
	case "escapechar":
		if _, err := escapeOf(o.Value); err != nil {
			return fmt.Errorf("-o %s: %w", o.Name, err)
		}
		if !c.saidEscape {
			c.escape, c.saidEscape = o.Value, true
		}
	case "localforward", "remoteforward", "dynamicforward":
		return c.option(map[string]byte{"localforward": 'L', "remoteforward": 'R', "dynamicforward": 'D'}[o.Keyword], strings.Join(o.Words(), ":"))
	case "clearallforwardings":
		c.clear = c.clear || on(value)
	case "controlpath":
		if value != sshconfig.None { // as with -S: the caller's own sharing is what Fairlead does anyhow
			c.ignored = append(c.ignored, "-o "+o.Name)
			return nil
		}
		return c.set.Option(text)
	case "streamlocalbindunlink", "streamlocalbindmask":
		c.sockets = append(c.sockets, text)
	case "localcommand":
		if c.local == "" { // the first counts
			if c.local = "-o " + o.Name; value == sshconfig.None {
				c.local = value
			}
		}
		c.ignored = append(c.ignored, "-o "+o.Name)
	case "permitlocalcommand", "forwardx11", "tunnel":
		c.saidLocal = c.saidLocal || o.Keyword == "permitlocalcommand"
		if o.Effect == sshconfig.NoEffect {
			return fmt.Errorf("-o %s: not supported", o.Name)
		}
	case "permitremoteopen":
		if o.Effect == sshconfig.NoEffect {
			return fmt.Errorf("-o %s: %s", o.Name, pipe.Unlimited)
		}
	default:
		switch o.Effect {
		case sshconfig.Refused:
			return fmt.Errorf("-o %s: %s", o.Name, o.Why)
		case sshconfig.NoEffect:
			c.ignored = append(c.ignored, "-o "+o.Name)
			return nil
		}
		return c.set.Option(text)
	}
	return nil
}

// escapeOf is the escape character; "" says nothing.
func escapeOf(value string) (byte, error) {
	if value == "" {
		return '~', nil
	}
	return shell.ParseEscape(value)
}

func on(value string) bool { return value == "yes" || value == "true" }

// destination reads [user@]host and ssh://[user@]host[:port].
func (c *call) destination(text string) error {
	rest, uri := strings.CutPrefix(text, "ssh://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user := rest[:at]
		if uri {
			var err error
			if user, err = url.PathUnescape(user); err != nil {
				return fmt.Errorf("%q is not a destination", text)
			}
		}
		if err := c.set.User(user); err != nil {
			return err
		}
		rest = rest[at+1:]
	}
	if uri {
		rest = strings.TrimSuffix(rest, "/")
		if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
			if err := c.set.Option("Port=" + rest[i+1:]); err != nil {
				return err
			}
			rest = rest[:i]
		}
	}
	if strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]") {
		rest = rest[1 : len(rest)-1]
	}
	if rest == "" || rest[0] == '-' {
		return fmt.Errorf("%q is not a destination", text)
	}
	c.host = rest
	return nil
}

func (c *call) check() error {
	if c.clear {
		c.forwards, c.wide = nil, nil
	}
	switch {
	case c.control != "":
		return control(c.control, c.host)
	case c.noCommand && (len(c.words) > 0 || c.subsystem):
		return errors.New("-N runs no command")
	case c.forward != "" && len(c.forwards) > 0:
		return errors.New("-W excludes -L, -R and -D")
	case c.forward != "" && (len(c.words) > 0 || c.subsystem):
		return errors.New("-W runs no command")
	case c.subsystem && len(c.words) != 1:
		return errors.New("-s needs the name of one subsystem")
	case c.command != "" && len(c.words) > 0:
		return errors.New("RemoteCommand and a command exclude each other")
	}
	return nil
}

// ask is what the call runs on the host. ssh joins words with blanks.
func (c *call) ask() (a pipe.Ask, err error) {
	switch line := strings.Join(c.words, " "); {
	case c.forward != "":
		a.Host, a.Port, err = pipe.ParsePort(c.forward)
		return a, err
	case c.subsystem:
		a.Subsystem = line
	case len(c.words) > 0:
		a.Line = line
	default:
		a.Line = c.command
	}
	return a, nil
}

// unlisted is a host that no inventory and no configuration names. Patterns of ssh_config are compared with what was typed.
func (c *call) unlisted() hosts.Host { return hosts.Host{Name: c.host} }

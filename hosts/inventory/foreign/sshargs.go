package foreign

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// sshArgs is what options of ssh(1) come to. Of an option that is there twice the first one counts, as with ssh.
type sshArgs struct {
	set     map[string][]string // fields of a host
	refused map[string]string   // fields that are decided by what was not understood, and why
	lost    []string            // what has no counterpart
}

// harmless are options of ssh_config that say nothing about where or as whom one logs in. Fairlead has its own ways for
// them, or they come from ssh_config.
var harmless = strings.Fields(`addressfamily batchmode bindaddress canonicalizehostname checkhostip ciphers clearallforwardings compression
	connectionattempts controlmaster controlpath controlpersist dynamicforward enablesshkeysign escapechar exitonforwardfailure
	fingerprinthash forwardagent forwardx11 forwardx11timeout forwardx11trusted gatewayports globalknownhostsfile gssapiauthentication
	gssapidelegatecredentials hashknownhosts hostbasedauthentication hostkeyalgorithms identitiesonly ipqos kbdinteractiveauthentication
	kexalgorithms localforward loglevel logverbose macs nohostauthenticationforlocalhost numberofpasswordprompts passwordauthentication
	permitlocalcommand preferredauthentications pubkeyacceptedalgorithms pubkeyacceptedkeytypes pubkeyauthentication rekeylimit
	remoteforward requesttty sendenv serveralivecountmax serveraliveinterval setenv stricthostkeychecking syslogfacility tcpkeepalive
	updatehostkeys userknownhostsfile verifyhostkeydns visualhostkey warnweakcrypto challengeresponseauthentication casignaturealgorithms`)

// parseSSHArgs reads options as they stand in ansible_ssh_common_args. Nothing in them runs.
func parseSSHArgs(text string) *sshArgs {
	a := &sshArgs{set: map[string][]string{}, refused: map[string]string{}}
	words, err := splitWords(text, false)
	if err != nil {
		a.refuse("ssh_config", "its options cannot be read: %v", err)
		return a
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if len(w) < 2 || w[0] != '-' {
			a.refuse("ssh_config", "%q is not an option of ssh", clip(w))
			continue
		}
		for j := 1; j < len(w); j++ {
			c := w[j]
			if strings.IndexByte("46AaCgKkMNnqsTtvXxYyf", c) >= 0 {
				a.lost = append(a.lost, "-"+string(c))
				continue
			}
			arg := w[j+1:]
			if arg == "" {
				if i++; i == len(words) {
					a.refuse("ssh_config", "-%c has no value", c)
					break
				}
				arg = words[i]
			}
			a.flag(c, arg)
			break
		}
	}
	return a
}

func (a *sshArgs) refuse(field, format string, args ...any) {
	if _, decided := a.set[field]; decided && field != "ssh_config" {
		return
	}
	if a.refused[field] == "" {
		a.refused[field] = fmt.Sprintf(format, args...)
	}
}

func (a *sshArgs) put(field string, values ...string) {
	if _, decided := a.set[field]; !decided && a.refused[field] == "" {
		a.set[field] = values
	}
}

func (a *sshArgs) flag(c byte, arg string) {
	switch c {
	case 'o':
		key, val, found := strings.Cut(arg, "=")
		if !found {
			key, val, _ = strings.Cut(strings.TrimSpace(arg), " ")
		}
		a.option(strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(val), `"`))
	case 'J':
		a.option("proxyjump", arg)
	case 'p':
		a.put("port", arg)
	case 'l':
		a.put("user", arg)
	case 'i':
		a.option("identityfile", arg)
	case 'c', 'm', 'e', 'E', 'L', 'R', 'D', 'S', 'b', 'B':
		a.lost = append(a.lost, "-"+string(c))
	default:
		a.refuse("ssh_config", "-%c has no counterpart", c)
	}
}

// option reads one option of ssh_config.
func (a *sshArgs) option(key, val string) {
	switch key {
	case "port", "user":
		a.put(key, val)
	case "identityfile":
		if len(a.set["identity"]) > 0 {
			a.set["identity"] = append(a.set["identity"], val)
			return
		}
		a.put("identity", val)
	case "connecttimeout":
		a.put("connect_timeout", val)
	case "proxyjump":
		via, err := jumpHosts(val)
		if err != nil {
			a.refuse("via", "ProxyJump: %v", err)
			return
		}
		a.put("via", via...)
	case "proxycommand":
		via, lost, err := proxyCommand(val)
		if err != nil {
			a.refuse("via", "ProxyCommand: %v", err)
			return
		}
		a.put("via", via...)
		a.lost = append(a.lost, lost...)
	default:
		if slices.Contains(harmless, key) {
			a.lost = append(a.lost, key)
			return
		}
		a.refuse("ssh_config", "the option %s has no counterpart", clip(key))
	}
}

// jumpHosts reads [user@]host[:port],…
func jumpHosts(list string) ([]string, error) {
	if strings.EqualFold(list, "none") {
		return nil, nil
	}
	var out []string
	for one := range strings.SplitSeq(list, ",") {
		hop, err := jumpHost(strings.TrimPrefix(strings.TrimSpace(one), "ssh://"), "", "")
		if err != nil {
			return nil, err
		}
		out = append(out, hop)
	}
	return out, nil
}

// jumpHost returns the name of a jump host as Host.Via takes it: a name, or user@host[:port].
func jumpHost(text, user, port string) (string, error) {
	if strings.Contains(text, "{{") || strings.Contains(text, "%") {
		return "", fmt.Errorf("the jump host is not written out")
	}
	if !strings.Contains(text, "@") && user != "" {
		text = user + "@" + text
	}
	host, own := cutPort(text)
	if own == "" && port != "" {
		text = host + ":" + port
		own = port
	}
	if !strings.Contains(text, "@") {
		if own != "" {
			return "", fmt.Errorf("a jump host with a port needs its user too, as in user@%s", clip(text))
		}
		if err := hosts.CheckName(text); err != nil {
			return "", fmt.Errorf("the jump host %q %w", clip(text), err)
		}
		return text, nil
	}
	if _, ok, err := hosts.ParseAdHoc(text); err != nil || !ok {
		return "", fmt.Errorf("%q is not a jump host", clip(text))
	}
	return text, nil
}

// proxyCommand reads the command lines that do no more than ProxyJump: ssh [options] -W %h:%p [user@]host, and
// ssh [options] [user@]host nc %h %p.
func proxyCommand(command string) (via, lost []string, err error) {
	if strings.EqualFold(command, "none") {
		return nil, nil, nil
	}
	words, err := splitWords(command, false)
	if err != nil {
		return nil, nil, err
	}
	if len(words) > 0 && words[0] == "exec" {
		words = words[1:]
	}
	no := func() ([]string, []string, error) {
		return nil, nil, fmt.Errorf("only ssh -W %%h:%%p [user@]host has a counterpart; Fairlead runs no other program")
	}
	if len(words) == 0 || path.Base(words[0]) != "ssh" {
		return no()
	}
	var user, port, dest string
	var before []string
	through, i := false, 1
	for ; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "" || w == "-":
			return no()
		case w[0] != '-':
			if dest != "" {
				return forwards(words[i:], through, before, dest, user, port, lost, no)
			}
			dest = w
			continue
		case len(w) == 2 && strings.IndexByte("46AaCkKnqTtvxX", w[1]) >= 0:
			continue
		}
		arg := w[2:]
		if arg == "" {
			if i++; i == len(words) {
				return no()
			}
			arg = words[i]
		}
		switch w[1] {
		case 'W':
			if arg = strings.Trim(arg, `"'`); arg != "%h:%p" && arg != "[%h]:%p" {
				return no()
			}
			through = true
		case 'p':
			port = arg
		case 'l':
			user = arg
		case 'J':
			if before, err = jumpHosts(arg); err != nil {
				return nil, nil, err
			}
		case 'i':
			lost = append(lost, "the jump host's -i")
		case 'o':
			key, val, _ := strings.Cut(arg, "=")
			switch key = strings.ToLower(strings.TrimSpace(key)); {
			case key == "port":
				port = val
			case key == "user":
				user = val
			case key == "identityfile":
				lost = append(lost, "the jump host's IdentityFile")
			case slices.Contains(harmless, key):
				lost = append(lost, "the jump host's "+key)
			default:
				return no()
			}
		default:
			return no()
		}
	}
	if dest == "" || !through {
		return no()
	}
	return forwards(nil, through, before, dest, user, port, lost, no)
}

// forwards looks at the command that ssh runs on the jump host: none, or netcat.
func forwards(rest []string, through bool, before []string, dest, user, port string, lost []string, no func() ([]string, []string, error)) ([]string, []string, error) {
	if through != (len(rest) == 0) {
		return no()
	}
	if len(rest) > 0 {
		if base := path.Base(rest[0]); base != "nc" && base != "ncat" && base != "netcat" || len(rest) < 3 {
			return no()
		}
		if last := rest[len(rest)-2:]; last[0] != "%h" || last[1] != "%p" {
			return no()
		}
	}
	hop, err := jumpHost(dest, user, port)
	if err != nil {
		return nil, nil, err
	}
	return append(before, hop), lost, nil
}

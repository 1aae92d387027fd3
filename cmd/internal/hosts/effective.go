package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Value is one setting that will be used.
type Value struct {
	Field string `json:"field"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// values collects them in the order in which they are shown.
type values struct {
	host hosts.Host
	lent hosts.Credential // zero where there is none
	from Origin
	list []Value

	noPrograms bool
}

// add takes a value that the inventory sets, or, where it does not, what is used instead.
func (v *values) add(field, set, otherwise, from string) {
	if set != "" {
		v.list = append(v.list, Value{field, set, v.origin(field)})
		return
	}
	v.list = append(v.list, Value{field, otherwise, from})
}

// Origin says in which places the inventory sets a field of a host. A field that the call sets has none.
type Origin func(field string) []hosts.Pos

// OriginOf is that of a host of an inventory, before and after what the call says about reaching it.
func OriginOf(inv *hosts.Inventory, listed, h hosts.Host) Origin {
	changed := map[string]bool{
		"user": listed.User != h.User, "port": listed.Port != h.Port, "via": !slices.Equal(listed.Via, h.Via), "ssh_config": listed.SSHConfig != h.SSHConfig,
	}
	return func(field string) []hosts.Pos {
		if changed[field] {
			return nil
		}
		return inv.Origin(listed, field)
	}
}

// origin names the places where a field is set: in the host's entry, or where it inherits it from.
func (v *values) origin(field string) string {
	if v.host.Source.File == "" {
		return "given"
	}
	places := []string{v.host.Source.String()}
	if v.from != nil {
		places = nil
		for _, pos := range v.from(field) {
			places = append(places, pos.String())
		}
	}
	if len(places) == 0 {
		return "command line"
	}
	return "inventory, " + strings.Join(places, ", ")
}

// lender names the place of the credential.
func (v *values) lender() string { return "credentials, " + v.lent.Source.String() }

// Effective says what will be used for h. lent is the credential that h has its login of, if there is one. Without from, all that
// the inventory sets is said to be in the host's entry. For noPrograms see LoadSSHConfig.
func Effective(h hosts.Host, lent hosts.Credential, from Origin, noPrograms bool) ([]Value, error) {
	v := &values{host: h, lent: lent, from: from, noPrograms: noPrograms}
	v.add("name", h.Name, "", "")
	v.add("transport", string(h.Transport), string(hosts.SSH), "default")
	v.add("tier", h.Tier, hosts.Prod, "default: an unknown tier counts as prod")
	v.add("groups", strings.Join(h.Groups, ","), "", "default")
	v.add("labels", strings.Join(labels(h), ","), "", "default")
	switch kind(h) {
	case hosts.SSH:
		if err := v.ssh(); err != nil {
			return nil, err
		}
	case hosts.Command:
		v.add("command", strings.Join(h.Command, " "), "", "default")
	}
	v.add("shell", h.Shell, "auto", "default")
	v.add("login", boolean(h.Login), "false", "default")
	v.add("env", strings.Join(h.Env, ","), "", "default")
	v.add("become", h.Become.String(), "", "default")
	v.add("forwards", strings.Join(forwardLines(h), ", "), "", "default")
	return v.list, nil
}

func forwardLines(h hosts.Host) (lines []string) {
	for _, f := range h.Forwards {
		lines = append(lines, f.String())
	}
	return lines
}

// ssh asks OpenSSH's configuration for what the inventory leaves open, as connecting does.
func (v *values) ssh() error {
	h := v.host
	cfg, err := LoadSSHConfig(h.SSHConfig, v.noPrograms)
	if err != nil {
		return err
	}
	s, err := cfg.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		return err
	}
	v.add("ssh_config", h.SSHConfig, "~/.ssh/config", "default")
	v.add("addr", h.Addr, s.HostName.V, s.HostName.Source())
	v.resolved("port", strconv.Itoa(int(s.Port.V)), s.Port.Source())
	if v.lent.User != "" {
		v.resolved("user", v.lent.User, v.lender())
	} else {
		v.resolved("user", s.User.V, s.User.Source())
	}
	if len(h.Via) > 0 {
		v.add("via", strings.Join(h.Via, ","), "", "")
	} else {
		var hops []string
		for _, j := range s.ProxyJump.V {
			hops = append(hops, address(hosts.Host{Addr: j.Host, User: j.User, Port: j.Port}))
		}
		v.resolved("via", strings.Join(hops, ","), s.ProxyJump.Source())
	}
	if s.ProxyCommand.V != "" {
		v.resolved("proxy command", s.ProxyCommand.V, s.ProxyCommand.Source())
	}
	v.keys(s)
	v.resolved("agent", s.IdentityAgent.V, s.IdentityAgent.Source())
	for _, f := range append(s.UserKnownHostsFiles, s.GlobalKnownHostsFiles...) {
		v.resolved("known hosts", f.V, f.Source())
	}
	if s.HostKeyAlias.V != "" {
		v.resolved("host key alias", s.HostKeyAlias.V, s.HostKeyAlias.Source())
	}
	if c := s.KnownHostsCommand; !c.V.IsZero() {
		v.resolved("known hosts command", c.Raw, c.Source())
	}
	if u := s.UpdateHostKeys; u.From.File != "" {
		v.resolved("UpdateHostKeys", u.V, u.Source())
	}
	for _, e := range s.SendEnv {
		v.resolved("SendEnv", e.V+" (terminals and fairlead ssh)", e.Source())
	}
	if s.ControlPath.V != "" {
		v.resolved("ControlPath", s.ControlPath.V, s.ControlPath.Source())
	}
	v.resolved("unknown host keys", unknownKeys(s), s.StrictHostKeyChecking.Source())
	timeout := ""
	if h.ConnectTimeout > 0 {
		timeout = h.ConnectTimeout.String()
	}
	otherwise := s.ConnectTimeout.V
	if otherwise == 0 {
		otherwise = sshconn.DefaultConnectTimeout
	}
	v.add("connect_timeout", timeout, otherwise.String(), s.ConnectTimeout.Source())
	v.directives(s)
	for _, d := range s.Skipped {
		if where, ok := elsewhere[strings.ToLower(d.Keyword)]; ok {
			v.resolved(d.Keyword, strings.TrimLeft(d.Value, " \t=")+" ("+where+")", d.From.String())
			continue
		}
		v.resolved("no effect", d.Keyword+" "+d.Value, d.From.String())
	}
	h.NoLogin = "" // shown already
	if d, err := sshconn.Default(sshconn.DefaultConfig{AcceptNew: true, NoPrograms: v.noPrograms}); err != nil {
		return err
	} else if err := d.Check(h); err != nil {
		v.resolved("refused", err.Error(), "ssh_config")
	}
	return nil
}

// elsewhere are directives that say nothing about the connection, with what obeys them.
var elsewhere = map[string]string{
	"localforward": "fairlead forward and fairlead ssh -N", "remoteforward": "fairlead forward and fairlead ssh -N",
	"dynamicforward": "fairlead forward and fairlead ssh -N", "clearallforwardings": "fairlead forward and fairlead ssh -N",
	"streamlocalbindunlink": "fairlead forward and fairlead ssh", "streamlocalbindmask": "fairlead forward and fairlead ssh",
	"gatewayports": "fairlead ssh", "escapechar": "fairlead ssh", "sessiontype": "fairlead ssh", "stdinnull": "fairlead ssh",
	"forkafterauthentication": "fairlead ssh", "requesttty": "fairlead ssh and fairlead shell",
}

// directives adds what ssh_config says about the connection and has no field of its own here.
func (v *values) directives(s sshconfig.Settings) {
	for _, d := range []struct {
		name string
		v    sshconfig.Value[string]
	}{
		{"AddressFamily", s.AddressFamily}, {"BindAddress", s.BindAddress}, {"BindInterface", s.BindInterface},
		{"HostKeyAlgorithms", s.HostKeyAlgorithms}, {"KexAlgorithms", s.KexAlgorithms}, {"Ciphers", s.Ciphers}, {"MACs", s.MACs},
		{"PubkeyAcceptedAlgorithms", s.PubkeyAcceptedAlgorithms}, {"CASignatureAlgorithms", s.CASignatureAlgorithms},
		{"PreferredAuthentications", s.PreferredAuthentications}, {"RevokedHostKeys", s.RevokedHostKeys},
	} {
		if d.v.V != "" {
			v.resolved(d.name, d.v.V, d.v.Source())
		}
	}
	if n := s.ConnectionAttempts; n.V != 1 {
		v.resolved("ConnectionAttempts", strconv.Itoa(n.V), n.Source())
	}
	if n := s.RequiredRSASize; n.V != 0 {
		v.resolved("RequiredRSASize", strconv.Itoa(n.V), n.Source())
	}
	if n := s.RekeyLimit; n.V != 0 {
		v.resolved("RekeyLimit", strconv.FormatUint(n.V, 10)+" bytes", n.Source())
	}
	if n := s.NumberOfPasswordPrompts; n.From.File != "" {
		v.resolved("NumberOfPasswordPrompts", strconv.Itoa(n.V), n.Source())
	}
	for _, off := range []struct {
		name string
		v    sshconfig.Value[bool]
	}{
		{"PubkeyAuthentication", s.PubkeyAuthentication}, {"PasswordAuthentication", s.PasswordAuthentication},
		{"KbdInteractiveAuthentication", s.KbdInteractiveAuthentication},
	} {
		if !off.v.V {
			v.resolved(off.name, "no", off.v.Source())
		}
	}
	if b := s.BatchMode; b.V {
		v.resolved("BatchMode", "yes", b.Source())
	}
	for _, e := range s.SetEnv {
		name, _, _ := strings.Cut(e.V, "=")
		v.resolved("SetEnv", name, e.Source())
	}
}

// unknownKeys says what is done about a host key that is not known.
func unknownKeys(s sshconfig.Settings) string {
	switch s.StrictHostKeyChecking.V {
	case sshconfig.StrictOff:
		return "accept-new (no, but a changed key is refused)"
	case sshconfig.StrictAcceptNew:
		return "accept-new"
	case sshconfig.StrictAsk:
		return "ask; refused without a person"
	}
	return "refused (" + string(s.StrictHostKeyChecking.V) + ")"
}

// keys adds what is offered, and, where the inventory's credentials say so, that nothing is or nothing else.
func (v *values) keys(s sshconfig.Settings) {
	h := v.host
	if h.NoLogin != "" {
		from := "inventory, " + h.Source.String()
		if strings.HasPrefix(h.NoLogin, "the inventory's credentials") || strings.HasPrefix(h.NoLogin, "it is not") {
			from = "credentials"
		}
		v.resolved("no login", h.NoLogin, from)
	}
	if v.lent.Sandboxed {
		v.resolved("sandboxed", "true", v.lender())
	}
	if h.IdentityOnly {
		for _, f := range h.Identity {
			v.resolved("identity", f, v.lender())
		}
		v.resolved("other keys", "none", v.lender())
		return
	}
	for _, f := range h.Identity {
		v.add("identity", f, "", "")
	}
	if len(h.Identity) == 0 {
		for _, f := range s.IdentityFiles {
			v.resolved("identity", f.V, f.Source())
		}
	}
	for _, f := range s.CertificateFiles {
		v.resolved("certificate", f.V, f.Source())
	}
}

func (v *values) resolved(field, text, from string) {
	if from == sshconfig.Given {
		from = v.origin(field)
	}
	v.list = append(v.list, Value{field, text, from})
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// LoadSSHConfig reads what Host.SSHConfig names. noPrograms is [cmdutil.Factory.NoPrograms]: then Match exec of a file that is named
// there runs nothing, as when connecting.
func LoadSSHConfig(path string, noPrograms bool) (*sshconfig.Config, error) {
	switch path {
	case "":
		return sshconfig.Load()
	case sshconfig.None:
		return sshconfig.Open(sshconfig.None)
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("ssh_config %s: %w", path, err)
		}
		path = filepath.Join(home, rest)
	}
	cfg, err := sshconfig.Loader{NoExec: noPrograms}.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("ssh_config %s: the file does not exist", path)
	}
	return cfg, err
}

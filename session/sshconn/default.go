package sshconn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/hostkeys"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// DefaultConfig says how [Default] connects. The zero value is the account of this process, asking nobody.
type DefaultConfig struct {
	// Passphrase is called for an encrypted key file once a server has accepted its public key, one call at a time for
	// each file. ctx ends when nobody waits any more; the time it takes is not counted. The bytes are wiped after use, the
	// key is kept as long as its file does not change. Nil means that encrypted keys cannot be used but through an agent.
	Passphrase func(ctx context.Context, keyfile string) ([]byte, error)

	// Ask asks a person about unknown host keys, where ssh_config does not say otherwise ("yes" to a question records the key),
	// for passwords, for what else a server wants to know, and for passphrases where Passphrase is nil. BatchMode asks nothing.
	// Nil asks nothing: unknown keys are errors, and only keys log in.
	Ask Ask

	// TrustCommand says which command records the key of h, for the error about one that is not known. A host without a Source,
	// which no list names, has the User that it is reached as. Nil names none.
	TrustCommand func(h hosts.Host) string

	// AcceptNew obeys "StrictHostKeyChecking accept-new" in ssh_config, and takes "no" for the same: the key of a host
	// about which nothing at all is known is recorded and trusted. Without it such a key is an error, like any other that
	// is not known. A changed key is always an error.
	AcceptNew bool

	// NoPrograms refuses hosts for which a configuration that Host.SSHConfig names would start a program on this machine (Match
	// exec, ProxyCommand, KnownHostsCommand): whoever has named that file may start none.
	NoPrograms bool

	// HostKeysChange obeys UpdateHostKeys in ssh_config: it is called before known_hosts files change because a host has said, and
	// proved, which keys are its own. Its error leaves them as they are. It may be called concurrently. Nil changes nothing.
	HostKeysChange func(ctx context.Context, c HostKeyChange) error

	// Forget makes a key that a passphrase has opened serve one login: the next one asks again.
	Forget bool

	// Loader says whose configuration is read.
	Loader sshconfig.Loader

	Network
}

// Default returns a Dialer that connects as ssh(1) would: with what ssh_config says about a host where the host itself
// does not, host keys from known_hosts files, keys from the agent and from files, in OpenSSH's order.
//
// Files are read when they are needed first, kept, and read again once they change.
func Default(cfg DefaultConfig) (*Dialer, error) {
	f := &files{cfg: cfg}
	return newDialer(cfg.Network, func(h hosts.Host) (*target, error) { return f.resolve(h) })
}

// resolve asks ssh_config about h.
func (f *files) resolve(h hosts.Host) (*target, error) {
	conf, stamps, err := f.config(h.SSHConfig)
	if err != nil {
		return nil, err
	}
	s, err := conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		return nil, err
	}
	if s.ProxyCommand.V != "" {
		if err := f.mayStart(h, s.ProxyCommand.From, s.ProxyCommand.OnCommandLine()); err != nil {
			return nil, err
		}
	}
	if !s.KnownHostsCommand.V.IsZero() {
		if err := f.mayStart(h, s.KnownHostsCommand.From, s.KnownHostsCommand.OnCommandLine()); err != nil {
			return nil, err
		}
	}
	t := &target{
		name: h.Name, host: s.HostName.V, port: s.Port.V, user: s.User.V, alias: s.HostKeyAlias.V,
		timeout: s.ConnectTimeout.V, keepAlive: s.ServerAliveInterval.V, config: stamps,
	}
	if h.Addr != "" {
		t.host = h.Addr
	}
	if h.ConnectTimeout != 0 {
		t.timeout = h.ConnectTimeout
	}
	if s.ServerAliveInterval.From.File != "" {
		t.keepAliveMax = s.ServerAliveCountMax.V
		if t.keepAlive == 0 {
			t.keepAlive = -1 // switched off, which is not the same as unsaid
		}
	}
	t.master = masterOf(h, s)
	t.options = strings.Join(h.SSHOptions, "\x01")
	if d := s.LimitsForwards(); d != nil {
		t.limited = d.From.String()
	}
	if s.ForwardAgent.V {
		if t.lent = s.AgentLent; t.lent == "" {
			return nil, errors.New("the SSH agent cannot be forwarded, because none is running: start ssh-agent, or leave ForwardAgent (-A) out")
		}
	}
	if err := f.viaOf(t, h, s); err != nil {
		return nil, err
	}
	if t.algorithms, err = allowed.AlgorithmsOf(s); err != nil {
		return nil, err
	}
	if t.methods, err = allowed.MethodsOf(s); err != nil {
		return nil, err
	}
	t.net = network{family: s.AddressFamily.V, address: s.BindAddress.V, inface: s.BindInterface.V, attempts: s.ConnectionAttempts.V}
	switch {
	case t.net.address != "":
		t.net.direction = s.BindAddress.Source() + ": BindAddress " + t.net.address
	case t.net.inface != "":
		t.net.direction = s.BindInterface.Source() + ": BindInterface " + t.net.inface
	}
	if t.net.family != "" {
		t.net.limit = s.AddressFamily.Source() + ": AddressFamily " + t.net.family
	}
	t.rekey, t.setEnv = s.RekeyLimit.V, values(s.SetEnv)
	live := &hostkeys.Live{Files: &f.known, Paths: append(values(s.UserKnownHostsFiles), values(s.GlobalKnownHostsFiles)...)}
	if t.hostKeys = live; !s.KnownHostsCommand.V.IsZero() {
		t.hostKeys = &hostkeys.Command{Live: live, Argv: s.KnownHostsCommand.V.Argv, Env: f.cfg.Loader.ProgramEnviron(), From: s.KnownHostsCommand.Source(), Name: t.keyName()}
	}
	t.checkIP = s.CheckHostIP.V
	t.revoked = hostkeys.Revoked{File: s.RevokedHostKeys.V, From: s.RevokedHostKeys.Source()}
	if user := values(s.UserKnownHostsFiles); f.cfg.HostKeysChange != nil && s.UpdateHostKeys.V != "no" && len(user) > 0 {
		t.rotation = &rotation{asks: s.UpdateHostKeys.V == "ask", files: user, others: values(s.GlobalKnownHostsFiles), hash: s.HashKnownHosts.V, changing: f.cfg.HostKeysChange, done: make(chan struct{})}
	}
	t.first, t.files = f.firstContact(h, s), values(s.UserKnownHostsFiles)
	if t.ask = f.cfg.Ask; s.BatchMode.V {
		t.ask = nil
	}
	if t.rotation != nil && t.rotation.asks && t.ask == nil {
		t.rotation = nil
	}
	w := f.wanted(h, s)
	w.Algorithms, w.Silent, w.Forget = t.algorithms, s.BatchMode.V, f.cfg.Forget
	w.Ask = func() func(context.Context, string) ([]byte, error) { return f.passphrase(t.name, t.user, w.Silent) }
	t.login = w.String() + "\x02" + t.methods.String()
	t.keys = func(clk *clock.Clock, bound *keyring.Binding) (*keyring.Ring, error) {
		return f.keys.Ring(clk, w, bound)
	}
	return t, nil
}

// mayStart says why a host is refused for a program that its configuration names.
func (f *files) mayStart(h hosts.Host, from hosts.Pos, typed bool) error {
	if f.cfg.NoPrograms && h.SSHConfig != "" && !typed {
		return fmt.Errorf("%s: %w", from, sshconfig.ErrNotRun)
	}
	return nil
}

// viaOf says through which hosts h is reached: what the command line says, else its own list, else ssh_config's.
func (f *files) viaOf(t *target, h hosts.Host, s sshconfig.Settings) error {
	switch {
	case len(h.Via) > 0 && !s.ProxyJump.OnCommandLine() && !s.ProxyCommand.OnCommandLine():
		for _, name := range h.Via {
			hop := f.cfg.hop(name)
			if hop.SSHConfig == "" {
				hop.SSHConfig = h.SSHConfig
			}
			t.via = append(t.via, hop)
		}
	case s.ProxyCommand.V != "":
		var err error
		t.proxy, err = f.proxyOf(t, s.ProxyCommand.V, s.ProxyCommand.Source(), h.Name)
		return err
	default:
		for _, j := range s.ProxyJump.V {
			hop := hosts.Host{Name: j.Host, User: j.User, Port: j.Port, SSHConfig: h.SSHConfig}
			if s.ProxyJump.OnCommandLine() {
				hop = f.typedHop(hop)
			}
			t.via = append(t.via, hop)
		}
	}
	return nil
}

// typedHop is a jump host on the command line: the inventory's, where that has the name, with what the command line adds.
func (f *files) typedHop(typed hosts.Host) hosts.Host {
	if f.cfg.Lookup == nil {
		return typed
	}
	hop, ok := f.cfg.Lookup(typed.Name)
	if !ok {
		return typed
	}
	if typed.User != "" {
		hop.User = typed.User
	}
	if typed.Port != 0 {
		hop.Port = typed.Port
	}
	if hop.SSHConfig == "" {
		hop.SSHConfig = typed.SSHConfig
	}
	return hop
}

// firstContact says what ssh_config wants done about an unknown key.
func (f *files) firstContact(h hosts.Host, s sshconfig.Settings) firstContact {
	first := firstContact{hash: s.HashKnownHosts.V}
	if len(s.UserKnownHostsFiles) > 0 {
		first.file = s.UserKnownHostsFiles[0].V
	}
	switch s.StrictHostKeyChecking.V {
	case sshconfig.StrictYes:
		first.silent = s.StrictHostKeyChecking.Source() + ": StrictHostKeyChecking yes"
	case sshconfig.StrictAcceptNew, sshconfig.StrictOff:
		first.accept = f.cfg.AcceptNew && first.file != ""
	}
	if f.cfg.TrustCommand != nil {
		if h.Source == (hosts.Pos{}) {
			h.User = s.User.V
		}
		first.command = f.cfg.TrustCommand(h)
	}
	return first
}

// wanted merges what h and ssh_config name. Keys of the command line come first, and then a host's own, as with ssh -i, and then the files that ssh
// would try unasked are not tried; nor are those that ssh_config names where the host takes no others.
func (f *files) wanted(h hosts.Host, s sshconfig.Settings) keyring.Wanted {
	if h.IdentityOnly {
		s.IdentitiesOnly.V, s.IdentityFiles, s.CertificateFiles, s.CertificatesNone = true, nil, nil, false
	}
	w := keyring.Wanted{Explicit: map[string]bool{}, Only: s.IdentitiesOnly.V, Agent: s.IdentityAgent.V, Certificates: values(s.CertificateFiles), NoneBeside: s.CertificatesNone}
	for _, v := range s.IdentityFiles {
		if v.OnCommandLine() {
			w.Identities, w.Explicit[v.V] = append(w.Identities, v.V), true
		}
	}
	for _, path := range h.Identity {
		path = f.expand(path)
		w.Identities = append(w.Identities, path)
		w.Explicit[path] = true
	}
	for _, v := range s.IdentityFiles {
		named := v.From.File != ""
		if !v.OnCommandLine() && (named || len(h.Identity) == 0) {
			w.Identities = append(w.Identities, v.V)
			w.Explicit[v.V] = w.Explicit[v.V] || named
		}
	}
	return w
}

func values(v []sshconfig.Value[string]) []string {
	out := make([]string, len(v))
	for i := range v {
		out[i] = v[i].V
	}
	return out
}

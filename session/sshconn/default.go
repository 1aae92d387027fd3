package sshconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// DefaultConfig says how [Default] connects. The zero value is the account of this process, asking nobody.
type DefaultConfig struct {
	// Passphrase is called for an encrypted key file once a server has accepted its public key, one call at a time for
	// each file. ctx ends when nobody waits any more; the time it takes is not counted. The bytes are wiped after use, the
	// key is kept as long as its file does not change. Nil means that encrypted keys cannot be used but through an agent.
	Passphrase func(ctx context.Context, keyfile string) ([]byte, error)

	// AcceptNew obeys "StrictHostKeyChecking accept-new" in ssh_config, and takes "no" for the same: the key of a host
	// about which nothing at all is known is recorded and trusted. Without it such a key is an error, like any other that
	// is not known. A changed key is always an error.
	AcceptNew bool

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
	conf, err := f.config(h.SSHConfig)
	if err != nil {
		return nil, err
	}
	s, err := conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		return nil, err
	}
	t := &target{
		name: h.Name, host: s.HostName.V, port: s.Port.V, user: s.User.V, alias: s.HostKeyAlias.V,
		timeout: s.ConnectTimeout.V, keepAlive: s.ServerAliveInterval.V,
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
	t.options = strings.Join(h.SSHOptions, "\x01")
	if s.ForwardAgent.V {
		if t.lent = s.IdentityAgent.V; t.lent == "" {
			return nil, errors.New("the agent cannot be forwarded, because there is none: start ssh-agent, or leave ForwardAgent (-A) out")
		}
	}
	if err := f.viaOf(t, h, s); err != nil {
		return nil, err
	}
	if t.algorithms, err = f.algorithms(s); err != nil {
		return nil, err
	}
	if err := keysAllowed(s); err != nil {
		return nil, err
	}
	t.net = network{family: s.AddressFamily.V, address: s.BindAddress.V, inface: s.BindInterface.V, attempts: s.ConnectionAttempts.V}
	switch {
	case t.net.address != "":
		t.net.direction = s.BindAddress.Source() + ": BindAddress " + t.net.address
	case t.net.inface != "":
		t.net.direction = s.BindInterface.Source() + ": BindInterface " + t.net.inface
	}
	t.rekey, t.setEnv = s.RekeyLimit.V, values(s.SetEnv)
	t.hostKeys = &liveKeys{f: f, paths: append(values(s.UserKnownHostsFiles), values(s.GlobalKnownHostsFiles)...)}
	switch s.StrictHostKeyChecking.V {
	case sshconfig.StrictAcceptNew, sshconfig.StrictOff:
		if f.cfg.AcceptNew && len(s.UserKnownHostsFiles) > 0 {
			t.trust = record(s.UserKnownHostsFiles[0].V, s.HashKnownHosts.V)
		}
	}
	w := f.wanted(h, s)
	w.algorithms, w.silent = t.algorithms, s.BatchMode.V
	t.login = w.String()
	t.keys = func(clk *clock) (*keyring, error) { return f.keyring(clk, w) }
	return t, nil
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
		return fmt.Errorf("%s: ProxyCommand is not supported yet; use ProxyJump, or \"via\" in the inventory", s.ProxyCommand.Source())
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

// typedHop is a jump host that somebody typed: the inventory's, where that has the name, with what was typed besides.
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

// keysAllowed refuses a host that no key may be offered to: there is no other way to log in.
func keysAllowed(s sshconfig.Settings) error {
	if !s.PubkeyAuthentication.V {
		return fmt.Errorf("%s: PubkeyAuthentication no: Fairlead logs in with keys only; set it to yes for this host", s.PubkeyAuthentication.Source())
	}
	if p := s.PreferredAuthentications; p.V != "" && !slices.Contains(strings.Split(p.V, ","), "publickey") {
		return fmt.Errorf("%s: PreferredAuthentications %s: Fairlead logs in with keys only; add publickey for this host", p.Source(), p.V)
	}
	return nil
}

// liveKeys asks known_hosts files as they are now.
type liveKeys struct {
	f     *files
	paths []string
}

func (k *liveKeys) Check(q knownhosts.Query, key hostKey) error {
	db, err := k.f.knownHosts(k.paths)
	if err != nil {
		return err
	}
	return db.Check(q, key)
}

func (k *liveKeys) Algorithms(q knownhosts.Query) []string {
	db, err := k.f.knownHosts(k.paths)
	if err != nil {
		return knownhosts.DefaultAlgorithms() // Check will say the error
	}
	return db.Algorithms(q)
}

// record returns what accepts an unknown key, by writing it down.
func record(file string, hash bool) func(*knownhosts.UnknownError, knownhosts.Query) error {
	return func(e *knownhosts.UnknownError, q knownhosts.Query) error {
		if len(e.Skipped) > 0 || e.Certificate != nil {
			return e // the key may be known, in a line that could not be read
		}
		name := q.Alias
		if name == "" {
			name = knownhosts.Name(q.Host, q.Port)
		}
		return knownhosts.Append(file, name, e.Key, knownhosts.AppendOptions{Hash: hash})
	}
}

func values(v []sshconfig.Value[string]) []string {
	out := make([]string, len(v))
	for i := range v {
		out[i] = v[i].V
	}
	return out
}

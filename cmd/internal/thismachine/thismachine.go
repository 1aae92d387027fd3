// Package thismachine says which hosts of an inventory are the machine that this process runs on, and which key files it
// uses for them.
package thismachine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

const (
	keep       = 30 * time.Second // how long an answer is remembered
	lookupTime = time.Second      // for one name; after a timeout no name is looked up for as long as an answer is kept
	maxKept    = 10_000
)

// Machine answers for the account and environment of this process. Its methods may be called concurrently. The zero
// Machine is ready for use.
type Machine struct {
	Lookup func(ctx context.Context, name string) ([]string, error) // nil asks the system

	mu      sync.Mutex // guards what follows
	since   time.Time
	here    map[string]bool // by address
	configs map[string]*sshconfig.Config
	answers map[string]answer // by host
	silent  bool              // names are not answered
}

// Is reports whether a host is this machine: its transport is not SSH, or its address is one of this machine's. A name that
// nobody can look up is another machine's.
func (m *Machine) Is(h hosts.Host) bool {
	switch h.Transport {
	case hosts.Local, hosts.Command, hosts.Demo:
		return true
	}
	addr := h.Addr
	if addr == "" {
		addr = h.Name
		if s, ok := m.settings(h); ok {
			addr = s.HostName.V
		}
	}
	if addr == "" {
		return false
	}
	m.mu.Lock()
	m.forget()
	here, known := m.here[addr]
	silent := m.silent
	m.mu.Unlock()
	if known {
		return here
	}
	here, timeout := m.local(addr, silent)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = m.silent || timeout
	if len(m.here) < maxKept {
		m.here[addr] = here
	}
	return here
}

// forget drops what is too old. m.mu is held.
func (m *Machine) forget() {
	if now := time.Now(); m.here == nil || now.Sub(m.since) > keep {
		m.since, m.silent = now, false
		m.here, m.configs, m.answers = map[string]bool{}, map[string]*sshconfig.Config{}, map[string]answer{}
	}
}

// local reports whether an address or a name is this machine's.
func (m *Machine) local(addr string, silent bool) (here, timeout bool) {
	if ip, err := netip.ParseAddr(strings.Trim(addr, "[]")); err == nil {
		return ours(ip), false
	}
	name := strings.ToLower(strings.TrimSuffix(addr, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true, false
	}
	if own, err := os.Hostname(); err == nil {
		own = strings.ToLower(own)
		short, _, _ := strings.Cut(own, ".")
		if name == own || name == short {
			return true, false
		}
	}
	if silent {
		return false, false
	}
	lookup := m.Lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	ctx, stop := context.WithTimeout(context.Background(), lookupTime)
	defer stop()
	all, err := lookup(ctx, name)
	for _, a := range all {
		if ip, err := netip.ParseAddr(a); err == nil && ours(ip) {
			return true, false
		}
	}
	return false, err != nil && ctx.Err() != nil
}

// ours reports whether an address is one of this machine's.
func ours(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}

// settings are what ssh_config says about a host.
func (m *Machine) settings(h hosts.Host) (sshconfig.Settings, bool) {
	key := fmt.Sprintf("%q", []string{h.SSHConfig, h.Name, h.User, fmt.Sprint(h.Port), fmt.Sprint(h.SSHOptions)})
	m.mu.Lock()
	m.forget()
	a, known := m.answers[key]
	if known {
		m.mu.Unlock()
		return a.s, a.ok
	}
	c, known := m.configs[h.SSHConfig]
	if !known {
		var err error
		if h.SSHConfig == "" {
			c, err = sshconfig.Load()
		} else {
			// Whoever has named the file may not be one who starts programs here, and nothing has been judged yet.
			c, err = sshconfig.Loader{NoExec: true}.Open(expand(h.SSHConfig))
		}
		if err != nil {
			c = nil // whoever dials says why
		}
		m.configs[h.SSHConfig] = c
	}
	m.mu.Unlock()
	if c == nil {
		return sshconfig.Settings{}, false
	}
	o := sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions}
	s, err := c.Resolve(h.Name, o)
	if errors.Is(err, sshconfig.ErrNotRun) {
		o.Offline = true
		if s, err = c.Resolve(h.Name, o); err == nil {
			s.HostName.V = "localhost" // for all that can be known
		}
	}
	a = answer{s, err == nil}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.answers) < maxKept {
		m.answers[key] = a
	}
	return a.s, a.ok
}

// answer is what ssh_config says about a host.
type answer struct {
	s  sshconfig.Settings
	ok bool
}

// Keys are the absolute paths of the private keys, and of the SSH agent's socket, that a host is logged in to with, whether
// they are there or not.
func (m *Machine) Keys(h hosts.Host) []string {
	var out []string
	add := func(name string) {
		if name = expand(name); filepath.IsAbs(name) {
			out = append(out, filepath.Clean(name))
		}
	}
	for _, name := range h.Identity {
		add(name)
	}
	if h.Transport == hosts.SSH || h.Transport == "" {
		if s, ok := m.settings(h); ok {
			for _, v := range s.IdentityFiles {
				add(v.V)
			}
			add(s.IdentityAgent.V)
			add(s.AgentLent)
		}
	}
	return out
}

func expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return name
}

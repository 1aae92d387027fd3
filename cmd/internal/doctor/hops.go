package doctor

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// hop is what was seen of a jump host on the way to a host. A connection to it that another host has made shows nothing.
type hop struct {
	name, addr, user string
	key              string // "ssh-ed25519 SHA256:…"; "" until it is trusted
	login            string // with what it was logged in to; "" until it was
}

// sawKey notes the key of a jump host.
func (w *walker) sawKey(_ context.Context, h hosts.Host, k session.HostKey) {
	if k.Hop != "" && k.Err == nil {
		w.note(h, k.Hop, func(at *hop) { at.addr, at.key = k.Addr, k.Type+" "+k.Fingerprint })
	}
}

// sawLogin notes how a jump host was logged in to.
func (w *walker) sawLogin(_ context.Context, h hosts.Host, a session.AuthTry) {
	if a.Hop == "" || !a.Accepted {
		return
	}
	how := a.Method
	if a.Fingerprint != "" {
		how = a.Fingerprint
	}
	w.note(h, a.Hop, func(at *hop) { at.addr, at.user, at.login = a.Addr, a.User, how })
}

func (w *walker) note(h hosts.Host, name string, change func(*hop)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.hops[h.Name]
	for i := range all {
		if all[i].name == name {
			change(&all[i])
			return
		}
	}
	at := hop{name: name}
	change(&at)
	w.hops[h.Name] = append(all, at)
}

// passed are the jump hosts on the way to h that let us in, in order.
func (w *walker) passed(h hosts.Host) (all []Check) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.hops[h.Name] {
		if at.login != "" {
			all = append(all, ok("hop "+at.name, "%s: its host key %s is known; logged in as %s with %s", at.addr, at.key, at.user, at.login))
		}
	}
	return all
}

// stepsBefore are the steps that came before the one at which a connection ended. where names the jump host whose steps they
// are; "" is the host itself.
func stepsBefore(where, addr string, at int) (all []Check) {
	for _, step := range steps {
		if step.rank >= at {
			break
		}
		detail := step.passed
		if where != "" {
			detail += " (of the jump host " + where + ")"
		}
		all = append(all, ok(step.name, "%s: %s", addr, detail))
	}
	return all
}

// steps are those that can be told from each other where they work.
var steps = []struct {
	name   string
	rank   int
	passed string
}{
	{"resolve", 1, "the name has an address"}, {"tcp", 2, "a server listens there"}, {"greeting", 3, "it speaks SSH"},
	{"key exchange", 4, "algorithms and keys are agreed on"}, {"host key", 5, "the host key is known"},
}

// show is the command that shows what is used for a host.
func show(name string) string { return fmt.Sprintf("fairlead hosts show %s", printable.Word(name)) }

package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// maxAtOnce is how many hosts are looked at at a time.
const maxAtOnce = 16

// there looks at the way to hosts, and at them. What is found about one is printed together.
func (o *Options) there(ctx context.Context, p *printer) error {
	r := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	hs, err := r.Resolve(o.Selector, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	forks, _ := dialer.CapForks(min(maxAtOnce, len(hs)))
	w := &walker{o: o, dials: map[string]dial{}, hops: map[string][]hop{}}
	if w.pool, err = o.Pool(cmdutil.PoolOptions{Forks: forks, Trace: &session.Trace{DialDone: w.dialed, HostKey: w.sawKey, AuthTried: w.sawLogin}}); err != nil {
		return err
	}
	var printing sync.Mutex
	var wg sync.WaitGroup
	turn := make(chan struct{}, forks)
	for _, h := range hs {
		if o.ConnectTimeout > 0 {
			h.ConnectTimeout = o.ConnectTimeout
		}
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			var all []Check
			if len(hs) == 1 {
				all = o.effective(h)
			}
			all = append(all, w.walk(ctx, h)...)
			printing.Lock()
			defer printing.Unlock()
			for _, c := range all {
				c.Host = h.Name
				p.print(c)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// effective is every value that is used for a host, and from where.
func (o *Options) effective(h hosts.Host) (all []Check) {
	var lent hosts.Credential
	var from hostscmd.Origin
	if inv, err := o.Inventory(); err == nil {
		lent, _ = inv.Credential(h)
		if listed, err := inv.Lookup(h.Name); err == nil && listed.Source == h.Source {
			from = hostscmd.OriginOf(inv, listed, h)
		}
	}
	values, err := hostscmd.Effective(h, lent, from, o.Reading().Kept)
	if err != nil {
		return each(err, func(err error) Check { return fail("config", "mend the file", "%s", why(err)) })
	}
	for _, v := range values {
		c := ok("value", "%s %s (%s)", v.Field, v.Value, v.From)
		if v.Field == "refused" {
			c.Status, c.Next = Fail, "change that line, or name another file with ssh_config: in the inventory"
		}
		if v.Value != "" {
			all = append(all, c)
		}
	}
	return all
}

// dial is how one went.
type dial struct {
	peer session.Peer
	ms   float64
	err  error
}

type walker struct {
	o    *Options
	pool *session.Pool

	mu    sync.Mutex
	dials map[string]dial
	hops  map[string][]hop // of each host, in order
}

// walk connects to a host as a command would, runs what looks around there, and says how far it came.
func (w *walker) walk(ctx context.Context, h hosts.Host) []Check {
	s, err := w.pool.OpenOnce(h)
	if err != nil {
		return []Check{fail("connect", "", "%s", why(err))}
	}
	defer s.Close()
	res, _ := s.Run(ctx, session.Command{Script: Looks, Reason: Reason, Timeout: lookTime, Keep: 64 << 10})
	w.mu.Lock()
	d, dialed := w.dials[h.Name]
	w.mu.Unlock()
	ssh := h.Transport == "" || h.Transport == hosts.SSH || h.Transport == hosts.Demo
	var all []Check
	switch {
	case res.Status == session.StatusCanceled:
		return nil
	case dialed && d.err == nil:
		all = append(w.passed(h), connected(d, h, ssh)...)
	case !dialed && res.Status == session.StatusDenied:
		return []Check{fail("gate", "see fairlead policy explain", "looking around is denied: %s", res.Decision.Reason)}
	case !dialed && errors.Is(res.Err, session.ErrAudit):
		return []Check{fail("audit log", "mend that first: fairlead doctor", "%s", cmdutil.Why(res.Err))}
	default:
		return append(w.passed(h), unconnected(h, res.Err)...)
	}
	switch {
	case res.Status == session.StatusDenied:
		return append(all, fail("gate", "see fairlead policy explain", "looking around is denied: %s", res.Decision.Reason))
	case res.Status != session.StatusOK:
		return append(all, fail("shell", "see whether the account may run commands, and whether its login shell starts without asking anything", "%s: %s", res.Status, cmdutil.Why(res.Err)))
	}
	all = append(all, w.o.around(res)...)
	all = append(all, heldKernel(ctx, s)...)
	if ssh {
		all = append(all, w.sftp(ctx, h))
	}
	return all
}

// heldKernel says by what the host's kernel holds reads. Where that cannot be found out it says nothing.
func heldKernel(ctx context.Context, s *session.Session) []Check {
	ctx, cancel := context.WithTimeout(ctx, heldTime)
	defer cancel()
	s.Reset() // a shell at a time: the host may have room for no more
	by, err := s.HeldBy(ctx)
	switch {
	case errors.Is(err, session.ErrNotHeld):
		return []Check{ok("held kernel", "no: %s", why(err))}
	case err != nil:
		return nil
	}
	return []Check{ok("held kernel", "%s", by)}
}

func connected(d dial, h hosts.Host, ssh bool) []Check {
	if !ssh {
		return []Check{ok("connect", "%s, in %.0f ms", h.Transport, d.ms)}
	}
	route := ""
	for _, hop := range d.peer.Via {
		route += ", through " + hop
	}
	login := "as " + d.peer.User
	if d.peer.Key != "" {
		login += " with " + d.peer.Key
	}
	if d.peer.CertID != "" {
		login += fmt.Sprintf(", certificate %q (serial %d)", d.peer.CertID, d.peer.CertSerial)
	}
	if d.peer.HostKey == "" {
		return []Check{ok("connect", "%s, over the connection of a running ssh (ControlPath), which has checked the host key and logged in as %s", d.peer.Addr, d.peer.User)}
	}
	return []Check{
		ok("connect", "%s%s; connecting and logging in took %.0f ms", d.peer.Addr, route, d.ms), ok("host key", "%s is known", d.peer.HostKey), ok("login", "%s", login),
	}
}

// unconnected says which step failed, and that those before it did not.
func unconnected(h hosts.Host, err error) []Check {
	var conn *sshconn.Error
	if !errors.As(err, &conn) {
		if errors.Is(err, session.ErrAuth) { // the inventory's credentials say no
			return []Check{fail("login", "see fairlead hosts show "+printable.Word(h.Name), "%s", cmdutil.Why(err))}
		}
		return []Check{fail("connect", "see fairlead hosts show "+printable.Word(h.Name), "%s", cmdutil.Why(err))}
	}
	step, next, name := string(conn.Step), "", h.Name
	if conn.Hop != "" {
		name = conn.Hop
	}
	switch conn.Step {
	case sshconn.StepConfig:
		return []Check{fail("config", "mend that; "+show(h.Name)+" says what is used", "%s", cmdutil.Why(err))}
	case sshconn.StepResolve:
		next = "give " + name + " an addr in the inventory, or a HostName in ssh_config"
	case sshconn.StepReach:
		next = "compare address and port (" + show(name) + "), and see whether sshd runs there"
	case sshconn.StepGreet:
		next = "see what listens on that port, and if it is sshd, whether it is too busy"
	case sshconn.StepExchange:
		next = "compare the server's algorithms (sshd -T) with those that are safe, and the MTU on the way"
	case sshconn.StepHostKey:
		next = "compare the fingerprint with the host's own; if they are equal: fairlead hosts trust " + printable.Word(name)
		if changed := (*knownhosts.ChangedError)(nil); errors.As(err, &changed) {
			next = "do not go on before you know why the key changed; if it is right: fairlead hosts forget " + printable.Word(name) + ", then fairlead hosts trust " + printable.Word(name)
		}
	case sshconn.StepLogin:
		next = "see which user and keys are used (" + show(name) + "), and the account's authorized_keys"
	}
	return append(stepsBefore(conn.Hop, conn.Addr, rank[conn.Step]), fail(step, next, "%s", cmdutil.WhyAt(err)))
}

// rank orders the steps.
var rank = map[sshconn.Step]int{
	sshconn.StepResolve: 1, sshconn.StepReach: 2, sshconn.StepGreet: 3, sshconn.StepExchange: 4, sshconn.StepHostKey: 5, sshconn.StepLogin: 6,
}

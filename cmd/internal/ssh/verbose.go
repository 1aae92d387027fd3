package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// How much is said, as LogLevel has it.
const (
	nothing  = "quiet" // of the connection
	errorsOf = "error"
	usual    = "info"
	steps    = "verbose"
)

// levels are the values of LogLevel.
var levels = map[string]string{
	"quiet": nothing, "fatal": nothing, "error": errorsOf, "info": usual, "verbose": steps, "debug": steps, "debug1": steps, "debug2": steps, "debug3": steps,
}

// quiet reports whether warnings are left out.
func (c *call) quiet() bool { return c.level == nothing || c.level == errorsOf }

// verbose reports whether each step is told.
func (c *call) verbose() bool { return c.level == steps }

// step tells a step, with -v.
func (r *runner) step(format string, args ...any) {
	if r.c.verbose() {
		fmt.Fprintf(r.says, "fairlead: ssh: %s\n", cmdutil.OneLine(fmt.Sprintf(format, args...)))
	}
}

// shownBySteps are the settings that say where a connection leads.
var shownBySteps = []string{"addr", "port", "user", "via", "proxy", "identity"}

// steps has each step of connecting told. A connection that the keeper has shows none, so it is made anew from here.
func (r *runner) steps(h hosts.Host) error {
	if !r.c.verbose() {
		return nil
	}
	values, err := hostscmd.Effective(h, hosts.Credential{}, nil, r.f.NoPrograms())
	if err != nil {
		return err
	}
	for _, v := range values {
		if slices.Contains(shownBySteps, v.Field) && v.Value != "" {
			r.step("%s: %s %s (%s)", h.Name, v.Field, v.Value, v.From)
		}
	}
	mode, err := r.f.KeeperMode()
	switch {
	case err != nil:
		return err
	case mode == config.Require:
		r.step("%s: the keeper connects, or has a connection; to see the steps, run: fairlead doctor %s", h.Name, printable.Word(h.Name))
		return nil
	case mode != config.Off:
		r.step("%s: connecting from here, and not through the keeper, to show the steps", h.Name)
		r.f.KeeperFlag = config.Off
	}
	pool := r.f.Pool
	r.f.Pool = func(o cmdutil.PoolOptions) (*session.Pool, error) {
		o.Trace = r.trace()
		return pool(o)
	}
	return nil
}

// trace tells what is tried, and what is answered.
func (r *runner) trace() *session.Trace {
	at := func(h hosts.Host, hop, addr string) string {
		if hop != "" {
			return fmt.Sprintf("%s, for %s: %s", hop, h.Name, addr)
		}
		return h.Name + ": " + addr
	}
	return &session.Trace{
		DialStart: func(_ context.Context, h hosts.Host) { r.step("%s: connecting", h.Name) },
		HostKey: func(_ context.Context, h hosts.Host, k session.HostKey) {
			said := "trusted"
			if k.Err != nil {
				said = "not trusted"
			}
			r.step("%s shows the host key %s %s: %s", at(h, k.Hop, k.Addr), k.Type, k.Fingerprint, said)
		},
		AuthTried: func(_ context.Context, h hosts.Host, a session.AuthTry) {
			with, said := a.Method, "refused"
			if a.Fingerprint != "" {
				with += " " + a.Fingerprint
			}
			if a.From != "" {
				with += " (" + a.From + ")"
			}
			if a.Accepted {
				said = "accepted"
			}
			r.step("%s: login as %s with %s: %s", at(h, a.Hop, a.Addr), a.User, with, said)
		},
		DialDone: func(_ context.Context, h hosts.Host, p session.Peer, took time.Duration, err error) {
			if err == nil {
				r.step("%s: logged in as %s after %v", h.Name, p.User, took.Round(time.Millisecond))
			}
		},
		ConnClosed: func(_ context.Context, h hosts.Host, reason error) {
			if reason != nil && !errors.Is(reason, session.ErrClosed) {
				r.step("%s: the connection ended: %s", h.Name, cmdutil.Text(reason))
			}
		},
	}
}

// control is what to do instead of -O.
func control(command, host string) error {
	do := map[string]string{
		"check":   "to see whether %s answers, run: fairlead hosts ping %[1]s",
		"exit":    "its connections end by themselves; sessions are ended by: fairlead sessions close NAME",
		"stop":    "its connections end by themselves; sessions are ended by: fairlead sessions close NAME",
		"forward": "to forward ports, run: fairlead forward %s …",
		"cancel":  "a forward ends with the command that opened it",
		"proxy":   "programs of %s are run by: fairlead ssh %[1]s",
	}[command]
	if do == "" {
		return fmt.Errorf("-O: %q is not check, forward, cancel, exit, stop or proxy", command)
	}
	if strings.Contains(do, "%") {
		do = fmt.Sprintf(do, printable.Word(host))
	}
	return fmt.Errorf("-O %s: the keeper holds connections, and there is no master to control: %s", command, do)
}

package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// forwards listens, and passes connections on until the returned function is called, which ends them. Each of them is judged
// and recorded as one program: where they go is judged before anything listens, for -D when it is known. A port of -R is judged and
// recorded as a whole.
func (r *runner) forwards(ctx context.Context, h hosts.Host) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var listeners []net.Listener
	var ends []func()
	end = func() {
		cancel()
		for _, l := range listeners {
			l.Close()
		}
		for _, done := range ends {
			done()
		}
		wg.Wait()
	}
	var asking sync.Mutex // one question at a time
	for _, f := range r.c.forwards {
		if f.Option == "-R" {
			done, err := r.remote(ctx, h, f)
			if err != nil {
				end()
				return nil, err
			}
			ends = append(ends, done)
			continue
		}
		ask := pipe.Ask{Host: f.Host, Port: f.To, Caller: r.caller()}
		var judged *consent.Verdict
		if f.Host != "" {
			if judged, err = r.judge(ctx, h, ask.Script()); err != nil {
				end()
				return nil, err
			}
		}
		l, err := pipe.Listen(f)
		if err != nil {
			end()
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		listeners = append(listeners, l)
		if a, ok := l.Addr().(*net.TCPAddr); ok && f.Port == 0 {
			fmt.Fprintf(r.says, "fairlead: ssh: %s: port %d is allocated\n", f, a.Port)
		}
		wg.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return // closed
				}
				wg.Go(func() {
					defer conn.Close()
					defer context.AfterFunc(ctx, func() { conn.Close() })()
					err := func() (err error) {
						ask, judged := ask, judged
						if f.Host == "" {
							if ask.Host, ask.Port, err = pipe.Socks(conn); err != nil {
								return err
							}
							asking.Lock()
							judged, err = r.judge(ctx, h, ask.Script())
							asking.Unlock()
							if err != nil {
								return err
							}
						}
						return r.pipe(ctx, h, ask, judged, streams{conn, conn, io.Discard})
					}()
					var exit *cmdutil.ExitError
					if err != nil && ctx.Err() == nil && !errors.As(err, &exit) {
						fmt.Fprintf(r.says, "fairlead: ssh: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
					}
				})
			}
		})
	}
	return end, nil
}

// addForwards adds what the inventory and the configuration forward to what the command line does, for a call that only forwards.
func (r *runner) addForwards(h hosts.Host) error {
	if !r.c.clear {
		more, err := hostscmd.Forwards(h, r.f.NoPrograms(), r.c.gateway)
		if err != nil {
			return err
		}
		for _, f := range more {
			if !slices.Contains(r.c.forwards, f) { // as ssh, which opens no forward twice
				r.c.forwards = append(r.c.forwards, f)
			}
		}
	}
	if len(r.c.forwards) == 0 {
		return fmt.Errorf("-N: nothing is run, and nothing is forwarded: give -L, -R or -D, or set LocalForward for %s in ssh_config; the connection is kept anyhow", h.Name)
	}
	return nil
}

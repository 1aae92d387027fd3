package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// forward is one -L: connections to a port here go on from the host to another.
type forward struct {
	listen string // host:port
	host   string
	port   uint16
}

// parseForward reads [bind_address:]port:host:hostport.
func parseForward(text string) (f forward, err error) {
	var parts []string
	for rest := text; ; {
		part, after, more := "", "", false
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			if part, after, ok = strings.Cut(inner, "]"); !ok {
				return f, fmt.Errorf("%q: [ without ]", text)
			}
			if after, more = strings.CutPrefix(after, ":"); !more && after != "" {
				return f, fmt.Errorf("%q: only a colon may follow ]", text)
			}
		} else {
			part, after, more = strings.Cut(rest, ":")
		}
		parts, rest = append(parts, part), after
		if !more {
			break
		}
	}
	bind := "localhost"
	switch {
	case len(parts) == 4 && parts[0] == "*":
		bind, parts = "", parts[1:]
	case len(parts) == 4:
		bind, parts = parts[0], parts[1:]
	}
	if len(parts) != 3 {
		return f, fmt.Errorf("%q is not [address:]port:host:port", text)
	}
	if n, err := strconv.ParseUint(parts[0], 10, 16); err != nil || n == 0 {
		return f, fmt.Errorf("%q: the port to listen on must be between 1 and 65535", text)
	}
	f.listen = net.JoinHostPort(bind, parts[0])
	f.host, f.port, err = pipe.ParsePort(net.JoinHostPort(parts[1], parts[2]))
	return f, err
}

// forwards listens, and passes connections on until the returned function is called, which ends them. Each of them is judged
// and recorded as one program.
func (r *runner) forwards(ctx context.Context, h hosts.Host) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var listeners []net.Listener
	end = func() {
		cancel()
		for _, l := range listeners {
			l.Close()
		}
		wg.Wait()
	}
	for _, f := range r.c.forwards {
		ask := pipe.Ask{Host: f.host, Port: f.port, Caller: caller()}
		judged, err := r.judge(ctx, h, ask)
		if err != nil {
			end()
			return nil, err
		}
		l, err := net.Listen("tcp", f.listen)
		if err != nil {
			end()
			return nil, fmt.Errorf("-L: %w", err)
		}
		listeners = append(listeners, l)
		wg.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return // closed
				}
				wg.Go(func() {
					defer conn.Close()
					defer context.AfterFunc(ctx, func() { conn.Close() })()
					err := r.pipe(ctx, h, ask, judged, streams{conn, conn, io.Discard})
					var exit *cmdutil.ExitError
					if err != nil && ctx.Err() == nil && !errors.As(err, &exit) {
						fmt.Fprintf(r.f.IO.Err, "fairlead: ssh: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
					}
				})
			}
		})
	}
	return end, nil
}

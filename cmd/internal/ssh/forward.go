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
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// forward is one -L or -D: connections to a port here go on from the host to another port, or to what each asks for.
type forward struct {
	option string // "-L" or "-D"
	listen string // host:port
	host   string // "" for -D
	port   uint16
}

// fields cuts text at its colons, except for those between brackets.
func fields(text string) (parts []string, err error) {
	for rest := text; ; {
		part, after, more := "", "", false
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			if part, after, ok = strings.Cut(inner, "]"); !ok {
				return nil, fmt.Errorf("%q: [ without ]", text)
			}
			if after, more = strings.CutPrefix(after, ":"); !more && after != "" {
				return nil, fmt.Errorf("%q: only a colon may follow ]", text)
			}
		} else {
			part, after, more = strings.Cut(rest, ":")
		}
		parts, rest = append(parts, part), after
		if !more {
			return parts, nil
		}
	}
}

// listenAt is where a forward listens: parts are a port, or an address and a port.
func listenAt(text string, parts []string) (string, error) {
	bind := "localhost"
	if len(parts) == 2 {
		if bind, parts = parts[0], parts[1:]; bind == "*" {
			bind = ""
		}
	}
	if n, err := strconv.ParseUint(parts[0], 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q: the port to listen on must be between 1 and 65535", text)
	}
	return net.JoinHostPort(bind, parts[0]), nil
}

// parseForward reads [bind_address:]port:host:hostport.
func parseForward(text string) (f forward, err error) {
	parts, err := fields(text)
	if err != nil {
		return f, err
	}
	if len(parts) != 3 && len(parts) != 4 {
		return f, fmt.Errorf("%q is not [address:]port:host:port", text)
	}
	here, there := parts[:len(parts)-2], parts[len(parts)-2:]
	f.option = "-L"
	if f.listen, err = listenAt(text, here); err != nil {
		return f, err
	}
	f.host, f.port, err = pipe.ParsePort(net.JoinHostPort(there[0], there[1]))
	return f, err
}

// parseDynamic reads [bind_address:]port.
func parseDynamic(text string) (f forward, err error) {
	parts, err := fields(text)
	if err != nil {
		return f, err
	}
	if len(parts) > 2 {
		return f, fmt.Errorf("%q is not [address:]port", text)
	}
	f.option = "-D"
	f.listen, err = listenAt(text, parts)
	return f, err
}

// forwards listens, and passes connections on until the returned function is called, which ends them. Each of them is judged
// and recorded as one program: where they go is judged before anything listens, for -D when it is known.
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
	var asking sync.Mutex // one question at a time
	for _, f := range r.c.forwards {
		ask := pipe.Ask{Host: f.host, Port: f.port, Caller: caller()}
		var judged *consent.Verdict
		if f.host != "" {
			if judged, err = r.judge(ctx, h, ask); err != nil {
				end()
				return nil, err
			}
		}
		l, err := net.Listen("tcp", f.listen)
		if err != nil {
			end()
			return nil, fmt.Errorf("%s: %w", f.option, err)
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
					err := func() (err error) {
						ask, judged := ask, judged
						if f.host == "" {
							if ask.Host, ask.Port, err = socks(conn); err != nil {
								return err
							}
							asking.Lock()
							judged, err = r.judge(ctx, h, ask)
							asking.Unlock()
							if err != nil {
								return err
							}
						}
						return r.pipe(ctx, h, ask, judged, streams{conn, conn, io.Discard})
					}()
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

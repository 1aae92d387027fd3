package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// accept takes connections until the forward ends.
func (w *Forward) accept() {
	for w.ctx.Err() == nil {
		began := time.Now()
		err := w.acceptAll()
		if errors.Is(err, errMoved) {
			continue
		}
		if w.f.Option == "-R" && w.ctx.Err() == nil {
			err = w.again(time.Since(began) < firstAgain) // the connection to the host is gone
		}
		if err != nil && w.ctx.Err() == nil {
			w.end(err)
			return
		}
	}
}

// acceptAll takes connections as long as it is listened, and returns why it is no longer.
func (w *Forward) acceptAll() error {
	w.mu.Lock()
	remote := w.remote
	w.mu.Unlock()
	next := func() (io.ReadWriteCloser, error) { return w.local.Accept() }
	if remote != nil {
		next = func() (io.ReadWriteCloser, error) { return remote.Accept() }
		defer context.AfterFunc(w.ctx, func() { remote.Close() })()
	}
	for {
		conn, err := next()
		if err != nil {
			return err
		}
		w.all.Add(1)
		var via *lent // that it has come through
		if remote != nil {
			if via, err = w.come(); err != nil {
				conn.Close()
				w.failed.Add(1)
				if errors.Is(err, errMoved) {
					return err
				}
				w.fault(err)
				if w.listens() {
					continue
				}
				return err
			}
		}
		w.now.Add(1)
		w.wg.Go(func() {
			defer w.now.Add(-1)
			if via != nil {
				defer w.left(via)
			}
			defer conn.Close()
			defer context.AfterFunc(w.ctx, func() { conn.Close() })()
			if err := w.pass(conn); err != nil && w.ctx.Err() == nil {
				w.failed.Add(1)
				w.fault(err)
			}
		})
	}
}

// listens reports whether a connection to the host still listens there.
func (w *Forward) listens() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held != nil
}

// pass connects one connection with its target until both directions are done.
func (w *Forward) pass(near io.ReadWriteCloser) error {
	to := Ask{Host: w.f.Host, Port: w.f.To, Caller: w.caller}
	if to.Host == "" {
		var err error
		if to.Host, to.Port, err = Socks(near); err != nil {
			return err
		}
	}
	network, target := "tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	if hosts.IsSocket(to.Host) {
		network, target = "unix", to.Host
	}
	if w.f.Option == "-R" {
		ctx, cancel := context.WithTimeout(w.ctx, targetDial)
		defer cancel()
		far, err := new(net.Dialer).DialContext(ctx, network, target)
		if err != nil {
			return fmt.Errorf("%s: a connection from the host cannot go on to %s: %w", w.f, target, err)
		}
		w.join(near, far, &w.sent, &w.got)
		return nil
	}
	opening, cancel := context.WithTimeout(w.ctx, targetPipe)
	defer cancel()
	if w.f.Option == "-D" {
		return w.each(opening, near, to)
	}
	switch d, err := w.decide(opening, to.Script()); {
	case err != nil:
		return err
	case d.Verdict != policy.Allow:
		return fmt.Errorf("%s: denied by now: %s", w.f, d.Reason)
	}
	via, err := w.through(opening)
	if err != nil {
		return fmt.Errorf("%s: %s", w.f, cmdutil.WhyAt(err))
	}
	defer w.left(via)
	far, err := via.conn.Pipe(opening, sshconn.Piped{Host: to.Host, Port: to.Port})
	if err != nil {
		return fmt.Errorf("%s: %s: %w", w.f, target, err)
	}
	go func() { _, _ = io.Copy(io.Discard, far.Stderr()) }() // ends with the channel
	w.join(near, far, &w.sent, &w.got)
	return nil
}

// each is one connection of -D: judged and recorded by itself, on the connection that is held. ctx bounds what comes before bytes pass.
func (w *Forward) each(ctx context.Context, near io.ReadWriteCloser, to Ask) error {
	cfg := w.cfg
	cfg.Lend = func(ctx context.Context, _ hosts.Host, use func(session.Transport) error) (func(), error) {
		via, err := w.through(ctx)
		if err != nil {
			return nil, err
		}
		if err := use(via.conn); err != nil {
			w.left(via)
			return nil, err
		}
		return func() { w.left(via) }, nil
	}
	r, err := Begin(ctx, cfg, w.h, to, w.reason)
	if err != nil {
		return fmt.Errorf("%s: %s", w.f, cmdutil.WhyAt(err))
	}
	go func() { _, _ = io.Copy(io.Discard, r.Stderr()) }() // ends with the channel
	var sent, got atomic.Int64
	w.join(near, r.Pipe, &sent, &got)
	w.sent.Add(sent.Load())
	w.got.Add(got.Load())
	return r.End(session.Exit{}, nil, sent.Load(), got.Load())
}

// join passes bytes both ways until both directions are done, or the forward ends, and closes far.
func (w *Forward) join(near, far io.ReadWriteCloser, sent, got *atomic.Int64) {
	defer context.AfterFunc(w.ctx, func() { far.Close() })()
	defer far.Close()
	pass := func(to, from io.ReadWriteCloser, n *atomic.Int64) {
		if _, err := io.CopyBuffer(&counting{to, n}, readOnly{from}, make([]byte, chunk)); err != nil {
			to.Close() // a side that is broken is of no use to the other
			from.Close()
			return
		}
		if half, ok := to.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			to.Close()
		}
	}
	var back sync.WaitGroup
	back.Go(func() { pass(near, far, got) })
	pass(far, near, sent)
	back.Wait()
}

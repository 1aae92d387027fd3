package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// Serve runs a keeper at the socket of p until ctx ends, a caller asks it to end, or it had nothing to do for cfg.Idle. It
// calls ready, if not nil, once callers are answered. The error is ErrRunning where another keeper answers there, and nil
// after a clean end.
func Serve(ctx context.Context, cfg Config, p listen.Places, ready func()) (err error) {
	start, stop := context.WithTimeout(ctx, listen.StartTime)
	l, err := listen.Alone(start, p)
	stop()
	if err != nil {
		return err
	}
	defer l.Release()
	defer l.Close()
	cfg.Own = append(slices.Clip(cfg.Own), filepath.Dir(p.Socket), p.Log, p.Claim())
	k, err := New(cfg)
	if err != nil {
		return err
	}
	if err := l.Note(cfg.namedPaths()); err != nil {
		k.log.Printf("cannot note for other processes which files are this keeper's: %v", err)
	}
	k.noteStart(p)
	if n := sandbox.EndAbandoned(); n > 0 {
		k.log.Printf("ended %d processes of sandboxes that were starting when an earlier keeper was killed", n)
	}
	why := ""
	defer func() {
		err = errors.Join(err, k.Close())
		k.noted(audit.Event{Kind: audit.KeeperEnd, Subject: p.Socket, Change: why})
	}()
	servers := []*http.Server{k.server(k.handler(k.callers.Local, access.SocketNames))}
	listeners := []net.Listener{listen.Door(l)}
	var agents *listen.KeptSocket
	if cfg.AgentDoor.Socket != "" {
		if agents, err = cfg.AgentDoor.Listen(ctx); err != nil {
			return err
		}
		defer agents.Close()
		listeners = append(listeners, listen.Bounded(listen.Agents(agents)))
		servers = append(servers, k.server(k.handler(k.callers.FromAgent, access.SocketNames)))
	}
	if cfg.TCP.Addr != "" {
		t, err := cfg.TCP.Listen(ctx)
		if err != nil {
			return err
		}
		defer t.Close()
		listeners = append(listeners, t)
		servers = append(servers, k.server(k.handler(k.callers.Remote, access.Names(cfg.TCP.Named(t.Addr())))))
		k.log.Printf("listening on %s", t.Addr())
		if cfg.Listening != nil {
			cfg.Listening(t.Addr())
		}
	}
	var wg sync.WaitGroup
	failed := make(chan error, len(servers))
	for i, srv := range servers {
		wg.Go(func() { failed <- srv.Serve(listeners[i]) })
	}
	defer wg.Wait()
	if ready != nil {
		ready()
	}
	ctx, leave := context.WithCancel(ctx)
	wg.Go(func() {
		defer leave()
		k.idle(ctx, k.cfg.Idle)
	})
	unreachable := make(chan error, 1)
	wg.Go(func() {
		if err := k.keepReachable(ctx, l, agents); err != nil {
			unreachable <- err
		}
	})
	select {
	case <-ctx.Done():
	case <-k.asked:
	case err = <-unreachable:
		why = fmt.Sprintf("%v; sessions that the keeper ended: %d", err, k.realms.Sessions())
		err = fmt.Errorf("keeper: no caller can reach it any more, so it ends: %w", err)
	case err = <-failed:
		err = fmt.Errorf("keeper: cannot serve requests any more: %w", err)
	}
	leave()
	k.shutdown(servers)
	return err
}

// server returns what serves h, with bounds on all that a caller could draw out.
func (k *Keeper) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: k.cfg.headerTime, IdleTimeout: keepAliveTime, MaxHeaderBytes: 32 << 10, ErrorLog: k.log,
		BaseContext: func(net.Listener) context.Context { return k.base },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return access.WithProcess(listen.WithAccount(ctx, c), listen.PIDAt(c), k.trees.Inside)
		},
	}
}

// shutdown takes no more requests, ends the waiting of those in progress, and lets them answer.
func (k *Keeper) shutdown(servers []*http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), DefaultGrace)
	defer cancel()
	k.end()
	if s := k.web.close(); s != nil {
		servers = append(servers, s)
	}
	for _, srv := range servers {
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
	}
}

// softLimit is where the collector of garbage begins to work harder: what a keeper that is attacked holds at a time is less, and what
// it has let go of would be as much again.
const softLimit = 80 << 20

// LimitMemory makes the garbage of this process count, for a process that is a keeper and nothing else. GOMEMLIMIT overrides it.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}

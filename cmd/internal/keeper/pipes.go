package keeper

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
)

// servePipe runs a program with exact streams on the connection of the request: see package pipe.
func (k *Keeper) servePipe(w http.ResponseWriter, req *http.Request) {
	if !strings.EqualFold(req.Header.Get("Upgrade"), wire.UpgradePipe) {
		w.Header().Set("Upgrade", wire.UpgradePipe)
		k.refuse(w, "pipe", problem.New(http.StatusUpgradeRequired, "invalid", "this takes the header Upgrade: %s", wire.UpgradePipe))
		return
	}
	leave, err := k.stay()
	if err != nil {
		k.refuse(w, "ending", problem.Of(err))
		return
	}
	defer leave()
	conn, in, err := hijack(w)
	if err != nil {
		k.log.Printf("a connection for streams: %v", err)
		return
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(k.base)
	defer cancel()
	defer context.AfterFunc(req.Context(), cancel)() // the right to it may end
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", wire.UpgradePipe); err != nil {
		return
	}
	s, asked, err := pipe.Accept(in, conn)
	switch {
	case s == nil:
		return
	case err != nil:
		_ = s.Refuse(problem.New(http.StatusBadRequest, "invalid", "%v", err))
		return
	}
	c := access.CallerOf(req.Context())
	ctx = connect.WithAuthSock(context.WithValue(ctx, access.CallerKey{}, c), c.AuthSock)
	if who, ok := req.Context().Value(askerKey{}).(addressee); ok {
		who.request, who.served = ctx, new(atomic.Bool) // that of the request does not end with a connection that has been taken over
		ctx = context.WithValue(ctx, askerKey{}, who)
	}
	stop := s.Watch(conn, cancel)
	if asked.Forward != nil {
		k.holdForward(ctx, c, s, asked, stop)
		return
	}
	if asked.Connect {
		err := k.connect(ctx, c, asked)
		if stop(); err != nil {
			_ = s.Refuse(problem.Of(err))
			return
		}
		_ = s.Connected()
		return
	}
	running, done, err := k.beginPipe(ctx, c, asked)
	stop()
	if err != nil {
		_ = s.Refuse(problem.Of(err))
		return
	}
	defer done()
	s.Serve(running)
}

// connect logs in to a host.
func (k *Keeper) connect(ctx context.Context, c *access.Caller, asked *pipe.Request) error {
	if _, err := k.realms.Admit(c); err != nil {
		return err
	}
	r, leave, err := k.realms.Of(c)
	if err != nil {
		return err
	}
	defer leave()
	h, err := r.HostAs(asked.Target, asked.Sum, 0)
	if err != nil {
		return err
	}
	return pipe.Connect(ctx, pipe.Config{Principal: c.Principal, Lend: r.LendOrAlone}, h)
}

// beginPipe starts what a request asks for.
func (k *Keeper) beginPipe(ctx context.Context, c *access.Caller, asked *pipe.Request) (_ *pipe.Running, done func(), err error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, nil, err
	}
	if asked.Ask.Interactive() {
		if err := engine.Limits(c.Principal).Shell(); err != nil {
			return nil, nil, err
		}
	}
	r, leave, err := k.realms.Of(c)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	h, err := r.HostAs(asked.Target, asked.Sum, 0)
	if err != nil {
		return nil, nil, err
	}
	yes, err := k.realms.Consent(c, h.Name, asked.Ask.Script(), &wire.Run{Reason: asked.Reason, Confirm: asked.Confirm, BreakGlass: asked.BreakGlass})
	if err != nil {
		return nil, nil, err
	}
	yes.At = asked.Answered
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, livepolicy.ConsentKey{}, yes), route.BeforeSending)
	defer cancel()
	running, err := pipe.Begin(ctx, pipe.Config{Sink: k.sink, Principal: c.Principal, Decide: r.Judge.DecideCommand, Lend: r.LendOrAlone}, h, asked.Ask, asked.Reason)
	return running, leave, err
}

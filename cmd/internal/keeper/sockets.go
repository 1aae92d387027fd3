package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// keepReachable looks for the keeper's sockets until ctx ends, and makes again what was removed. The error says why callers on
// its own socket cannot reach it any more: another keeper has the socket's name, or the socket cannot be made.
func (k *Keeper) keepReachable(ctx context.Context, own *listen.Socket, door *listen.KeptSocket) error {
	tick := time.NewTicker(k.cfg.lookEvery)
	defer tick.Stop()
	tries := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if door != nil && door.Lost() {
			k.remake(ctx, door) // the next tick tries again
		}
		if !own.Lost() {
			tries = 0
			continue
		}
		err := k.remake(ctx, own.KeptSocket)
		tries++
		if err != nil && ctx.Err() == nil && (errors.Is(err, listen.ErrRunning) || tries >= listen.AgainTries) {
			return fmt.Errorf("%s was removed: %w", own.Path, err)
		}
	}
}

// remake makes a socket again, and writes that to the audit log.
func (k *Keeper) remake(ctx context.Context, s *listen.KeptSocket) error {
	ctx, stop := context.WithTimeout(ctx, listen.AgainTime)
	defer stop()
	if err := s.Again(ctx); err != nil {
		k.log.Printf("%s was removed, and cannot be created again: %v", s.Path, err)
		return err
	}
	k.log.Printf("%s was removed, and is created again", s.Path)
	k.noted(audit.Event{Kind: audit.KeeperSocket, Subject: s.Path, Change: "the socket was removed; the keeper created it again"})
	return nil
}

// listenForAnswers opens the socket at which "fairlead approvals" answers, and opens it again where it is removed. Without it
// the API is left.
func (k *Keeper) listenForAnswers() {
	if k.cfg.ApprovalsDir == "" {
		return
	}
	srv, err := approval.ListenFor(k.desk, k.cfg.ApprovalsDir, k.trees)
	if err != nil {
		k.log.Printf("approvals can be answered over the API alone: %v", err)
		return
	}
	k.leaving.Go(func() {
		for srv != nil {
			k.serveAnswers(srv)
			srv = k.answersAgain()
		}
	})
}

// serveAnswers returns when the keeper ends, or when the socket's file is gone.
func (k *Keeper) serveAnswers(srv *approval.Server) {
	ctx, stop := context.WithCancel(k.base)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	is, err := os.Lstat(srv.Addr())
	wg.Go(func() {
		tick := time.NewTicker(k.cfg.lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, nerr := os.Lstat(srv.Addr()); err != nil || nerr != nil || !os.SameFile(is, now) {
				stop()
				return
			}
		}
	})
	if err := srv.Serve(ctx); err != nil {
		k.log.Printf("approvals can be answered over the API alone: %v", err)
	}
}

// answersAgain opens the socket again, once it can be; nil when the keeper ends.
func (k *Keeper) answersAgain() *approval.Server {
	for said := false; ; said = true {
		if k.base.Err() != nil {
			return nil
		}
		srv, err := approval.ListenFor(k.desk, k.cfg.ApprovalsDir, k.trees)
		if err == nil {
			k.noted(audit.Event{Kind: audit.KeeperSocket, Subject: srv.Addr(), Change: "the socket was removed; the keeper created it again"})
			return srv
		}
		if !said {
			k.log.Printf("approvals can be answered over the API alone: %v", err)
		}
		select {
		case <-time.After(k.cfg.lookEvery):
		case <-k.base.Done():
		}
	}
}

package keeper

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

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

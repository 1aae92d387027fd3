package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
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

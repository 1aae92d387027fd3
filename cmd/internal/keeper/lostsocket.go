package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
)

// keepReachable looks for the keeper's sockets until ctx ends, and makes again what was removed. The error says why callers on
// its own socket cannot reach it any more: another keeper has the socket's name, or the socket cannot be made.
func (k *Keeper) keepReachable(ctx context.Context, own *ownSocket, door *keptSocket) error {
	tick := time.NewTicker(k.cfg.lookEvery)
	defer tick.Stop()
	tries := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if door != nil && door.lost() {
			k.remake(ctx, door) // the next tick tries again
		}
		if !own.lost() {
			tries = 0
			continue
		}
		err := k.remake(ctx, own.keptSocket)
		tries++
		if err != nil && ctx.Err() == nil && (errors.Is(err, ErrRunning) || tries >= againTries) {
			return fmt.Errorf("%s was removed: %w", own.path, err)
		}
	}
}

// remake makes a socket again, and writes that to the audit log.
func (k *Keeper) remake(ctx context.Context, s *keptSocket) error {
	ctx, stop := context.WithTimeout(ctx, againTime)
	defer stop()
	if err := s.again(ctx); err != nil {
		k.log.Printf("%s was removed, and cannot be created again: %v", s.path, err)
		return err
	}
	k.log.Printf("%s was removed, and is created again", s.path)
	k.noted(audit.Event{Kind: audit.KeeperSocket, Subject: s.path, Change: "the socket was removed; the keeper created it again"})
	return nil
}

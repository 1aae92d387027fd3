package keeper

import (
	"context"
	"time"
)

// forgetEvery is how often what is older than Config.Keep is deleted.
const forgetEvery = time.Hour

// forget deletes what the store need not keep any more, at the start and then every hour, until ctx ends.
func (t *terminal) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		before := t.k.now().Add(-t.k.cfg.Keep)
		_, err := t.store.PurgeBefore(ctx, before, nil)
		if err == nil {
			_, _, err = t.store.Prune(ctx, before)
		}
		if err != nil && ctx.Err() == nil {
			t.k.log.Printf("old commands are not deleted from the store: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package sandboxed

import (
	"context"
	"time"
)

// forgetEvery is how often what is older than Config.Keep is deleted.
const forgetEvery = time.Hour

// forget deletes what the store need not keep any more, at the start and then every hour, until ctx ends.
func (r *Runner) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		before := r.cfg.Now().Add(-r.cfg.Keep)
		_, err := r.cfg.Store.PurgeBefore(ctx, before, nil)
		if err == nil {
			_, _, err = r.cfg.Store.Prune(ctx, before)
		}
		if err != nil && ctx.Err() == nil {
			r.cfg.Log.Printf("old commands are not deleted from the store: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

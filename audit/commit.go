package audit

import "time"

// commit is the committer: it syncs what nobody waits for, and ends when there is nothing left. Started by append under
// mu, one at a time; stopped and awaited by Close.
func (f *File) commit() {
	tick := time.NewTicker(commitEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-f.stop:
			return // Close syncs
		}
		ticket := f.ticket.Load()
		err := f.sync(ticket) // kept in broken: the next record reports it

		f.mu.Lock()
		if err != nil || f.ticket.Load() == ticket {
			f.committing = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
	}
}

// sync returns when everything up to ticket is on disk. Callers queue at syncMu; the first one's fsync covers all that
// was written before it began, so that of any number of waiters at most two sync.
func (f *File) sync(ticket uint64) error {
	f.syncMu.Lock()
	defer f.syncMu.Unlock()
	if f.broken != nil {
		return f.broken
	}
	if f.synced >= ticket {
		return nil
	}
	covers := f.ticket.Load()
	f.syncs++
	if err := f.data.Sync(); err != nil {
		// After a failed fsync the kernel may have dropped the pages: trying again could succeed and prove nothing.
		f.broken = unavailable("sync", f.data.Name(), err, doDisk)
		return f.broken
	}
	f.synced = covers
	return nil
}

func (f *File) failed() error {
	if !f.syncMu.TryLock() {
		return nil // an fsync is under way; its outcome counts for the next
	}
	defer f.syncMu.Unlock()
	return f.broken
}

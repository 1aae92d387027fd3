package audit

import "time"

// leaseHolds is how long a writer keeps the lock, and lets head stay behind, for the records that may follow.
const leaseHolds = 5 * time.Millisecond

// take makes sure that the lock is held, and that this File knows the end of the chain. mu is held.
func (f *File) take(durable bool) error {
	if f.leased {
		return f.catchUp(durable)
	}
	if err := f.lock(); err != nil {
		return err
	}
	if err := f.catchUp(durable); err != nil {
		unlock(f.headFile)
		return err
	}
	f.leased = true
	if f.lease == nil {
		f.lease = time.AfterFunc(leaseHolds, f.endLease)
	} else {
		f.lease.Reset(leaseHolds)
	}
	return nil
}

// endLease runs when the lease is over. Close makes it one that finds nothing to do.
func (f *File) endLease() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release()
}

// release moves head and lets others write. What goes wrong is found again, and told, by the next append. mu is held.
func (f *File) release() {
	if !f.leased {
		return
	}
	if f.behind {
		_ = f.moveHead(f.end, false)
	}
	unlock(f.headFile)
	f.leased = false
}

package audit

import "time"

const (
	// lateness is how long a result may wait for company.
	lateness = 5 * time.Millisecond
	// maxLate is how many results may wait. More of them are a sign that nothing can be written.
	maxLate = 256
)

// postpone keeps results until the next append that waits for the disk, or for lateness, so that a command costs one
// write and not two. What goes wrong then is told to whoever records next.
func (f *File) postpone(events []Event) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return unavailable("write", f.path, ErrClosed, "")
	}
	for _, e := range events {
		if e.Time.IsZero() {
			e.Time = f.cfg.Now()
		}
		f.late = append(f.late, e)
	}
	full := len(f.late) >= maxLate
	if !full && !f.delivering {
		f.delivering = true
		f.wg.Go(f.deliverSoon)
	}
	f.mu.Unlock()
	if full {
		return f.deliver()
	}
	return nil
}

// deliverSoon is a goroutine of its own; Close stops and awaits it.
func (f *File) deliverSoon() {
	t := time.NewTimer(lateness)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.stop:
		return
	}
	f.mu.Lock()
	f.delivering = false
	f.mu.Unlock()
	_ = f.deliver() // what failed stays in late, and the next record reports it
}

// deliver writes what was postponed.
func (f *File) deliver() error {
	f.mu.Lock()
	waiting := len(f.late) > 0
	f.mu.Unlock()
	if !waiting {
		return nil
	}
	_, err := f.append(nil, false)
	return err
}

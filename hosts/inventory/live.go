package inventory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// settle is how long after the first sign of a change the file is read: writers write in several steps.
const settle = 50 * time.Millisecond

// WatchOptions says how a file is followed.
type WatchOptions struct {
	Options

	// OnReload is called after each reload that the file's change caused, with its error or nil, from the goroutine that
	// watches. It may call every method but Close. nil means nobody wants to know.
	OnReload func(error)

	watcher func() (*fsnotify.Watcher, error) // instead of the system's, for tests
	look    time.Duration                     // instead of lookEvery
	again   time.Duration                     // instead of when programs are to be asked again
}

// lookEvery is how often a file is read where the system watches no more: Linux gives one account 128 watchers
// (fs.inotify.max_user_instances, inotify(7)), and other programs take them too.
const lookEvery = 2 * time.Second

// Live is an inventory that follows its file and its sources. All methods are safe for concurrent use.
//
// One goroutine watches the file; Watch starts it, Close stops it and waits for it.
type Live struct {
	path string // absolute
	opts WatchOptions

	current atomic.Pointer[loaded]

	reload sync.Mutex // one at a time, so that an older file never replaces a newer one

	watcher *fsnotify.Watcher // nil where the file is looked at from time to time instead
	ctx     context.Context   // ends programs that run when the Live is closed
	stop    context.CancelFunc
	blind   bool // sources lie where the system watches no more: they are looked at from time to time; of the goroutine's
	closing sync.Once
	done    sync.WaitGroup
}

// loaded is one state of the file.
type loaded struct {
	inv      *hosts.Inventory
	warnings []Warning
	sum      [sha256.Size]byte // of the bytes tried last, good or not
	state    []foreign.File    // what its sources depend on
	again    time.Duration     // when their programs are to be asked again; 0 means never
}

// Watch loads the inventory at path and then follows it: when the file is written, replaced or comes back, it is read
// again, and so it is when a file of its sources changes, and from time to time where sources are programs. Where the system
// watches no more files for this account, the file is read every two seconds instead. Watch fails
// if the first load does. The caller closes the Live.
func Watch(path string, o WatchOptions) (*Live, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	l := &Live{path: abs, opts: o}
	l.ctx, l.stop = context.WithCancel(context.Background())
	newWatcher := fsnotify.NewWatcher
	if o.watcher != nil {
		newWatcher = o.watcher
	}
	switch l.watcher, err = newWatcher(); {
	case spent(err):
		l.watcher = nil
	case err != nil:
		l.stop()
		return nil, fmt.Errorf("inventory: cannot watch files: %w", err)
	default:
		switch err := l.follow(); {
		case spent(err):
			err = l.watcher.Close()
			l.watcher = nil
			if err != nil {
				l.stop()
				return nil, fmt.Errorf("inventory: cannot watch the file: %w", err)
			}
		case err != nil:
			err = fmt.Errorf("inventory: cannot watch the file: %w", err)
			if why := l.Reload(); why != nil { // it says which file, and what is wrong with it
				err = why
			}
			l.stop()
			return nil, errors.Join(err, l.watcher.Close())
		}
	}
	// Only after the watch is set, so that no change falls between; which sources there are is known afterwards.
	if err = l.Reload(); err == nil {
		l.followSources()
		if l.moved() {
			err = l.Reload()
		}
	}
	if err != nil {
		l.stop()
		return nil, errors.Join(err, l.unwatch())
	}
	l.done.Go(l.watch)
	return l, nil
}

// spent reports that the system has no watcher left for this account, or none on this kind of file.
func spent(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOSPC)
}

func (l *Live) unwatch() error {
	if l.watcher == nil {
		return nil
	}
	return l.watcher.Close()
}

// Current returns the inventory as it was last read without error. It never changes; a later call may return another.
func (l *Live) Current() *hosts.Inventory { return l.current.Load().inv }

// Warnings returns what [Load] warned about Current.
func (l *Live) Warnings() []Warning { return l.current.Load().warnings }

// Reload reads the file now. On an error, which is that of [Load], the inventory stays as it was.
func (l *Live) Reload() error {
	_, err := l.reloadIf(func([]byte) bool { return true })
	return err
}

// reloadIf reads the file, and loads it if wanted says so of its bytes' hash.
func (l *Live) reloadIf(wanted func(sum []byte) bool) (tried bool, err error) {
	l.reload.Lock()
	defer l.reload.Unlock()
	data, err := contents(l.path)
	if err != nil {
		return true, err
	}
	sum := sha256.Sum256(data)
	if !wanted(sum[:]) {
		return false, nil
	}
	var got Loaded
	if l.opts.direct(l.path) != nil {
		got, err = Read(l.ctx, l.path, l.opts.Options)
	} else {
		got, err = readOwn(l.ctx, data, l.path, l.opts.Options)
	}
	next := loaded{got.Inventory, got.Warnings, sum, got.state, got.again}
	if err != nil {
		old := l.current.Load()
		if old == nil {
			return true, err
		}
		next.inv, next.warnings, next.again = old.inv, old.warnings, max(old.again, got.again)
	}
	l.current.Store(&next)
	return true, err
}

// contents returns what is in a file. Of a directory, which is an inventory of another program's, it returns nothing: it is
// among what its source depends on.
func contents(path string) ([]byte, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, nil
	}
	return readFile(path)
}

// moved reports whether a file of the sources has changed since it was read.
func (l *Live) moved() bool {
	return slices.ContainsFunc(l.current.Load().state, func(f foreign.File) bool { return foreign.Stamp(f.Path) != f.Stamp })
}

// Close stops following the file and returns when nothing runs any more. Current stays readable. Close may be called
// again.
func (l *Live) Close() error {
	var err error
	l.closing.Do(func() {
		l.stop()
		err = l.unwatch()
	})
	l.done.Wait()
	return err
}

// follow watches the directories of the file and of what it links to: editors and configuration managers replace files,
// and a watch on the file itself would be lost with it.
func (l *Live) follow() error {
	if l.watcher == nil {
		return nil
	}
	dirs := []string{filepath.Dir(l.path)}
	if real, err := filepath.EvalSymlinks(l.path); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	var errs []error
	for _, d := range dirs {
		errs = append(errs, l.watcher.Add(d)) // again is no error
	}
	return errors.Join(errs...)
}

// followSources watches the directories of what the sources depend on, and those among it.
func (l *Live) followSources() {
	if l.watcher == nil {
		return
	}
	done := map[string]bool{}
	for _, f := range l.current.Load().state {
		dirs := []string{filepath.Dir(f.Path)}
		if st, err := os.Stat(f.Path); err == nil && st.IsDir() {
			dirs = append(dirs, f.Path)
		}
		if real, err := filepath.EvalSymlinks(f.Path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
		for _, d := range dirs {
			if !done[d] {
				done[d] = true
				if err := l.watcher.Add(d); err != nil && !errors.Is(err, os.ErrNotExist) {
					l.blind = true
				}
			}
		}
	}
}

// watch waits for changes. Whether it was this file that changed is decided by its bytes, not by the names in events,
// which links and renames make unreliable; and not before settle has passed, however many events there are.
func (l *Live) watch() {
	var (
		due, look, again <-chan time.Time
		events           chan fsnotify.Event
		lost             chan error
	)
	if l.watcher != nil {
		events, lost = l.watcher.Events, l.watcher.Errors
	}
	every := time.NewTicker(cmp.Or(l.opts.look, lookEvery))
	defer every.Stop()
	for {
		look = nil
		if l.watcher == nil || l.blind {
			look = every.C
		}
		if d := cmp.Or(l.opts.again, l.current.Load().again); again == nil && l.current.Load().again > 0 {
			again = time.After(d)
		}
		select {
		case <-l.ctx.Done():
			return
		case <-look:
			l.changed()
		case _, ok := <-events:
			if !ok {
				return
			}
			if due == nil {
				due = time.After(settle)
			}
		case _, ok := <-lost: // events were lost: look
			if !ok {
				return
			}
			if due == nil {
				due = time.After(settle)
			}
		case <-due:
			due = nil
			if l.changed() {
				due = time.After(settle)
			}
		case <-again:
			again = nil
			l.tell(l.Reload())
		}
	}
}

// changed reads what has changed, and reports whether more may have meanwhile.
func (l *Live) changed() (more bool) {
	if err := l.follow(); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.tell(fmt.Errorf("inventory: cannot watch the file: %w", err))
	}
	last, moved := l.current.Load().sum, l.moved()
	tried, err := l.reloadIf(func(sum []byte) bool { return moved || !bytes.Equal(sum, last[:]) })
	if errors.Is(err, os.ErrNotExist) {
		return false // between the two steps of a replacement, or gone: either way the inventory stays
	}
	if tried {
		l.tell(err)
		l.followSources()
		return l.moved()
	}
	return false
}

func (l *Live) tell(err error) {
	if l.opts.OnReload != nil {
		l.opts.OnReload(err)
	}
}

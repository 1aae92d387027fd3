package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// SyncMode says which records wait for the disk.
type SyncMode int

const (
	// SyncRequests waits for every event that may precede a change on a host; the others are on disk within 100 ms.
	SyncRequests SyncMode = iota
	// SyncAlways waits for every event.
	SyncAlways
)

const (
	// DefaultMaxSize is the size at which a file is full.
	DefaultMaxSize int64 = 64 << 20
	// DefaultMaxAge is the age at which a file is full.
	DefaultMaxAge = 31 * 24 * time.Hour
	// DefaultLockWait is how long a writer waits for the others.
	DefaultLockWait = 10 * time.Second

	// commitEvery leaves half of the promised 100 ms to the disk.
	commitEvery = 50 * time.Millisecond
)

// Config tunes a File. The zero value is ready for use.
type Config struct {
	Sync     SyncMode
	MaxSize  int64            // bytes after which the next file begins; zero means DefaultMaxSize, negative never
	MaxAge   time.Duration    // of a file's first record, after which the next file begins; zero means DefaultMaxAge, negative never
	LockWait time.Duration    // zero means DefaultLockWait, negative means as long as it takes
	Now      func() time.Time // stamps events that have no time; nil means time.Now
}

// File is a Sink that appends to the chain in a directory. Any number of Files, in any number of processes, may share a
// directory. All methods may be called concurrently. The format is described at [Version].
//
// # Durability
//
// [File.Record] returns after fsync for every event that may precede a change on a host. Events marked ReadOnly, and
// events written after the fact (results, session.close), are in the operating system's hands when Record returns (they survive a
// killed process) and on disk within 100 ms. Only results that are marked ReadOnly may wait for 5 ms, or for the next
// record, before they are written: a process that is killed then leaves the request of a command that changed nothing
// without its result. Records made at the same time share one fsync. [SyncAlways] waits for all.
type File struct {
	dir string
	cfg Config

	stop chan struct{} // closed by Close, ends the committer
	wg   sync.WaitGroup

	ticket atomic.Uint64 // appends done by this File; written under mu

	// mu guards one append and the fields below. It is held while writing: records have one order. The lock file is
	// taken under mu, and syncMu under either.
	mu         sync.Mutex
	keys       *keys
	headFile   *os.File
	end        head     // where the chain ended when this File last looked
	path       string   // of data
	name       string   // of data, in dir
	id         identity // of data
	headID     identity
	born       time.Time // when the first record of data was made; zero where that was not looked up yet
	placed     time.Time // when the names last led to these files
	stale      bool      // an append went wrong halfway: read head again
	refused    bool      // the last write failed
	roomy      time.Time // when Check last found room on the disk
	committing bool      // the committer runs
	late       []Event   // results that go out with the next append, or soon
	delivering bool      // somebody will write late
	leased     bool      // the lock is held, until lease ends
	lease      *time.Timer
	behind     bool // head is
	closed     bool
	buf        []byte
	headBuf    []byte
	at         func(step string) // told where a rotation or a purge is, by tests that kill it there

	// syncMu is the queue for fsync: whoever gets it finds what is synced already, or syncs for all who wait. data
	// changes only under both mutexes.
	syncMu sync.Mutex
	data   *os.File
	synced uint64 // ticket up to which everything is on disk
	syncs  int
	broken error // the first failed fsync: what the disk holds since is unknown
}

// Open opens the chain in dir, and makes both where there is none. A torn last line, left by a process that died while
// writing, is sealed; a chain that ends before its head, or differs from it, is refused (ErrDamaged). The whole chain is
// checked by Verify only. The caller closes the File.
func Open(dir string, cfg Config) (*File, error) {
	if cfg.MaxSize == 0 {
		cfg.MaxSize = DefaultMaxSize
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = DefaultMaxAge
	}
	if cfg.LockWait == 0 {
		cfg.LockWait = DefaultLockWait
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, unavailable("open", dir, err, "")
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	hf, err := openHead(dir)
	if err != nil {
		return nil, err
	}
	f := &File{dir: dir, cfg: cfg, headFile: hf, stop: make(chan struct{}), at: func(string) {}, headBuf: make([]byte, 0, headLen)}
	if err := f.begin(); err != nil {
		return nil, errors.Join(err, f.closeFiles())
	}
	return f, nil
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unavailable("create", dir, err, doAccess)
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return unavailable("open", dir, err, doAccess)
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return unavailable("use", dir, errors.New("other accounts may look into it"), doAccess)
	}
	return nil
}

// openHead opens dir's head, or makes an empty one where no record exists yet.
func openHead(dir string) (*os.File, error) {
	path := filepath.Join(dir, headName)
	hf, err := openRegular(path, os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := mustBeNew(dir); err != nil {
			return nil, err
		}
		hf, err = openRegular(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, unavailable("open", path, err, doAccess)
	}
	return hf, nil
}

// mustBeNew refuses to start a chain over the records of another.
func mustBeNew(dir string) error {
	files, err := dataFiles(dir)
	if err != nil {
		return unavailable("read", dir, err, doAccess)
	}
	for _, n := range files {
		fi, err := os.Stat(filepath.Join(dir, dataName(n)))
		if err == nil && fi.Size() > 0 {
			return damaged(filepath.Join(dir, headName), "it is missing or empty, yet there are entries beside it")
		}
	}
	return nil
}

// begin reads the chain's end, or makes a chain.
func (f *File) begin() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.lock(); err != nil {
		return err
	}
	defer unlock(f.headFile)
	fi, err := f.headFile.Stat()
	if err != nil {
		return unavailable("read", f.headFile.Name(), err, doAccess)
	}
	if f.headID, err = identify(f.headFile); err != nil {
		return unavailable("read", f.headFile.Name(), err, doAccess)
	}
	if fi.Size() == 0 {
		if err := f.create(); err != nil {
			return err
		}
	}
	if f.keys == nil {
		if f.keys, err = loadKey(f.dir); errors.Is(err, fs.ErrNotExist) {
			return damaged(filepath.Join(f.dir, keyName), "the chain's key is missing")
		} else if err != nil {
			return err
		}
	}
	return f.resume()
}

// create makes the files of a new chain. Head comes last: while it is empty there is no chain yet.
func (f *File) create() error {
	err := mustBeNew(f.dir)
	if err != nil {
		return err
	}
	if f.keys, err = loadKey(f.dir); err != nil {
		if err := createKey(f.dir); err != nil {
			return err
		}
		if f.keys, err = loadKey(f.dir); err != nil {
			return err
		}
	}
	if err := syncDir(filepath.Dir(f.dir)); err != nil {
		return unavailable("sync", filepath.Dir(f.dir), err, doDisk)
	}
	return f.startFile(1)
}

// use makes the file of h the one that is appended to.
func (f *File) use(h head, create bool) error {
	name := dataName(h.file)
	path := filepath.Join(f.dir, name)
	flags := os.O_RDWR | os.O_APPEND
	if create {
		flags |= os.O_CREATE
	}
	data, err := openRegular(path, flags, 0o600)
	if err != nil {
		return unavailable("open", path, err, doAccess)
	}
	id, err := identify(data)
	if err != nil {
		return unavailable("open", path, errors.Join(err, data.Close()), doAccess)
	}
	f.syncMu.Lock()
	old := f.data
	f.data = data
	f.syncMu.Unlock()
	f.path, f.name, f.id, f.born = path, name, id, time.Time{}
	if old != nil {
		_ = old.Close() // synced by whoever ended it, and nothing is buffered
	}
	return nil
}

// lock takes the lock that all writers of the directory share.
func (f *File) lock() error {
	return waitLock(f.headFile, true, f.cfg.LockWait)
}

func waitLock(file *os.File, exclusive bool, patience time.Duration) error {
	var deadline time.Time
	pause := 20 * time.Microsecond
	for {
		ok, err := tryLock(file, exclusive)
		if err != nil {
			return unavailable("lock", file.Name(), err, doAccess)
		}
		if ok {
			return nil
		}
		switch now := time.Now(); {
		case deadline.IsZero():
			deadline = now.Add(patience)
		case patience > 0 && now.After(deadline):
			return unavailable("lock", file.Name(), errors.New("another process holds it"), doWait)
		}
		time.Sleep(pause)
		pause = min(2*pause, leaseHolds/10)
	}
}

// Record appends e to the chain and returns when it is as durable as its kind asks for; see the package comment. ctx is
// not consulted. Every error is ErrUnavailable: e may be missing from the record.
func (f *File) Record(_ context.Context, e Event) error {
	return f.record([]Event{e})
}

// RecordAll appends events as one group: next to each other, with one write and one fsync.
func (f *File) RecordAll(_ context.Context, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	return f.record(events)
}

func (f *File) record(events []Event) error {
	durable, results := f.cfg.Sync == SyncAlways, f.cfg.Sync != SyncAlways
	for i := range events {
		after := events[i].Kind.after()
		durable = durable || !events[i].ReadOnly && !after
		results = results && after && events[i].ReadOnly
	}
	if results {
		return f.postpone(events)
	}
	ticket, err := f.append(events, durable)
	if err != nil || !durable {
		return err
	}
	return f.sync(ticket)
}

// Close writes everything to disk, waits for the committer and releases the directory. It is idempotent.
func (f *File) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.mu.Unlock()
	err := f.deliver()
	if err != nil {
		err = fmt.Errorf("commands ran, and their results are missing from the audit log: %w", err)
	}

	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return err
	}
	f.closed = true
	f.release()
	close(f.stop)
	f.mu.Unlock()

	f.wg.Wait()
	err = errors.Join(err, f.sync(f.ticket.Load()))
	if err == nil {
		if e := f.headFile.Sync(); e != nil {
			err = unavailable("sync", f.headFile.Name(), e, doDisk)
		}
	}
	return errors.Join(err, f.closeFiles())
}

func (f *File) closeFiles() error {
	err := f.headFile.Close()
	f.syncMu.Lock()
	defer f.syncMu.Unlock()
	if f.data != nil {
		err = errors.Join(err, f.data.Close())
	}
	return err
}

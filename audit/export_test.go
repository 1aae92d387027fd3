package audit

import (
	"io"
	"os"
)

// Syncs is how often f called fsync on records.
func (f *File) Syncs() int {
	f.syncMu.Lock()
	defer f.syncMu.Unlock()
	return f.syncs
}

// Busy reports whether the committer runs.
func (f *File) Busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.committing
}

// At makes f tell where a rotation or a purge is. Set it before f is used.
func (f *File) At(step func(name string)) { f.at = step }

// BreakHead makes f's head one that cannot be written, until it is mended.
func (f *File) BreakHead() (mend func()) {
	well := f.headFile
	broken, err := os.Open(well.Name()) // for reading
	if err != nil {
		panic(err)
	}
	f.headFile = broken
	return func() {
		f.headFile = well
		broken.Close()
	}
}

// AtLastName makes f believe that its file has the last name there is.
func (f *File) AtLastName() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end.file = maxFiles
}

// TryLock takes the lock on a file if no other has it; WaitLock waits for it.
var (
	TryLock  = tryLock
	WaitLock = waitLock
	Unlock   = unlock
)

// Thin keeps a queue within bounds.
var Thin = thin

// Glob matches with * and ?.
var Glob = glob

// SyncOn syncs f once as if its records were in another file.
func (f *File) SyncOn(other *os.File) error {
	data := f.data
	f.data = other
	defer func() { f.data = data }()
	return f.sync(f.ticket.Load() + 1)
}

// After reports whether events of a kind are written when the deed is done.
var After = Kind.after

// MaxLine is the longest record, MaxQueue how many heads wait for a place.
const (
	MaxLine  = maxLine
	MaxQueue = maxQueue
)

// Lines reads lines until an error.
func Lines(r io.Reader) (n int, err error) {
	for in := newLines(r, 0); ; n++ {
		if _, _, _, err := in.next(); err != nil {
			return n, err
		}
	}
}

// OutputLock is the name of the file that keeps writers and purges apart.
const OutputLock = outputLock

// Holds reports whether an event is about a text.
func Holds(e Event, text string) bool { return e.holds(text) }

// LastLine reads the line that ends at a place; SyncDir makes names in a directory last.
var (
	LastLine = lastLine
	SyncDir  = syncDir
)

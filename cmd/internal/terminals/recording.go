package terminals

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// MaxRecording is the size at which a recording stops, so that no flood on a host fills the disk here.
const MaxRecording = 1 << 30

// Recording writes one terminal's output to a file until the file takes no more, which it tells once. A nil Recording
// records nothing. Its methods may be called concurrently.
type Recording struct {
	file *file
	cast *screen.Recorder
	warn func(error) // called once, when the recording stops before its end
	once sync.Once

	follow following
}

// StartRecording makes the file name in dir, and dir itself, for nobody else to read.
func StartRecording(dir, name string, limit int64, size session.Size, h screen.CastHeader, warn func(error)) (*Recording, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	r := &Recording{file: &file{f: f, limit: limit, sum: sha256.New()}, warn: warn, follow: following{done: make(chan struct{})}}
	h.Width, h.Height = size.Cols, size.Rows
	if r.cast, err = screen.NewRecorder(r.file, h, time.Now); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return r, nil
}

// Output records what a program printed.
func (r *Recording) Output(p []byte) {
	if r != nil {
		_, err := r.cast.Write(p)
		r.check(err)
		r.follow.tell()
	}
}

// Input records what was typed.
func (r *Recording) Input(p []byte) {
	if r != nil {
		_, err := r.cast.Input(p)
		r.check(err)
	}
}

// Resize records that the terminal has another size.
func (r *Recording) Resize(s session.Size) {
	if r != nil {
		r.check(r.cast.Resize(s.Cols, s.Rows))
		r.follow.tell()
	}
}

func (r *Recording) check(err error) {
	if err != nil {
		r.once.Do(func() { r.warn(err) })
	}
}

// Recorded is what became of a recording.
type Recorded struct {
	Path   string
	Bytes  int64
	SHA256 string
	Err    error // why it is not whole
}

// Close ends the recording and puts it on the disk.
func (r *Recording) Close() Recorded {
	if r == nil {
		return Recorded{}
	}
	defer r.follow.close()
	err := r.cast.Close()
	if serr := r.file.f.Sync(); err == nil {
		err = serr
	}
	if cerr := r.file.f.Close(); err == nil {
		err = cerr
	}
	r.check(err)
	return Recorded{Path: r.file.f.Name(), Bytes: r.file.size, SHA256: hex.EncodeToString(r.file.sum.Sum(nil)), Err: err}
}

// file takes whole lines only, and adds them up.
type file struct {
	f     *os.File
	limit int64
	size  int64
	sum   hash.Hash
}

var errTooLong = errors.New("it has reached its largest size")

// Write appends a line. One that does not fit is taken back, so that what is there can be replayed.
func (f *file) Write(line []byte) (int, error) {
	if f.size+int64(len(line)) > f.limit {
		return 0, errTooLong
	}
	if n, err := f.f.Write(line); err != nil {
		if n > 0 {
			_ = f.f.Truncate(f.size)
		}
		return 0, err
	}
	f.size += int64(len(line))
	f.sum.Write(line)
	return len(line), nil
}

// RecordingName is unique by the exec's id, and sorts by time.
func RecordingName(start time.Time, host, id string) string {
	host = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, host)
	return fmt.Sprintf("%s-%.64s-%s.cast", start.UTC().Format("20060102T150405Z"), host, id)
}

// Drop ends a recording that nothing came to, and takes it away.
func (r *Recording) Drop() {
	if r != nil {
		r.follow.close()
		r.file.f.Close()
		os.Remove(r.file.f.Name())
	}
}

// Path is where the recording is.
func (r *Recording) Path() string { return r.file.f.Name() }

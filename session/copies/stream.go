package copies

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
)

// The stream of a copy is a sequence of frames: a letter, the length of what follows in four bytes (big endian), and that. An
// upload has, for each file of the plan in order, data and a sum, or why the file could not be read. A download says before
// each file or directory what it is, and ends with an end.
const (
	frameEntry = 'E' // JSON of an Entry
	frameData  = 'D'
	frameSum   = 'S' // SHA-256 of the file's data
	frameFault = 'F' // why the file cannot be read: what came of it does not count
	frameEnd   = 'X'

	maxFrame  = 1 << 20
	frameHead = 5
	blockSize = 256 << 10
)

var (
	errStream = errors.New("the stream of the copy is broken")
	errCut    = errors.New("the stream of the copy ended early") // it is not the end of a connection to the host
)

// putHead makes the head of a frame of n bytes in b.
func putHead(b []byte, kind byte, n int) {
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:frameHead], uint32(n))
}

// frame is a small frame, whole.
func frame(kind byte, data []byte) []byte {
	b := make([]byte, frameHead+len(data))
	putHead(b, kind, len(data))
	copy(b[frameHead:], data)
	return b
}

// frames reads a stream.
type frames struct {
	r    *bufio.Reader
	left int  // of a data frame
	ours bool // the sums are of this process, which has made them from the same bytes
}

func newFrames(r io.Reader) *frames {
	_, ours := r.(*localReader)
	return &frames{r: bufio.NewReaderSize(r, 128<<10), ours: ours}
}

// head reads the head of the next frame.
func (f *frames) head() (kind byte, n int, err error) {
	var b [frameHead]byte
	if _, err := io.ReadFull(f.r, b[:]); err != nil {
		return 0, 0, cut(err)
	}
	size := binary.BigEndian.Uint32(b[1:])
	if size > maxFrame {
		return 0, 0, errStream
	}
	return b[0], int(size), nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// small reads what a frame holds that is not data.
func (f *frames) small(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(f.r, b)
	return b, cut(err)
}

// file reads the data of one file.
func (f *frames) file() *fileReader { return &fileReader{f: f, h: sha256.New()} }

// fileOf is file for what an approval names by its hash, or does not: such a hash is always counted here.
func (f *frames) fileOf(e *Entry) *fileReader {
	if f.ours && e.SHA256 == "" {
		return &fileReader{f: f}
	}
	return f.file()
}

// entry reads what comes next in a download; nil at its end.
func (f *frames) entry() (*Entry, error) {
	kind, n, err := f.head()
	switch {
	case err != nil:
		return nil, err
	case kind == frameEnd && n == 0:
		return nil, nil
	case kind != frameEntry:
		return nil, errStream
	}
	text, err := f.small(n)
	if err != nil {
		return nil, err
	}
	e := &Entry{}
	if json.Unmarshal(text, e) != nil {
		return nil, errStream
	}
	return e, nil
}

// sourceFault is why the sender could not read a file to its end. The stream goes on behind it.
type sourceFault struct{ text string }

func (e *sourceFault) Error() string { return e.text }

// fileReader reads one file of a stream, up to its end, and compares its sum.
type fileReader struct {
	f    *frames
	h    sumHash // nil where the stream's sums are taken as they are: each host would count them once more
	told []byte  // the stream's sum, once it has come
	n    int64
	err  error // sticky; io.EOF is a file that is whole
}

type sumHash interface {
	io.Writer
	Sum([]byte) []byte
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	for r.f.left == 0 {
		if r.err = r.next(); r.err != nil {
			return 0, r.err
		}
	}
	n, err := r.f.r.Read(p[:min(len(p), r.f.left)])
	r.f.left -= n
	r.n += int64(n)
	if r.h != nil {
		r.h.Write(p[:n])
	}
	if err != nil {
		r.err = cut(err)
		return n, r.err
	}
	return n, nil
}

// next reads the next head.
func (r *fileReader) next() error {
	kind, n, err := r.f.head()
	if err != nil {
		return err
	}
	switch kind {
	case frameData:
		r.f.left = n
		return nil
	case frameSum:
		sum, err := r.f.small(n)
		switch {
		case err != nil:
			return err
		case r.h != nil && string(sum) != string(r.h.Sum(nil)):
			return errStream
		}
		r.told = sum
		return io.EOF
	case frameFault:
		text, err := r.f.small(n)
		if err != nil {
			return err
		}
		return &sourceFault{string(text)}
	}
	return errStream
}

// drain reads what is left of the file; its error is nil where the stream goes on.
func (r *fileReader) drain() error {
	var fault *sourceFault
	if _, err := io.Copy(io.Discard, r); err != nil && !errors.As(err, &fault) {
		return err
	}
	return nil
}

// sum is the hash of what was read; nil before the end where it is not counted here.
func (r *fileReader) sum() []byte {
	if r.h == nil {
		return r.told
	}
	return r.h.Sum(nil)
}

// fileWriter writes the data of one file to a stream. Its buffer has room for the head in front.
type fileWriter struct {
	w io.Writer
	h sumHash
	n int64
}

func newFileWriter(w io.Writer) *fileWriter { return &fileWriter{w: w, h: sha256.New()} }

func (w *fileWriter) Write(p []byte) (int, error) {
	done := 0
	for len(p) > 0 {
		n := min(len(p), blockSize)
		var head [frameHead]byte
		putHead(head[:], frameData, n)
		if _, err := w.w.Write(head[:]); err != nil {
			return done, err
		}
		if _, err := w.w.Write(p[:n]); err != nil {
			return done, err
		}
		w.h.Write(p[:n])
		w.n += int64(n)
		done += n
		p = p[n:]
	}
	return done, nil
}

// end ends the file: whole, or with why it is not.
func (w *fileWriter) end(err error) error {
	last := frame(frameSum, w.h.Sum(nil))
	if err != nil {
		text := err.Error()
		last = frame(frameFault, []byte(text[:min(len(text), 1000)]))
	}
	_, werr := w.w.Write(last)
	return werr
}

func writeEntry(w io.Writer, e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = w.Write(frame(frameEntry, text))
	return err
}

func newHash() sumHash { return sha256.New() }

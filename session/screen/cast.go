package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// CastHeader is the first line of a recording. Zero values but width and height are left out.
// The format is asciicast v2: https://docs.asciinema.org/manual/asciicast/v2/
type CastHeader struct {
	Version       int               `json:"version"` // 2; set by NewRecorder
	Width         int               `json:"width"`
	Height        int               `json:"height"`
	Timestamp     int64             `json:"timestamp,omitempty"` // seconds since 1970; set by NewRecorder when zero
	Duration      float64           `json:"duration,omitempty"`
	IdleTimeLimit float64           `json:"idle_time_limit,omitempty"` // seconds; what players should shorten pauses to
	Command       string            `json:"command,omitempty"`
	Title         string            `json:"title,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
}

// Recorder writes a recording in the asciicast v2 format, one event a line. Each event is one write, so that a recording
// cut off by a crash lacks its last line at most. Characters that come in pieces are put together; bytes that are not
// UTF-8 become U+FFFD. After the first error of the writer every call returns it. All methods may be called at once.
type Recorder struct {
	mu      sync.Mutex
	w       io.Writer
	now     func() time.Time
	start   time.Time
	last    time.Duration
	partial map[string][]byte // per kind of event, the beginning of a character
	err     error
}

// NewRecorder writes the header and returns a Recorder whose times count from now. Zero for width or height means the
// size of a Screen's zero Config. The caller owns w and closes it after the Recorder.
func NewRecorder(w io.Writer, h CastHeader, now func() time.Time) (*Recorder, error) {
	r := &Recorder{w: w, now: now, start: now(), partial: map[string][]byte{}}
	h.Version = 2
	if h.Width <= 0 {
		h.Width = DefaultCols
	}
	if h.Height <= 0 {
		h.Height = DefaultRows
	}
	if h.Timestamp == 0 {
		h.Timestamp = r.start.Unix()
	}
	line, err := encode(h)
	if err != nil {
		return nil, fmt.Errorf("screen: the recording's header: %w", err)
	}
	if r.put(line); r.err != nil {
		return nil, r.err
	}
	return r, nil
}

// Write records output.
func (r *Recorder) Write(p []byte) (int, error) { return r.event("o", p) }

// Input records what was typed. Whether passwords are among it is for the caller to know.
func (r *Recorder) Input(p []byte) (int, error) { return r.event("i", p) }

// Resize records a new size.
func (r *Recorder) Resize(cols, rows int) error {
	_, err := r.event("r", fmt.Appendf(nil, "%dx%d", cols, rows))
	return err
}

// Close records what is left of characters that came in part. It does not close the writer. More may be recorded after.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range []string{"o", "i"} {
		if p := r.partial[kind]; len(p) > 0 {
			r.partial[kind] = nil
			r.line(kind, p)
		}
	}
	return r.err
}

func (r *Recorder) event(kind string, p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	n := len(p)
	if before := r.partial[kind]; len(before) > 0 {
		p = append(before, p...)
	}
	whole := wholeCharacters(p)
	r.partial[kind] = append([]byte(nil), p[whole:]...)
	if whole > 0 {
		r.line(kind, p[:whole])
	}
	if r.err != nil {
		return 0, r.err
	}
	return n, nil
}

// wholeCharacters says how much of p comes before a character that is cut by its end.
func wholeCharacters(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		if utf8.RuneStart(p[len(p)-k]) {
			if !utf8.FullRune(p[len(p)-k:]) {
				return len(p) - k
			}
			break
		}
	}
	return len(p)
}

// line writes an event. Time never goes back, whatever the clock does.
func (r *Recorder) line(kind string, p []byte) {
	r.last = max(r.last, r.now().Sub(r.start))
	data, err := encode(string(p))
	if err != nil { // a string cannot fail
		r.err = fmt.Errorf("screen: recording: %w", err)
		return
	}
	b := append([]byte{'['}, strconv.FormatFloat(r.last.Seconds(), 'f', 6, 64)...)
	b = append(b, ", \""+kind+"\", "...)
	b = append(append(b, bytes.TrimSuffix(data, []byte{'\n'})...), "]\n"...)
	r.put(b)
}

func (r *Recorder) put(line []byte) {
	if r.err != nil {
		return
	}
	if n, err := r.w.Write(line); err != nil {
		r.err = fmt.Errorf("screen: writing the recording: %w", err)
	} else if n < len(line) {
		r.err = fmt.Errorf("screen: writing the recording: %w", io.ErrShortWrite)
	}
}

// encode is JSON with its newline, and < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

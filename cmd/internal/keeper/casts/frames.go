package casts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
)

const (
	frameEvery = 1 << 20 // bytes of a recording between two frames, at least
	maxFrames  = 256     // of one recording; where there are more, every other one goes
	maxFramed  = 8       // recordings whose frames are kept
	maxLine    = 4 << 20 // bytes of a line that frames are made of
)

// frame is a place in a recording where it can be played from: what the screen shows there, and where the file goes on.
// Nothing is held back there by redaction. The screen is text without colours; what is drawn after it has them.
type frame struct {
	offset     int64
	at         float64
	cols, rows int
	shows      string
}

// frames are those of one recording, as far as it has been read.
type frames struct {
	reading chan struct{} // holds one: whoever reads on

	mu  sync.Mutex // guards all
	all []frame

	// What follows is for whoever reads on.
	every  int64
	offset int64
	last   int64 // where the last frame is
	at     float64
	cols   int
	rows   int
	fresh  bool // what comes next is at the beginning of a line
	screen *screen.Screen
	red    *redact.Writer
}

// framed are the frames of the recordings that were looked at last. The zero value has none.
type framed struct {
	mu    sync.Mutex // guards what follows
	by    map[string]*frames
	order []string // from the one that was asked for the longest ago
}

func (c *framed) of(id string) *frames {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*frames{}
	}
	f := c.by[id]
	if f == nil {
		f = &frames{reading: make(chan struct{}, 1), every: frameEvery}
		c.by[id] = f
	}
	c.order = append(slices.DeleteFunc(c.order, func(o string) bool { return o == id }), id)
	if len(c.order) > maxFramed {
		delete(c.by, c.order[0])
		c.order = c.order[1:]
	}
	return f
}

// before returns the last frame that is no later than a moment; the zero frame is the beginning. It reads what has not been
// read of the recording up to then, one line at a time.
func (f *frames) before(ctx context.Context, set *redact.Set, file *os.File, size int64, at float64) (frame, error) {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return frame{}, context.Cause(ctx)
	}
	if err := f.read(ctx, set, file, size, at); err != nil {
		return frame{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var best frame
	for _, fr := range f.all {
		if fr.at > at {
			break
		}
		best = fr
	}
	return best, nil
}

// read reads on until a moment.
func (f *frames) read(ctx context.Context, set *redact.Set, file *os.File, size int64, until float64) error {
	if f.at > until || f.offset >= size {
		return nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, f.offset, size-f.offset), 64<<10)
	for f.at <= until {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, err := readLine(in)
		if err != nil {
			return nil // the end, or what is torn or cannot be played
		}
		if f.screen == nil {
			var h screen.CastHeader
			if json.Unmarshal(line, &h) != nil || h.Version != 2 {
				return fmt.Errorf("it is not a recording")
			}
			f.begin(set, h)
		} else {
			f.event(line)
		}
		f.offset += int64(len(line))
	}
	return nil
}

// readLine reads a whole line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, bufio.ErrTooLong
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}

func (f *frames) begin(set *redact.Set, h screen.CastHeader) {
	f.cols, f.rows = h.Width, h.Height
	f.screen = screen.New(screen.Config{Cols: f.cols, Rows: f.rows, Render: emulate.Render})
	f.red = set.Writer(f.screen, redact.Guarded)
}

// event takes a line, after it has made a frame before it where one is due.
func (f *frames) event(line []byte) {
	var parts []json.RawMessage
	var at float64
	var kind, data string
	if json.Unmarshal(line, &parts) != nil || len(parts) < 3 || json.Unmarshal(parts[0], &at) != nil || json.Unmarshal(parts[1], &kind) != nil ||
		kind != "o" && kind != "r" || json.Unmarshal(parts[2], &data) != nil {
		return
	}
	if f.offset-f.last >= f.every && kind == "o" && data != "" && (f.fresh || data[0] <= ' ') && f.red.Idle() {
		f.keep()
	}
	f.at = max(f.at, at)
	if kind == "o" {
		_, _ = io.WriteString(f.red, data)
		f.fresh = strings.HasSuffix(data, "\n")
		return
	}
	var cols, rows int
	if n, _ := fmt.Sscanf(data, "%dx%d", &cols, &rows); n == 2 && cols > 0 && rows > 0 {
		f.cols, f.rows = cols, rows
		f.screen.Resize(cols, rows)
	}
}

// keep makes a frame of what the screen shows.
func (f *frames) keep() {
	f.last = f.offset
	v := f.screen.Render()
	var b strings.Builder
	b.WriteString("\x1bc")
	if v.Alternate {
		b.WriteString("\x1b[?1049h")
	}
	b.WriteString("\x1b[?7l")
	for i, l := range v.Lines {
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, l)
	}
	b.WriteString("\x1b[?7h")
	if v.Row >= 0 {
		fmt.Fprintf(&b, "\x1b[%d;%dH", v.Row+1, v.Col+1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, frame{f.offset, f.at, f.cols, f.rows, b.String()})
	if len(f.all) > maxFrames {
		for i := range maxFrames / 2 {
			f.all[i] = f.all[2*i+1]
		}
		f.all = slices.Clip(f.all[:maxFrames/2])
		f.every *= 2
	}
}

// from returns what plays a recording from a frame on: its header with the size it has there, and the events after that.
func (fr frame) from(file *os.File, size int64) (io.Reader, error) {
	if fr.offset == 0 {
		return io.NewSectionReader(file, 0, size), nil
	}
	line, err := readLine(bufio.NewReaderSize(io.NewSectionReader(file, 0, size), maxCastHeader))
	if err != nil {
		return nil, err
	}
	var h screen.CastHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	h.Width, h.Height = fr.cols, fr.rows
	if line, err = json.Marshal(h); err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(append(line, '\n')), io.NewSectionReader(file, fr.offset, size-fr.offset)), nil
}

package screen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxCastLine bounds a line of a recording.
const maxCastLine = 16 << 20

// ErrTorn is wrapped by Play's error when a recording ends in the middle of a line, as one does whose writer was killed.
// Everything before was played.
var ErrTorn = errors.New("the recording ends in the middle of a line")

// PlayOptions say how a recording is replayed. The zero value plays it without any pause.
type PlayOptions struct {
	// Sleep waits; its error ends the replay and is returned. Nil means not to wait at all.
	Sleep func(time.Duration) error
	// Speed is how many times faster than life. Zero, negative and what is no number mean 1.
	Speed float64
	// IdleLimit is the longest pause, before Speed applies. Zero means the recording's own limit, if it has one;
	// negative none.
	IdleLimit time.Duration
	// Resize is called when the terminal's size changes, at first with the header's. Nil means nobody cares.
	Resize func(cols, rows int)
}

// Play writes the output of an asciicast v2 recording to w, with the pauses it had, and returns its header. What the
// recording holds is written as it is: on a real terminal, control sequences act. Events of unknown kinds are passed
// over; errors name the line.
func Play(r io.Reader, w io.Writer, o PlayOptions) (CastHeader, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var h CastHeader
	line, err := castLine(lines)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, fmt.Errorf("screen: reading the recording: line 1: %w", err)
	}
	if json.Unmarshal(line, &h) != nil {
		return CastHeader{}, fmt.Errorf("screen: line 1 is not a header of an asciicast recording")
	}
	if h.Version != 2 {
		return h, fmt.Errorf("screen: the recording is of asciicast version %d; only 2 can be played", h.Version)
	}
	if o.IdleLimit == 0 && h.IdleTimeLimit > 0 {
		o.IdleLimit = seconds(h.IdleTimeLimit)
	}
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
		o.Speed = 1
	}
	if o.Resize != nil && h.Width > 0 && h.Height > 0 {
		o.Resize(h.Width, h.Height)
	}
	p := player{o: o, w: w}
	for n := 2; !errors.Is(err, io.EOF); n++ {
		line, err = castLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return h, fmt.Errorf("screen: reading the recording: line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, ok := parseEvent(line)
		switch {
		case !ok && err != nil:
			return h, fmt.Errorf("screen: line %d: %w", n, ErrTorn)
		case !ok:
			return h, fmt.Errorf("screen: line %d is not an event of a recording", n)
		}
		if err := p.play(e); err != nil {
			return h, err
		}
	}
	return h, nil
}

// castLine reads a line; with its last one comes io.EOF.
func castLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxCastLine {
			return nil, fmt.Errorf("longer than %d MiB", maxCastLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

type castEvent struct {
	at         time.Duration
	kind, data string
}

func parseEvent(line []byte) (e castEvent, ok bool) {
	var parts []json.RawMessage
	var at float64
	if json.Unmarshal(line, &parts) != nil || len(parts) < 3 || json.Unmarshal(parts[0], &at) != nil ||
		json.Unmarshal(parts[1], &e.kind) != nil {
		return e, false
	}
	e.at = seconds(at)
	if json.Unmarshal(parts[2], &e.data) != nil && (e.kind == "o" || e.kind == "r") {
		return e, false
	}
	return e, true
}

// seconds turns any number into a duration.
func seconds(s float64) time.Duration {
	const limit = math.MaxInt64 / float64(time.Second)
	switch {
	case !(s > 0):
		return 0
	case s >= limit:
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

type player struct {
	o  PlayOptions
	w  io.Writer
	at time.Duration
}

func (p *player) play(e castEvent) error {
	pause := max(e.at-p.at, 0)
	p.at = max(p.at, e.at)
	if p.o.IdleLimit > 0 {
		pause = min(pause, p.o.IdleLimit)
	}
	if pause > 0 && p.o.Sleep != nil {
		if err := p.o.Sleep(seconds(pause.Seconds() / p.o.Speed)); err != nil {
			return err
		}
	}
	switch e.kind {
	case "o":
		if _, err := io.WriteString(p.w, e.data); err != nil {
			return fmt.Errorf("screen: replaying: %w", err)
		}
	case "r":
		cols, rows, ok := size(e.data)
		if ok && p.o.Resize != nil {
			p.o.Resize(cols, rows)
		}
	}
	return nil
}

// size reads 80x24.
func size(s string) (cols, rows int, ok bool) {
	c, r, _ := strings.Cut(s, "x")
	cols, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	return cols, rows, err1 == nil && err2 == nil && cols > 0 && rows > 0
}

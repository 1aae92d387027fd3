package casts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

const (
	maxCastHeader = 64 << 10
	chunkBytes    = 64 << 10  // that are sent at once
	castEnd       = 16 << 10  // mostly holds a recording's last line
	castTail      = 512 << 10 // always does
)

// castHeader reads the first line of a recording, which the reader's buffer must hold.
func castHeader(r *bufio.Reader) (h screen.CastHeader, line []byte, err error) {
	line, err = r.ReadSlice('\n')
	if err != nil {
		return h, nil, err
	}
	return h, bytes.Clone(line), json.Unmarshal(line, &h)
}

// lastMoment is the time of the last whole event of a recording, in seconds.
func lastMoment(f io.ReaderAt, size int64) float64 {
	for _, n := range []int64{castEnd, castTail} {
		tail := make([]byte, min(size, n))
		got, _ := f.ReadAt(tail, size-int64(len(tail)))
		tail = tail[:got]
		tail = tail[:bytes.LastIndexByte(tail, '\n')+1] // without what is torn
		for len(tail) > 0 {
			start := bytes.LastIndexByte(tail[:len(tail)-1], '\n') + 1
			var event []json.RawMessage
			var at float64
			if json.Unmarshal(tail[start:], &event) == nil && len(event) > 0 && json.Unmarshal(event[0], &at) == nil && at >= 0 && at < maxCastTime {
				return at
			}
			tail = tail[:start]
		}
	}
	return 0
}

// maxCastTime is more than any recording takes, in seconds.
const maxCastTime = 1e9

// recording sends one.
func (s *Shelf) recording(_ context.Context, _ *access.Caller, in *recordingIn) (*huma.StreamResponse, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(f recordingFile) bool { return f.id == in.ID })
	if i < 0 {
		return nil, problem.NotFound("recording", in.ID)
	}
	file, size, err := files[i].open(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.NotFound("recording", in.ID)
	}
	if err != nil {
		return nil, unreadableRecordings()
	}
	file.Close() // whoever sends opens it again: nobody may come to send
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		file, _, err := files[i].open(s.Dir)
		if err != nil {
			problem.Write(w, problem.NotFound("recording", in.ID))
			return
		}
		defer file.Close()
		fr := frame{}
		if in.At > 0 && size > frameEvery {
			if fr, err = s.frames.of(in.ID).before(r.Context(), s.Secrets, file, size, in.At); err != nil {
				problem.Write(w, problem.Of(unreadableRecordings()))
				return
			}
		}
		from, err := fr.from(file, size)
		if err != nil {
			problem.Write(w, problem.Of(unreadableRecordings()))
			return
		}
		w.Header().Set("Content-Type", castType)
		to := bufio.NewWriterSize(patientWriter{w, http.NewResponseController(w)}, chunkBytes)
		s.send(r.Context(), to, from, fr, lastMoment(file, size)) // a cast that cannot be read to its end ends early
		_ = to.Flush()
	}}, nil
}

// patientWriter gives a reader writeTime for every piece.
type patientWriter struct {
	w  io.Writer
	rc *http.ResponseController
}

func (p patientWriter) Write(b []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(time.Now().Add(stream.WriteTime))
	return p.w.Write(b)
}

// send writes a recording anew, line by line: the output as redaction lets it through, at the times when it does, and
// changes of size, and nothing else.
// It begins with a frame that is not the zero one. length goes into the header.
func (s *Shelf) send(ctx context.Context, w io.Writer, from io.Reader, fr frame, length float64) {
	in := bufio.NewReaderSize(from, chunkBytes)
	h, line, err := castHeader(in)
	if err != nil || h.Version != 2 {
		return
	}
	if h.Timestamp == 0 {
		h.Timestamp = 1 // zero is now
	}
	h.Duration = length
	h.Title, h.Command = s.guarded(h.Title), s.guarded(h.Command)
	for name, value := range h.Env {
		h.Env[name] = s.guarded(value)
	}
	start := time.Unix(h.Timestamp, 0)
	now := start
	out, err := screen.NewRecorder(w, h, func() time.Time { return now })
	if err != nil {
		return
	}
	if fr.shows != "" {
		now = start.Add(time.Duration(fr.at * float64(time.Second)))
		_, _ = io.WriteString(out, s.guarded(fr.shows)) // what it shows may have become a secret since
		now = start
	}
	red := s.Secrets.Writer(out, redact.Guarded)
	first := h.Width > 0 && h.Height > 0
	_, _ = screen.Play(io.MultiReader(bytes.NewReader(line), in), red, screen.PlayOptions{
		IdleLimit: -1,
		Sleep: func(d time.Duration) error {
			now = now.Add(min(d, maxCastTime*time.Second-now.Sub(start)))
			return ctx.Err()
		},
		Resize: func(cols, rows int) {
			if !first { // that is the header's
				_ = out.Resize(cols, rows)
			}
			first = false
		},
	})
	_ = red.Close()
	_ = out.Close()
}

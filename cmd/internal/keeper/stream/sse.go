package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Events writes server-sent events. A reader that takes nothing for WriteTime loses its connection.
type Events struct {
	w  http.ResponseWriter
	rc *http.ResponseController

	Patient context.Context // if not nil, until it ends a reader may take as long as it likes
}

const WriteTime = 30 * time.Second

// Start begins the answer.
func Start(ctx huma.Context) (*Events, *http.Request) {
	r, w := humago.Unwrap(ctx)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	s := &Events{w: w, rc: http.NewResponseController(w)}
	_ = s.Flush() // so that the caller knows that it is heard

	// An answer to HEAD has no events, and its end is waited for.
	if r.Method == http.MethodHead {
		over, end := context.WithCancel(r.Context())
		end()
		r = r.WithContext(over)
	}
	return s, r
}

// Send writes one event; id is what a reader that comes back says in Last-Event-ID.
func (s *Events) Send(event, id string, data any) error {
	var b bytes.Buffer
	if err := Append(&b, event, id, data); err != nil {
		return err
	}
	return s.Write(b.Bytes())
}

// Append adds to b what Send would write.
func Append(b *bytes.Buffer, event, id string, data any) error {
	fmt.Fprintf(b, "event: %s\nid: %s\ndata: ", event, id)
	enc := json.NewEncoder(b) // which ends with a newline
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	b.WriteByte('\n')
	return nil
}

// Write writes events that Append has made.
func (s *Events) Write(events []byte) error {
	s.deadline()
	_, err := s.w.Write(events)
	return err
}

// deadline bounds the next write.
func (s *Events) deadline() {
	switch {
	case s.Patient == nil:
		_ = s.rc.SetWriteDeadline(time.Now().Add(WriteTime))
	case s.Patient.Err() == nil:
		_ = s.rc.SetWriteDeadline(time.Time{})
		if s.Patient.Err() == nil {
			return
		}
		fallthrough // it has ended meanwhile
	default:
		s.Hurry()
	}
}

// Hurry bounds what is being written, also by others.
func (s *Events) Hurry() { _ = s.rc.SetWriteDeadline(time.Now().Add(LeaveTime)) }

// beat says that the connection lives.
func (s *Events) beat() error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(WriteTime))
	if _, err := io.WriteString(s.w, ": \n\n"); err != nil {
		return err
	}
	return s.Flush()
}

func (s *Events) Flush() error {
	s.deadline()
	return s.rc.Flush()
}

// Wait returns when one of more and done is closed, and tells the reader meanwhile that the connection lives. It returns
// false when there is no use in going on.
func (s *Events) Wait(ctx context.Context, more, done <-chan struct{}) bool {
	beat := time.NewTicker(KeepAliveEvery)
	defer beat.Stop()
	for {
		select {
		case <-more:
			return true
		case <-done:
			return true
		case <-ctx.Done():
			return false
		case <-beat.C:
			if s.beat() != nil {
				return false
			}
		}
	}
}

const KeepAliveEvery = 15 * time.Second // of streams that have nothing to say

// ChunkBytes is how much of an output one event holds.
const ChunkBytes = 64 << 10

// LeaveTime is how long a reader who is slow may take for the rest, once the keeper ends.
const LeaveTime = 5 * time.Second

// IsClosed reports whether a channel is closed.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

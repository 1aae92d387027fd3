package keeper

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

// sse writes server-sent events. A reader that takes nothing for writeTime loses its connection.
type sse struct {
	w  http.ResponseWriter
	rc *http.ResponseController

	patient context.Context // if not nil, until it ends a reader may take as long as it likes
}

const writeTime = 30 * time.Second

// startSSE begins the answer.
func startSSE(ctx huma.Context) (*sse, *http.Request) {
	r, w := humago.Unwrap(ctx)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	s := &sse{w: w, rc: http.NewResponseController(w)}
	_ = s.flush() // so that the caller knows that it is heard
	return s, r
}

// send writes one event; id is what a reader that comes back says in Last-Event-ID.
func (s *sse) send(event, id string, data any) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\nid: %s\ndata: ", event, id)
	enc := json.NewEncoder(&b) // which ends with a newline
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	b.WriteByte('\n')
	s.deadline()
	_, err := b.WriteTo(s.w)
	return err
}

// deadline bounds the next write.
func (s *sse) deadline() {
	switch {
	case s.patient == nil:
		_ = s.rc.SetWriteDeadline(time.Now().Add(writeTime))
	case s.patient.Err() == nil:
		_ = s.rc.SetWriteDeadline(time.Time{})
		if s.patient.Err() == nil {
			return
		}
		fallthrough // it has ended meanwhile
	default:
		s.hurry()
	}
}

// hurry bounds what is being written, also by others.
func (s *sse) hurry() { _ = s.rc.SetWriteDeadline(time.Now().Add(leaveTime)) }

// beat says that the connection lives.
func (s *sse) beat() error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := io.WriteString(s.w, ": \n\n"); err != nil {
		return err
	}
	return s.flush()
}

func (s *sse) flush() error {
	s.deadline()
	return s.rc.Flush()
}

// wait returns when one of more and done is closed, and tells the reader meanwhile that the connection lives. It returns
// false when there is no use in going on.
func (s *sse) wait(ctx context.Context, more, done <-chan struct{}) bool {
	beat := time.NewTicker(keepAliveEvery)
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

const keepAliveEvery = 15 * time.Second // of streams that have nothing to say

// leaveTime is how long a reader who is slow may take for the rest, once the keeper ends.
const leaveTime = 5 * time.Second

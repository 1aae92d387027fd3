package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// A command that ends while its standard input gets ready ends as one does whose shell is starting: nothing was sent, and the error
// says who ended it.
func TestWhatEndsACommandWhileItsInputGetsReadyIsTold(t *testing.T) {
	mine := errors.New("the caller's own reason")
	for name, c := range map[string]struct {
		second func(*session.Session, context.CancelCauseFunc) error
		status session.Status
		is     []error
	}{
		"the caller leaves": {
			func(_ *session.Session, cancel context.CancelCauseFunc) error { cancel(mine); return nil },
			session.StatusCanceled, []error{session.ErrCanceled, context.Canceled, mine},
		},
		"the session is closed": {
			func(s *session.Session, _ context.CancelCauseFunc) error { go s.Close(); return nil },
			session.StatusCanceled, []error{session.ErrClosed},
		},
		"the connection ends": {
			func(*session.Session, context.CancelCauseFunc) error {
				return fmt.Errorf("the host is gone: %w", session.ErrClosed)
			},
			session.StatusUnreachable, []error{session.ErrUnreachable},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			tr := &secondFails{Transport: transports[0].open(t)}
			s := open(t, tr, "bash")
			tr.second = func() error { return c.second(s, cancel) }
			r, err := s.Run(ctx, session.Command{Script: "cat", Stdin: strings.NewReader("x")})
			require.Error(t, err)
			assert.Equal(t, c.status, r.Status, err)
			for _, is := range c.is {
				assert.ErrorIs(t, err, is)
			}
			assert.False(t, r.Err.Sent)
		})
	}
}

// secondFails is a Transport whose second program never gets ready.
type secondFails struct {
	session.Transport
	second func() error
	opened atomic.Int32
}

func (f *secondFails) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	if f.opened.Add(1) != 2 {
		return f.Transport.Open(ctx, p)
	}
	p.Line = "exec sleep 1000"
	stream, err := f.Transport.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := f.second(); err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

package ctxerr

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOfWrapsTheCauseAndTheContextsOwnError(t *testing.T) {
	mine := errors.New("the user left")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, because := context.WithCancelCause(t.Context())
	because(mine)
	late, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	lateCaused, stop := context.WithDeadlineCause(t.Context(), time.Unix(1, 0), mine)
	defer stop()
	child, stop := context.WithCancel(lateCaused)
	defer stop()
	for name, tt := range map[string]struct {
		ctx  context.Context
		is   []error
		text string
	}{
		"canceled":                       {canceled, []error{context.Canceled}, "context canceled"},
		"canceled with a cause":          {caused, []error{context.Canceled, mine}, "the user left"},
		"its deadline is over":           {late, []error{context.DeadlineExceeded}, "context deadline exceeded"},
		"a deadline with a cause":        {lateCaused, []error{context.DeadlineExceeded, mine}, "the user left"},
		"derived from one with a cause ": {child, []error{context.DeadlineExceeded, mine}, "the user left"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Of(tt.ctx)
			for _, is := range tt.is {
				assert.ErrorIs(t, err, is)
			}
			assert.EqualError(t, err, tt.text)
		})
	}
	assert.NoError(t, Of(t.Context()))
}

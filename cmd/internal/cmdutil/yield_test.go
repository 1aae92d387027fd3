package cmdutil_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// An editor in the foreground hears of the key itself, any number of times: the program goes on.
func TestInterruptsAreLeftToAProgramInTheForeground(t *testing.T) {
	var r cmdutil.Running
	interrupt := &cmdutil.SignalError{Signal: syscall.SIGINT}
	caught, _ := r.Interrupt(interrupt)
	assert.False(t, caught)

	release := r.Yield()
	for range 3 {
		caught, again := r.Interrupt(interrupt)
		assert.True(t, caught)
		assert.False(t, again)
	}
	caught, _ = r.Interrupt(&cmdutil.SignalError{Signal: syscall.SIGTERM})
	assert.False(t, caught)
	release()
	caught, _ = r.Interrupt(interrupt)
	assert.False(t, caught)

	var none *cmdutil.Running
	none.Yield()()
}

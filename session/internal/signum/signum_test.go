//go:build unix

package signum_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/session/internal/signum"
)

// The system's own table decides; what has no name of ours is told as a number.
func TestNamesAreThoseOfTheSystem(t *testing.T) {
	named := 0
	for n := 1; n < 32; n++ {
		if name := signum.Name(n); name[0] >= 'A' {
			named++
			assert.Equal(t, unix.SignalName(syscall.Signal(n)), "SIG"+name)
		}
	}
	assert.Equal(t, 11, named)
	assert.Equal(t, "64", signum.Name(64))
}

func TestExit(t *testing.T) {
	assert.Zero(t, signum.Exit(0), "no signal")
	assert.Equal(t, 137, signum.Exit(9))
}

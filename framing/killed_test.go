package framing_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// A script that ends with "kill 0" ends its shell and what that has started. What reports how the shell ended is of the same process
// group, and stays.
func TestAShellThatKillsItsProcessGroupIsSeenToEnd(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for i, script := range []string{"kill 0", "trap 'kill 0' EXIT; sleep 100 & exit 3", "sleep 100 & kill -TERM 0", "sh -c 'kill 0'; sleep 100"} {
			if !tries(i, sh) {
				continue
			}
			s := start(t, sh)
			o := s.run(fmt.Sprintf("echo out; echo err >&2; %s", script))
			assert.Equal(t, "out\n", o.stdout, script)
			require.NotNil(t, o.exit, script)
			s.close()
		}
	})
}

// What stands between Fairlead and the shell tells how the shell ended, and says nothing of it where the command's errors go.
func TestAShellThatASignalKillsPrintsNothing(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for i, script := range []string{"kill -9 $$", "exec sh -c 'kill -SEGV $$'"} {
			if !tries(i, sh) {
				continue
			}
			s := start(t, sh)
			o := s.run("echo out; echo err >&2; " + script)
			assert.Equal(t, "out\n", o.stdout, script)
			assert.Equal(t, "err\n", o.stderr, script)
			require.NotNil(t, o.exit, script)
			s.close()
		}
	})
}

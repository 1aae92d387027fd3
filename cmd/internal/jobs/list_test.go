package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Whether a job runs, and how it ended, is why its list is read: on a phone too.
func TestJobsListShowsTheStateInANarrowWindow(t *testing.T) {
	started, code := time.Date(2026, 11, 22, 3, 4, 5, 0, time.Local), 3
	all := []wire.Job{
		{ID: "web10/j_4jnx723ta2cmi-5", State: "ended", ExitCode: &code, Started: &started, Owner: "operator/root", Command: "make -C /srv/app release"},
		{ID: "web11/j_4jnx723ta2cmi-6", State: "running", Started: &started, Owner: "operator/root", Command: "make -C /srv/app release"},
	}
	for width, want := range map[int]string{
		40: "JOB                      STATE    EXIT\nweb10/j_4jnx723ta2cmi-5  ended    3\nweb11/j_4jnx723ta2cmi-6  running  -\n",
		60: "JOB                      STATE    EXIT  COMMAND\nweb10/j_4jnx723ta2cmi-5  ended    3     make -C /srv/app re…\nweb11/j_4jnx723ta2cmi-6  running  -     make -C /srv/app re…\n",
	} {
		ios, _, out, _ := iostreams.Test()
		ios.OutTTY, ios.NoColor = true, true
		ios.SetWidth(width)
		require.NoError(t, (&Options{IO: ios}).table(all))
		assert.Equal(t, want, out.String(), width)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), width)
		}
	}
}

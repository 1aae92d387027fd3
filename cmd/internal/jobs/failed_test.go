package jobs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session"
)

// A job that the audit log has no room for is reported as a command is.
func TestAJobThatCannotBeRecordedIsReportedAsACommandIs(t *testing.T) {
	ios, _, _, errOut := iostreams.Test()
	err := (&Options{IO: ios}).failed(t.Context(), "web1", &session.Error{Op: "run", Host: "web1", Code: "audit", Err: fmt.Errorf("%w, so nothing was sent: %w", session.ErrAudit, errors.New("no space"))})
	var exit *cmdutil.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitcode.Internal, exit.Code)
	assert.Equal(t, "fairlead: web1: error: cannot be recorded, so nothing was sent: no space\n", errOut.String())
}

// With a keeper and without one it is the same mistake.
func TestAJobWithNothingToDoIsRefused(t *testing.T) {
	var usage *cmdutil.UsageError
	require.ErrorAs(t, (&Options{}).parse([]string{"web1", ""}, 1), &usage)
	assert.EqualError(t, usage.Err, "the command is empty: a job would have nothing to do")
	assert.NoError(t, (&Options{}).parse([]string{"web1", " "}, 1), "the shell's own nothing")
}

package outcome_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestAnUnknownOutcomeIsReportedOnce(t *testing.T) {
	r := session.Result{Status: session.StatusLost, Err: &session.Error{Op: "run", Host: "web1", Code: "lost", Sent: true,
		Err: fmt.Errorf("%w: the connection or the shell ended while the command ran", session.ErrUnknownOutcome)}}
	assert.Equal(t, "fairlead: web1: outcome unknown: the connection or the shell ended while the command ran\n", outcome.Tell("web1", r))
	what, why := outcome.Describe(r)
	assert.Equal(t, "outcome unknown", what)
	assert.Equal(t, "the connection or the shell ended while the command ran", why)
}

// The login worked: what failed came after it.
func TestAFailureToBecomeAnotherAccountIsNotOneToLogIn(t *testing.T) {
	r := session.Result{Status: session.StatusAuth, Err: &session.Error{Op: "run", Host: "web1", Code: "become", Err: fmt.Errorf("sudo does not start a shell as app for ops")}}
	assert.Equal(t, "fairlead: web1: become failed: sudo does not start a shell as app for ops\n", outcome.Tell("web1", r))
}

// What would let the command run is no advice once a person has said no.
func TestARejectedCommandIsToldWhyAndNotWhoCouldAllowIt(t *testing.T) {
	for code, want := range map[string]string{
		"rejected": "fairlead: web1: denied: the approval was refused by operator/ada: not now\n",
		"denied":   "fairlead: web1: denied: the approval was refused by operator/ada: not now: an operator can approve it\n",
	} {
		r := session.Result{Status: session.StatusDenied, Decision: policy.Decision{Hint: "an operator can approve it"},
			Err: &session.Error{Op: "run", Host: "web1", Code: code, Err: fmt.Errorf("the approval was refused by operator/ada: not now")}}
		assert.Equal(t, want, outcome.Tell("web1", r))
	}
}

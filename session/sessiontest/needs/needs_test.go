package needs_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// ended is a test that says how it ended.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Helper()               {}
func (e *ended) Skip(...any)           { e.ends("skipped") }
func (e *ended) Fatalf(string, ...any) { e.ends("failed") }

// ends keeps the first: a real test ends there.
func (e *ended) ends(how string) {
	if e.how == "" {
		e.how = how
	}
}

func TestAMissingPartFailsWhereEverythingMustBeThere(t *testing.T) {
	for ci, want := range map[string]string{"true": "failed", "": "skipped", "false": "skipped"} {
		t.Setenv("CI", ci)
		e := &ended{TB: t}
		needs.Part(e, "%s is not installed", "x")
		if e.how != want {
			t.Errorf("CI=%s: %q, not %q", ci, e.how, want)
		}
	}
}

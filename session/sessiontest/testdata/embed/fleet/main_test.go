package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/session"
)

// Every kind of error is told apart.
func TestOutcome(t *testing.T) {
	failed := func(code string, cause error) error {
		return &session.Error{Op: "run", Host: "web1", Code: code, Err: cause}
	}
	for want, err := range map[string]error{
		"":                         nil,
		"FAILED, exit code 3":      &session.ExitError{Code: 3},
		"FAILED, killed by SIG":    &session.ExitError{Code: -1, Signal: "KILL"},
		"UNKNOWN, do not simply":   failed("lost", session.ErrUnknownOutcome),
		"NOT TRUSTED: run web1: ":  failed("hostkey", session.ErrHostKey),
		"NOT LOGGED IN: run web1:": failed("auth", &session.NoLoginError{Reason: "no key"}),
		"UNREACHABLE: run web1: ":  failed("unreachable", errors.New("no route")),
		"TIMEOUT: run web1: ":      failed("idle", errors.New("silent")),
		"CANCELED: run web1: ":     failed("canceled", errors.New("^C")),
		"DENIED: run web1: ":       failed("denied", session.ErrDenied),
		"ERROR: run web1: ":        failed("stdin", errors.New("it cannot be read")),
	} {
		if got := outcome(err); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("outcome(%v) = %q, want %q", err, got, want)
		}
	}
}

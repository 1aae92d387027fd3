package place_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestAHostIsTheSameOnlyIfAllOfItIs(t *testing.T) {
	h := hosts.Host{Name: "web1", Addr: "10.0.0.1", Labels: map[string]string{"a": "1"}, Source: hosts.Pos{File: "i.yaml", Line: 3}}
	same := h
	same.Source = hosts.Pos{File: "/etc/i.yaml", Line: 3}
	assert.Equal(t, wire.Sum(h), wire.Sum(same), "wherever it is read from")
	other := h
	other.Tier = "dev"
	assert.NotEqual(t, wire.Sum(h), wire.Sum(other))
	other = h
	other.Shell = "dash"
	assert.NotEqual(t, wire.Sum(h), wire.Sum(other))
}

func TestWhatWasCanceledIsToldWithItsCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	told := func(status session.Status, text string) session.Result {
		return session.Result{Status: status, Err: &session.Error{Op: "run", Host: "web1", Err: errors.New(text)}}
	}
	const text = "stopped before anything was sent: context canceled"
	assert.Equal(t, "run web1: "+text, place.Because(ctx, told(session.StatusCanceled, text)).Err.Error(), "nobody has canceled it here")
	cancel(errors.New("stopped by interrupt"))
	r := place.Because(ctx, told(session.StatusCanceled, text))
	assert.Equal(t, "run web1: stopped before anything was sent: stopped by interrupt", r.Err.Error())
	assert.Equal(t, "stopped before anything was sent: stopped by interrupt", cmdutil.WhyAt(r.Err))
	assert.Equal(t, "run web1: "+text, place.Because(ctx, told(session.StatusLost, text)).Err.Error())
	assert.Equal(t, "run web1: other", place.Because(ctx, told(session.StatusCanceled, "other")).Err.Error())
	assert.Nil(t, place.Because(ctx, session.Result{Status: session.StatusCanceled}).Err)

	dialing := told(session.StatusCanceled, "")
	dialing.Err.Err = &sshconn.Error{Host: "web1", Hop: "gate", Addr: "10.0.0.1:22", Err: context.Canceled}
	r = place.Because(ctx, dialing)
	assert.Equal(t, "10.0.0.1:22: through gate: stopped by interrupt", cmdutil.WhyAt(r.Err))
	assert.ErrorIs(t, r.Err, context.Canceled)
}

// A problem of the keeper's has the status, and so the exit code, that a Result with this code has.
func TestACodeOfTheKeepersHasTheStatusOfResults(t *testing.T) {
	for code, status := range map[string]session.Status{
		"unreachable": session.StatusUnreachable, "auth": session.StatusAuth, "become": session.StatusAuth, "hostkey": session.StatusHostKey,
		"timeout": session.StatusTimeout, "lost": session.StatusLost, "canceled": session.StatusCanceled,
		"denied": session.StatusDenied, "rejected": session.StatusDenied, "void": session.StatusDenied, "not_held": session.StatusDenied,
		"quota": session.StatusDenied, "forbidden": session.StatusDenied, "expired": session.StatusExpired, "internal": session.StatusError,
	} {
		r, err := place.Refused(&wire.Problem{Code: code, Detail: "why"}, "h", "true", false)
		require.NoError(t, err, code)
		assert.Equal(t, status, r.Status, code)
	}
}

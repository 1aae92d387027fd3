package place_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestAResultThatWentThroughTheKeeperIsTheSame(t *testing.T) {
	code := 3
	full := session.Result{
		Host: "web1", Session: "s_1", Exec: "e_1", Command: "echo <a>", State: session.Done, Status: session.StatusExit, ExitCode: &code,
		Stdout: []byte("a\xff"), Stderr: []byte("b"), Stray: []byte("c"), Dir: "/srv/\xff", Started: time.Unix(1_700_000_000, 123456789),
		Duration: 12 * time.Millisecond, Queue: time.Millisecond, Dial: 2 * time.Millisecond, StdoutBytes: 100, StderrBytes: 1,
		OmittedStdout: 98, CutStdout: 1, Redacted: map[string]int{"password": 1}, StderrMode: "lines", Lane: "clean", StoppedBy: "INT",
		MayRun: true, ShellRestarted: true, Reconnected: true, Restored: []string{"cwd"},
		Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "r", Reason: "w", Approval: "a_1", Needs: policy.NeedsApproval, Hint: "h"},
	}
	failed := func(err error) session.Result {
		r := session.Result{Host: "web1", State: session.Done, Status: session.StatusUnreachable, Lane: "session"}
		r.Err = &session.Error{Op: "run", Host: "web1", Code: "unreachable", Retriable: true, Exec: "e_2", Err: err}
		return r
	}
	opened := failed(errors.New("x: y"))
	opened.Err.Op, opened.Err.Host = "open", "web2"
	for name, r := range map[string]session.Result{
		"everything": full, "nothing": {}, "an error": failed(errors.New("session: because")),
		"one with an address": failed(&sshconn.Error{Addr: "10.0.0.1:22", Hop: "gate", Err: errors.New("sshconn: refused")}),
		"one of another kind": opened,
	} {
		t.Run(name, func(t *testing.T) {
			end := wire.RunEnd{
				Result: wire.ResultOf(&r, r.Redacted), Sent: r.Err == nil || r.Err.Sent, TookUS: r.Duration.Microseconds(), DialUS: r.Dial.Microseconds(),
			}
			if r.Err != nil {
				end.Why, end.WhyAt = cmdutil.Why(r.Err), cmdutil.WhyAt(r.Err)
			}
			text, err := json.Marshal(end)
			require.NoError(t, err)
			var came wire.RunEnd
			require.NoError(t, json.Unmarshal(text, &came))
			got, err := place.ResultOf(&came)
			require.NoError(t, err)
			want, err := json.Marshal(r)
			require.NoError(t, err)
			have, err := json.Marshal(got)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(have))
			if r.Err != nil {
				assert.Equal(t, cmdutil.Why(r.Err), cmdutil.Why(got.Err))
				assert.Equal(t, cmdutil.WhyAt(r.Err), cmdutil.WhyAt(got.Err))
				assert.Equal(t, r.Err.Sent, got.Err.Sent)
			}
		})
	}
	_, err := place.ResultOf(&wire.RunEnd{Result: &wire.Result{Encoding: "base64", Stdout: "?"}})
	assert.Error(t, err)
}

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
		return session.Result{Status: status, Err: &session.Error{Op: "run", Host: "web1", Err: &cmdutil.ToldError{Message: text, Reason: text, ReasonAt: text}}}
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
}

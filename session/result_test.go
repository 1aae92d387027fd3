package session_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func fullResult() session.Result {
	code := 3
	return session.Result{
		Host: "web1", Session: "s_1", Exec: "e_1", Command: "echo \"ü\"", State: session.Done, Status: session.StatusExit,
		ExitCode: &code, Stdout: []byte("o"), Stderr: []byte("ü"), Stray: []byte("late"), Dir: "/srv",
		Started:  time.Date(2026, 11, 21, 3, 0, 0, 5e6, time.FixedZone("CET", 3600)),
		Duration: 12*time.Millisecond + 900*time.Microsecond, Queue: 2 * time.Second, Dial: 3 * time.Millisecond,
		StdoutBytes: 101, StderrBytes: 2, OmittedStdout: 100, CutStdout: 1, CutStderr: 2,
		StderrMode: "live", Lane: "session", StoppedBy: "shell", MayRun: true,
		ShellRestarted: true, Reconnected: true, Restored: []string{"cwd"},
		Decision: policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "r", Reason: "because", Approval: "a_1"},
		Err:      &session.Error{Op: "run", Host: "web1", Code: "busy", Exec: "e_0", Retriable: true, Err: errors.New("busy")},
	}
}

func TestResultHasOneStableForm(t *testing.T) {
	for name, c := range map[string]struct {
		r    session.Result
		want string
	}{
		"everything": {fullResult(), `{"host":"web1","session":"s_1","exec":"e_1","command":"echo \"ü\"","state":"done",` +
			`"status":"exit","exit_code":3,"signal":"","stdout":"o","stderr":"ü","stray":"late","encoding":"utf-8","cwd":"/srv",` +
			`"started":"2026-11-21T02:00:00.005Z","duration_ms":12,"queue_ms":2000,"dial_ms":3,"duration_ns":12900000,"stdout_bytes":101,` +
			`"stderr_bytes":2,"omitted":{"stderr":0,"stdout":100},"cut_at":{"stdout":1},"redacted":{},"stderr_mode":"live",` +
			`"lane":"session","stopped_by":"shell","may_run":true,"shell_restarted":true,"reconnected":true,"restored":["cwd"],` +
			`"decision":{"verdict":"allow","class":"read-only","rule":"r","reason":"because","approval":"a_1"},` +
			`"error":{"code":"busy","message":"run web1: busy","retriable":true,"exec":"e_0","op":"run","sent":false}}`},
		"nothing": {session.Result{}, `{"host":"","session":"","exec":"","command":"","state":"","status":"","exit_code":null,` +
			`"signal":"","stdout":"","stderr":"","stray":"","encoding":"utf-8","cwd":"","started":"","duration_ms":0,"queue_ms":0,` +
			`"dial_ms":0,"stdout_bytes":0,"stderr_bytes":0,"omitted":{"stderr":0,"stdout":0},"cut_at":{},"redacted":{},` +
			`"stderr_mode":"","lane":"","stopped_by":"","shell_restarted":false,"reconnected":false,"restored":[],` +
			`"decision":{"verdict":"deny","rule":"","reason":"","approval":""},"error":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.r)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}

func TestOneStreamThatIsNoTextTurnsAllToBase64(t *testing.T) {
	for name, spoil := range map[string]func(*session.Result){
		"standard output": func(r *session.Result) { r.Stdout = []byte("\xff") },
		"standard error":  func(r *session.Result) { r.Stderr = []byte("\xff") },
		"stray output":    func(r *session.Result) { r.Stray = []byte("\xff") },
	} {
		t.Run(name, func(t *testing.T) {
			r := fullResult()
			r.Stdout, r.Stderr, r.Stray = []byte("a"), []byte("a"), []byte("a")
			spoil(&r)
			var got struct {
				Stdout, Stderr, Stray []byte // encoding/json reads base64
				Encoding              string
				CWD                   string
				CWDB64                *string `json:"cwd_b64"`
			}
			text, err := json.Marshal(r)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &got))
			assert.Equal(t, "base64", got.Encoding)
			assert.Equal(t, r.Stdout, got.Stdout)
			assert.Equal(t, r.Stderr, got.Stderr)
			assert.Equal(t, r.Stray, got.Stray)
			assert.Equal(t, "/srv", got.CWD)
			assert.Nil(t, got.CWDB64)
		})
	}
}

func TestDirectoryThatIsNoTextIsToldTwice(t *testing.T) {
	r := fullResult()
	r.Dir = "/tmp/\xff"
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"encoding":"utf-8"`)
	assert.Contains(t, string(text), `"cwd_b64":"L3RtcC//"`)
}

func TestResultAsAnErrorForThoseWhoPreferThem(t *testing.T) {
	three, own := 3, &session.Error{Op: "run", Host: "web1", Code: "lost", Err: session.ErrUnknownOutcome}
	assert.NoError(t, session.Result{Status: session.StatusOK}.ExitErr())
	assert.Equal(t, &session.ExitError{Code: 3}, session.Result{Status: session.StatusExit, ExitCode: &three}.ExitErr())
	assert.EqualError(t, session.Result{Status: session.StatusExit, ExitCode: &three}.ExitErr(), "session: exit code 3")
	assert.Equal(t, &session.ExitError{Code: -1, Signal: "KILL"}, session.Result{Status: session.StatusSignal, Signal: "KILL"}.ExitErr())
	assert.EqualError(t, session.Result{Status: session.StatusSignal, Signal: "KILL"}.ExitErr(), "session: the shell was killed by SIGKILL")
	assert.Same(t, own, session.Result{Status: session.StatusLost, Err: own}.ExitErr())
}

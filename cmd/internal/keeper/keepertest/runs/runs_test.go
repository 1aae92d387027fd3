package runs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// why is the error in a few words, as a client shows it.
func why(r *wire.Result) string {
	res, err := r.Result()
	if err != nil {
		return err.Error()
	}
	if res.Err == nil {
		return ""
	}
	return cmdutil.Why(res.Err)
}

func live(w *keepertest.World, c *client.Client, in wire.NewRun) (end *wire.RunEnd, stdout, stderr string) {
	w.T.Helper()
	var out, errOut bytes.Buffer
	end, err := c.RunLive(w.T.Context(), in, client.Live{Stdout: &out, Stderr: &errOut})
	require.NoError(w.T, err)
	return end, out.String(), errOut.String()
}

func TestARunsOutputComesExactAndApart(t *testing.T) {
	w := keepertest.Start(t)
	end, stdout, stderr := live(w, w.Client, wire.NewRun{Host: "here", Command: `printf 'a\r\377\0b'; echo no >&2; exit 3`})
	assert.Equal(t, "a\r\xff\x00b", stdout)
	assert.Equal(t, "no\n", stderr)
	assert.Equal(t, "exit", end.Result.Status)
	assert.Equal(t, 3, *end.Result.ExitCode)
	assert.True(t, keepertest.Sent(end.Result))
	assert.Empty(t, why(end.Result))
	all, err := w.Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all, "its shell was for this alone")
	_, err = w.Look(t.Context(), end.Result.Exec)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err), "what was handed over is not kept")
}

// What JSON would make six times as long goes another way, which nobody sees.
func TestARunsOutputOfControlCharactersComesExact(t *testing.T) {
	w := keepertest.Start(t)
	const script = "head -c 200000 /dev/zero"
	_, stdout, _ := live(w, w.Client, wire.NewRun{Host: "here", Command: script})
	assert.Equal(t, strings.Repeat("\x00", 200000), stdout)
	_, _, text := w.Send("POST", "/v1/runs", `{"id":"r_zeros___","host":"here","command":"`+script+`"}`)
	assert.Contains(t, text, `"encoding":"base64"`)
	assert.NotContains(t, text[:strings.Index(text, "event: end")], `\u0000`)
}

// Flow control holds the command back, and no byte is lost.
func TestARunLosesNothingToASlowReader(t *testing.T) {
	w := keepertest.Start(t)
	const size = 8 << 20
	hash := sha256.New()
	first := true
	slow := writerFunc(func(p []byte) (int, error) {
		if first { // the command runs meanwhile
			first = false
			_, err := w.Health(t.Context())
			require.NoError(t, err)
		}
		return hash.Write(p)
	})
	end, err := w.RunLive(t.Context(), wire.NewRun{Host: "here", Command: "head -c 8388608 /dev/zero | tr '\\0' x"}, client.Live{Stdout: slow, Stderr: io.Discard})
	require.NoError(t, err)
	assert.EqualValues(t, size, end.Result.StdoutBytes)
	want := sha256.New()
	for range size >> 20 {
		io.WriteString(want, strings.Repeat("x", 1<<20))
	}
	assert.Equal(t, want.Sum(nil), hash.Sum(nil))
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestARunInASessionKeepsItsState(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "build")
	end, _, _ := live(w, w.Client, wire.NewRun{Session: "build", Command: "cd /; x=7"})
	assert.Equal(t, "ok", end.Result.Status)
	_, stdout, _ := live(w, w.Client, wire.NewRun{Session: "build", Command: "pwd; echo $x"})
	assert.Equal(t, "/\n7\n", stdout)
	_, stdout, _ = live(w, w.Client, wire.NewRun{Session: "build", CWD: "/usr", Command: "pwd"})
	assert.Equal(t, "/usr\n", stdout)
	end, stdout, stderr := live(w, w.Client, wire.NewRun{Session: "build", CWD: "/nope", Command: "echo ran"})
	assert.Equal(t, "exit", end.Result.Status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "/nope")
	r, err := w.Look(t.Context(), end.Result.Exec)
	require.NoError(t, err, "what ran in a session can be looked at again")
	assert.Equal(t, stderr, r.Stderr)
}

func TestTheEndOfTheCallersContextStopsARunAndTellsHow(t *testing.T) {
	w := keepertest.Start(t)
	for name, in := range map[string]wire.NewRun{"on a host": {Host: "here"}, "in a session": {Session: "s"}} {
		t.Run(name, func(t *testing.T) {
			if in.Session != "" {
				w.OpenSession("here", in.Session)
			}
			ctx, cancel := context.WithCancel(t.Context())
			in.Command = "sh -c 'echo begun; sleep 1000'" // the shell itself would go on from an interrupt between the two
			begun := writerFunc(func(p []byte) (int, error) {
				cancel()
				return len(p), nil
			})
			end, err := w.RunLive(ctx, in, client.Live{Stdout: begun, Stderr: io.Discard})
			require.NoError(t, err)
			assert.Equal(t, "canceled", end.Result.Status)
			assert.Contains(t, []string{"INT", "TERM"}, end.Result.StoppedBy, "a ^C between two programs ends neither")
			assert.True(t, keepertest.Sent(end.Result))
		})
	}
	_, stdout, _ := live(w, w.Client, wire.NewRun{Session: "s", Command: "echo alive"})
	assert.Equal(t, "alive\n", stdout)
}

func TestARunEndsWithItsCaller(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "s")
	gone := io.ErrClosedPipe
	_, err := w.RunLive(t.Context(), wire.NewRun{Session: "s", Command: "echo begun; sleep 1000"}, client.Live{
		Stdout: writerFunc(func([]byte) (int, error) { return 0, gone }), Stderr: io.Discard,
	})
	require.ErrorIs(t, err, gone)
	s, err := w.Session(t.Context(), "s")
	require.NoError(t, err)
	r, err := w.Wait(t.Context(), s.Last)
	require.NoError(t, err)
	assert.Equal(t, "canceled", r.Status)
}

func TestARunThatCannotBeginSaysWhy(t *testing.T) {
	w := keepertest.Start(t)
	agent := w.As("agent/a")
	for name, tt := range map[string]struct {
		c    *client.Client
		in   wire.NewRun
		code string
	}{
		"no host and no session": {w.Client, wire.NewRun{Command: "true"}, "invalid"},
		"both":                   {w.Client, wire.NewRun{Host: "here", Session: "s", Command: "true"}, "invalid"},
		"a host that is not":     {w.Client, wire.NewRun{Host: "nowhere", Command: "true"}, "not_found"},
		"a session that is not":  {w.Client, wire.NewRun{Session: "nothing", Command: "true"}, "not_found"},
		"an agent that confirms": {agent, wire.NewRun{Host: "here", Command: "true", Confirm: true}, "forbidden"},
		"another host's glass":   {w.Client, wire.NewRun{Host: "here", Command: "true", BreakGlass: "there", Reason: "x"}, "invalid"},
		"no time at all":         {w.Client, wire.NewRun{Host: "here", Command: "true", TimeoutS: new(float64)}, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.c.RunLive(t.Context(), tt.in, client.Live{Stdout: io.Discard, Stderr: io.Discard})
			assert.Equal(t, tt.code, keepertest.CodeOf(t, err))
		})
	}
	end, _, _ := live(w, w.Client, wire.NewRun{Host: "there", Command: "systemctl --version stop x"})
	assert.Equal(t, "denied", end.Result.Status)
	assert.Contains(t, why(end.Result), "it needs a confirmation")
	assert.False(t, keepertest.Sent(end.Result))
	end, _, _ = live(w, w.Client, wire.NewRun{Host: "there", Command: "systemctl --version stop x || true", Confirm: true})
	assert.Equal(t, "ok", end.Result.Status)
	assert.Equal(t, "confirmation: given with the request", end.Result.Decision.Approval)
}

func TestASecondCommandInABusySessionIsToldSo(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "s")
	first, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	end, _, _ := live(w, w.Client, wire.NewRun{Session: "s", Command: "true"})
	assert.Equal(t, "error", end.Result.Status)
	assert.Equal(t, "busy", end.Result.Error.Code)
	assert.Equal(t, first.Exec, end.Result.Error.Exec)
	_, err = w.StopExec(t.Context(), first.Exec)
	require.NoError(t, err)
}

func TestAnAgentsRunWaitsForItsApproval(t *testing.T) {
	w := keepertest.Start(t)
	var once bool
	end, err := w.As("agent/a").RunLive(t.Context(), wire.NewRun{Host: "there", Command: "touch /tmp"}, client.Live{
		Stdout: io.Discard, Stderr: io.Discard,
		Waiting: func() {
			once = true
			var asks []wire.Approval
			for len(asks) == 0 { // the question is on its way
				var err error
				asks, err = w.Approvals(t.Context())
				require.NoError(t, err)
			}
			d, err := w.Approval(t.Context(), asks[0].ID)
			require.NoError(t, err)
			require.NoError(t, w.Answer(t.Context(), d.ID, true, wire.Answer{Digest: d.Digest}))
		},
	})
	require.NoError(t, err)
	assert.True(t, once)
	assert.Equal(t, "ok", end.Result.Status)
}

func TestTheKeepersEndIsARunsEnd(t *testing.T) {
	w := keepertest.Start(t)
	begun := make(chan struct{}, 16)
	answered := make(chan *wire.RunEnd, 1)
	go func() {
		end, _ := w.RunLive(context.Background(), wire.NewRun{Host: "here", Command: "echo begun; sleep 1000"}, client.Live{
			Stdout: writerFunc(func(p []byte) (int, error) { begun <- struct{}{}; return len(p), nil }), Stderr: io.Discard,
		})
		answered <- end
	}()
	<-begun
	require.NoError(t, w.StopServing())
	end := <-answered
	require.NotNil(t, end)
	assert.Contains(t, []string{"canceled", "lost"}, end.Result.Status)
}

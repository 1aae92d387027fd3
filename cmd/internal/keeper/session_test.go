package keeper_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestASessionKeepsItsStateFromCallToCall(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	assert.Equal(t, "here", s.Host)
	assert.Equal(t, "operator/ada", s.Owner)
	w.RunIn(w.Client, "work", "cd /tmp; X=kept")
	r := w.RunIn(w.Client, s.ID, `printf '%s' "$X"; printf e >&2; exit 3`)
	assert.Equal(t, "kept", r.Stdout)
	assert.Equal(t, "e", r.Stderr)
	assert.Equal(t, "/tmp", r.CWD)
	assert.Equal(t, "exit", r.Status)
	require.NotNil(t, r.ExitCode)
	assert.Equal(t, 3, *r.ExitCode)

	list, err := w.Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "work", list[0].Name)
	assert.Equal(t, r.Exec, list[0].Last)

	again, err := w.Look(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, r, again, "a later look gives the whole result again")

	_, err = w.Reset(t.Context(), "work")
	require.NoError(t, err)
	r = w.RunIn(w.Client, "work", `printf '%s' "${X-gone}"; pwd`)
	assert.Equal(t, "gone/tmp\n", r.Stdout)
	require.NoError(t, w.CloseSession(t.Context(), "work"))
	_, err = w.Session(t.Context(), s.ID)
	assert.Equal(t, "closed", keepertest.CodeOf(t, err))
	_, err = w.Session(t.Context(), "nobody")
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
}

func TestTheEndOfASessionTellsWhatItLeaves(t *testing.T) {
	w := keepertest.Start(t)
	begun := filepath.Join(t.TempDir(), "begun")
	const keep = "mkfifo %[1]s; nohup sh -c 'echo >%[1]s; exec sleep 1000' >/dev/null 2>&1 & read x <%[1]s; echo $!"
	w.OpenSession("here", "work")
	pid, err := strconv.Atoi(strings.TrimSpace(w.RunIn(w.Client, "work", fmt.Sprintf("sleep 1000 & "+keep, begun)).Stdout))
	require.NoError(t, err)
	status, _, text := w.Send("DELETE", "/v1/sessions/work", "")
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it was to stay")
	assert.Equal(t, http.StatusOK, status)
	assert.Regexp(t, fmt.Sprintf(`^{"left":\[{"pid":%d,"name":"(sh|sleep)"}\]}\s*$`, pid), text)

	w.OpenSession("here", "work")
	status, _, text = w.Send("DELETE", "/v1/sessions/work", "")
	assert.Equal(t, http.StatusNoContent, status)
	assert.Empty(t, text)
}

// A session's shell stays where it is, as who it is, whatever the inventory says later: what it says then is not run there.
func TestASessionRunsNothingMoreWhereTheInventorySaysSomethingElseOfItsHost(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "work")
	w.RunIn(w.Client, "work", "X=kept")
	changed := func(entry, want string) {
		rewrite(w, strings.Replace(keepertest.Here, "tier: dev", entry, 1))
		if want == "" {
			assert.Equal(t, "kept", w.RunIn(w.Client, "work", `printf %s "$X"`).Stdout, entry)
			return
		}
		_, err := w.Client.Run(t.Context(), "work", wire.Run{Command: "touch made"}, "")
		require.Equal(t, "changed", keepertest.CodeOf(t, err), entry)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "fairlead sessions close work")
	}
	changed("tier: prod", "tier: dev, now prod")
	changed(`tier: dev, labels: ["role=web"], env: ["A=1"]`, "")
	changed("tier: dev, become: {user: bob}", "become: not set, now bob")
	rewrite(w, keepertest.Here)
	assert.Equal(t, "kept", w.RunIn(w.Client, "work", `printf %s "$X"; test ! -e made`).Stdout)
}

func TestTheResultIsTheStableFormat(t *testing.T) {
	code := 0
	r := session.Result{
		Host: "h", State: session.Done, Status: session.StatusOK, ExitCode: &code, Stdout: []byte("a\xff"), Stderr: []byte("b"), Dir: "/\xff",
		Started: time.Unix(1, 5), OmittedStdout: 1, CutStdout: 7, Err: &session.Error{Op: "run", Code: "lost", Err: errors.New("x")},
	}
	want, err := json.Marshal(r)
	require.NoError(t, err)
	got, err := json.Marshal(wire.ResultOf(&r, nil))
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
}

func TestACommandThatTakesLongerIsAHandle(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	fifo := filepath.Join(w.Dir, "fifo")
	w.RunIn(w.Client, s.ID, "mkfifo "+fifo)
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "cat " + fifo}, "")
	require.NoError(t, err)
	assert.Equal(t, "running", r.State)

	_, err = w.Start(t.Context(), s.ID, wire.Run{Command: "true"}, "")
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "busy", p.Code)
	assert.Equal(t, r.Exec, p.Exec)
	assert.Equal(t, http.StatusConflict, p.Status)

	require.NoError(t, os.WriteFile(fifo, []byte("through"), 0o600))
	r, err = w.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "through", r.Stdout)

	r, err = w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	r, err = w.StopExec(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "canceled", r.Status)
	assert.NotEmpty(t, r.StoppedBy)
}

func TestRunStopsItsCommandWhenItsCallerGivesUp(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mark := filepath.Join(w.Dir, "runs")
	w.RunIn(w.Client, s.ID, "mkfifo "+mark)
	done := make(chan *wire.Result, 1)
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "echo on > " + mark + "; sleep 1000"}, "key-1")
	require.NoError(t, err)
	_, err = os.ReadFile(mark)
	require.NoError(t, err)
	go func() {
		got, _ := w.Run(ctx, s.ID, wire.Run{Command: "echo on > " + mark + "; sleep 1000"}, "key-1")
		done <- got
	}()
	cancel()
	<-done // it was too early to know which command was meant, or that one was stopped
	r, err = w.StopExec(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "canceled", r.Status)
}

func TestARequestThatIsSentTwiceRunsOnce(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	log := filepath.Join(w.Dir, "log")
	cmd := wire.Run{Command: "echo once >> " + log}
	one, err := w.Run(t.Context(), s.ID, cmd, "k1")
	require.NoError(t, err)
	two, err := w.Run(t.Context(), s.ID, cmd, "k1")
	require.NoError(t, err)
	assert.Equal(t, one.Exec, two.Exec)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "once\n", string(text))
	_, err = w.Run(t.Context(), s.ID, wire.Run{Command: "true"}, "k1")
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
}

func TestOutputIsPagedAndStreamedExactly(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	const script = `i=0; while [ $i -lt 3000 ]; do echo "line $i of many that make a long output, longer than what is shown"; i=$((i+1)); done; printf '\377\000' ; printf warn >&2`
	r := w.RunIn(w.Client, s.ID, script)
	assert.Positive(t, r.Omitted["stdout"])
	assert.Equal(t, "base64", r.Encoding)
	var want bytes.Buffer
	for off, end := int64(0), false; !end; {
		p, err := w.Page(t.Context(), r.Exec, "stdout", off, 10000, 0)
		require.NoError(t, err)
		data, err := wire.Decode(p.Encoding, p.Data)
		require.NoError(t, err)
		require.NotEmpty(t, data)
		want.Write(data)
		off, end = p.Next, p.End
	}
	assert.EqualValues(t, r.StdoutBytes, want.Len())
	assert.True(t, strings.HasSuffix(want.String(), "\xff\x00"))

	var stdout, stderr bytes.Buffer
	res, err := w.Stream(t.Context(), r.Exec, &stdout, &stderr)
	require.NoError(t, err)
	assert.Equal(t, want.Bytes(), stdout.Bytes())
	assert.Equal(t, "warn", stderr.String())
	assert.Equal(t, "ok", res.Status)
}

func TestAStreamShowsBothOutputsWhileTheCommandRuns(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	gate := filepath.Join(w.Dir, "gate")
	w.RunIn(w.Client, s.ID, "mkfifo "+gate)
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "echo first >&2; cat " + gate + "; echo last >&2"}, "")
	require.NoError(t, err)
	pr, pw := io.Pipe()
	defer pr.Close()
	over := make(chan error, 1)
	var stdout bytes.Buffer
	go func() {
		_, err := w.Stream(t.Context(), r.Exec, &stdout, pw)
		over <- err
		pw.Close()
	}()
	b := make([]byte, 6)
	_, err = io.ReadFull(pr, b)
	require.NoError(t, err)
	assert.Equal(t, "first\n", string(b), "standard error comes while standard output is silent")
	require.NoError(t, os.WriteFile(gate, []byte("middle\n"), 0o600))
	rest, err := io.ReadAll(pr)
	require.NoError(t, err)
	assert.Equal(t, "last\n", string(rest))
	require.NoError(t, <-over)
	assert.Equal(t, "middle\n", stdout.String())
}

func TestAStreamGoesOnAfterTheLastEventThatCame(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r := w.RunIn(w.Client, s.ID, "printf abcdef; printf xyz >&2")
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://keeper/v1/execs/"+r.Exec+"/stream", nil)
	require.NoError(t, err)
	req.Header.Set("Last-Event-ID", "4-3")
	resp, err := w.HTTP().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	assert.Contains(t, string(body), `"offset":4,"encoding":"utf-8","data":"ef"`)
	assert.NotContains(t, string(body), `"data":"xyz"`)
	for _, bad := range []string{"4", "a-b", "-1-2", "4-3-2", "99999999999999999999-0", "7-3", "6-4", "9000-0"} {
		req.Header.Set("Last-Event-ID", bad)
		resp, err := w.HTTP().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusBadRequest, resp.StatusCode, bad)
	}
}

func TestAStreamThatIsPastTheOutputIsRefusedWhileTheCommandRuns(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	gate := filepath.Join(w.Dir, "gate")
	w.RunIn(w.Client, s.ID, "mkfifo "+gate)
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "printf abc; cat " + gate}, "")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := w.Look(t.Context(), r.Exec)
		return err == nil && now.Stdout == "abc"
	}, 10*time.Second, 5*time.Millisecond)
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://keeper/v1/execs/"+r.Exec+"/stream", nil)
	require.NoError(t, err)
	req.Header.Set("Last-Event-ID", "8-0")
	resp, err := w.HTTP().Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.NoError(t, os.WriteFile(gate, []byte("defghijkl\n"), 0o600))
	var b strings.Builder
	_, err = w.Stream(t.Context(), r.Exec, &b, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "abcdefghijkl\n", b.String())
}

func TestAnInteractiveCommandIsTypedAt(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	wait := 30.0
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: `printf 'name? '; read n; echo "hello $n"`, Interactive: true}, "")
	require.NoError(t, err)
	r, err = w.Input(t.Context(), r.Exec, wire.Input{WaitFor: `name\?`, WaitS: &wait})
	require.NoError(t, err)
	if !strings.Contains(r.Stdout, "name?") { // it had come before
		t.Log("the prompt was there already")
	}
	_, err = w.Input(t.Context(), r.Exec, wire.Input{Text: "ada", Keys: []string{"Enter"}})
	require.NoError(t, err)
	r, err = w.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Contains(t, r.Stdout, "hello ada")
	_, err = w.Input(t.Context(), r.Exec, wire.Input{Text: "x"})
	assert.Equal(t, "not_running", keepertest.CodeOf(t, err))
}

func TestEverythingIsOnTheRecordAndOnlyReadThere(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r := w.RunIn(w.Client, s.ID, "touch "+filepath.Join(w.Dir, "made"))
	resp, err := w.HTTP().Get("http://localhost/v1/audit?n=1000")
	require.NoError(t, err)
	defer resp.Body.Close()
	var tail struct{ Items []audit.Event }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&tail))
	kinds := map[audit.Kind]audit.Event{}
	for _, e := range tail.Items {
		if e.ID == r.Exec {
			kinds[e.Kind] = e
		}
	}
	require.Contains(t, kinds, audit.CommandRequest)
	require.Contains(t, kinds, audit.CommandResult)
	e := kinds[audit.CommandRequest]
	assert.Equal(t, "operator/ada", e.Principal)
	assert.Equal(t, "shared-uid", e.Separation)
	require.NotNil(t, e.UID)
	assert.Equal(t, os.Getuid(), *e.UID)
	resp, err = w.HTTP().Get("http://localhost/v1/audit/verify")
	require.NoError(t, err)
	defer resp.Body.Close()
	var v wire.Verified
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&v))
	assert.True(t, v.OK)
	assert.Positive(t, v.Records)
}

func TestAShellThatNoSessionCanHaveIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	for _, shell := range []string{"fish", "/bin/sh", "sh; touch x"} {
		_, err := w.Open(t.Context(), wire.Open{Host: "here", Shell: shell})
		assert.Equal(t, "invalid", keepertest.CodeOf(t, err), shell)
	}
	s, err := w.Open(t.Context(), wire.Open{Host: "here", Shell: "sh"})
	require.NoError(t, err)
	assert.Equal(t, "sh", s.Shell)
}

package keeper_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// watching is somebody who watches a session or a terminal.
type watching struct {
	t    *testing.T
	stop func()
	sc   *bufio.Scanner
	all  strings.Builder // what came, as it came
}

// seen is an event.
type seen struct {
	kind string
	data []byte
}

func watch(w *keepertest.World, id string) *watching {
	w.T.Helper()
	ctx, stop := context.WithTimeout(w.T.Context(), keepertest.TerminalTime)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/v1/watch/"+url.PathEscape(id)+"/stream", nil)
	require.NoError(w.T, err)
	resp, err := w.HTTP().Do(req)
	require.NoError(w.T, err)
	w.T.Cleanup(func() { stop(); resp.Body.Close() })
	require.Equal(w.T, http.StatusOK, resp.StatusCode)
	assert.Equal(w.T, "text/event-stream", resp.Header.Get("Content-Type"))
	sc := bufio.NewScanner(resp.Body)
	sc.Buffer(nil, 16<<20)
	return &watching{t: w.T.(*testing.T), stop: stop, sc: sc}
}

// next is the next event; its kind is empty at the end.
func (c *watching) next() (e seen) {
	c.t.Helper()
	for c.sc.Scan() {
		line := c.sc.Text()
		c.all.WriteString(line + "\n")
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			e.kind = kind
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.data = []byte(data)
		}
		if line == "" && e.kind != "" {
			return e
		}
	}
	return seen{}
}

// expect returns the next event, which is of that kind.
func expect[T any](c *watching, kind string) (v T) {
	c.t.Helper()
	e := c.next()
	require.Equal(c.t, kind, e.kind, "%s", e.data)
	require.NoError(c.t, json.Unmarshal(e.data, &v))
	return v
}

// prints reads output until it holds text, and returns all of it.
func (c *watching) prints(text string) string {
	c.t.Helper()
	var all strings.Builder
	for !strings.Contains(all.String(), text) {
		e := c.next()
		if e.kind == "resize" {
			continue
		}
		require.Equal(c.t, "output", e.kind, "%q is not in %q", text, all.String())
		all.Write(c.decode(e))
	}
	return all.String()
}

func (c *watching) decode(e seen) []byte {
	c.t.Helper()
	var out wire.WatchOutput
	require.NoError(c.t, json.Unmarshal(e.data, &out))
	data, err := wire.Decode(out.Encoding, out.Data)
	require.NoError(c.t, err)
	return data
}

// printed reads output until the result, and returns both.
func (c *watching) printed() (stdout string, skipped int64, end wire.WatchResult) {
	c.t.Helper()
	var all strings.Builder
	for {
		e := c.next()
		if e.kind == "result" {
			require.NoError(c.t, json.Unmarshal(e.data, &end))
			return all.String(), skipped, end
		}
		require.Equal(c.t, "output", e.kind)
		var out wire.WatchOutput
		require.NoError(c.t, json.Unmarshal(e.data, &out))
		assert.NotEmpty(c.t, out.Exec)
		skipped += out.Skipped
		all.Write(c.decode(e))
	}
}

func TestASessionIsFollowedFromCommandToCommandUntilItIsClosed(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	w.RunIn(w.Client, s.ID, "echo long ago")
	w.RunIn(w.Client, s.ID, "cd /; echo last")
	c := watch(w, s.ID)
	first := expect[wire.Watched](c, "session")
	assert.Equal(t, wire.Watched{ID: s.ID, Kind: "session", Name: "work", Host: "here", Owner: "operator/ada", CWD: "/", Opened: s.Opened}, first)
	cmd := expect[wire.WatchCommand](c, "command")
	assert.Equal(t, "cd /; echo last", cmd.Command, "the last one, and not those before")
	assert.Equal(t, s.CWD, cmd.CWD)
	out, _, end := c.printed()
	assert.Equal(t, "last\n", out)
	assert.Equal(t, "ok", end.Status)
	assert.Equal(t, "/", end.CWD)
	assert.Equal(t, cmd.Exec, end.Exec)

	for _, tt := range []struct {
		script, out, status string
	}{{"echo one; echo two >&2", "one\ntwo\n", "ok"}, {"exit 3", "", "exit"}, {"printf 'a\\377b'", "a\xffb", "ok"}, {"pwd", "/\n", "ok"}} {
		r := w.RunIn(w.Client, s.ID, tt.script)
		cmd := expect[wire.WatchCommand](c, "command")
		assert.Equal(t, r.Exec, cmd.Exec)
		assert.Equal(t, tt.script, cmd.Command)
		assert.False(t, cmd.Interactive)
		out, _, end := c.printed()
		assert.ElementsMatch(t, strings.SplitAfter(tt.out, "\n"), strings.SplitAfter(out, "\n"))
		assert.Equal(t, tt.status, end.Status)
	}
	for range 20 { // faster than anybody reads
		w.RunIn(w.Client, s.ID, "true")
	}
	for range 20 {
		assert.Equal(t, "true", expect[wire.WatchCommand](c, "command").Command)
		c.printed()
	}
	require.NoError(t, w.CloseSession(t.Context(), s.ID))
	expect[wire.WatchClosed](c, "closed")
	assert.Empty(t, c.next().kind, "that was all")
}

func TestARunningCommandIsWatchedAndEndsWithItsSession(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r := w.Begin(s.ID, wire.Run{Command: "printf 'are you there? '; cat", Interactive: true, Rows: 7, Cols: 70})
	assert.Equal(t, r.Exec, w.Watched()[0].Exec)
	assert.NotEmpty(t, w.Watched()[0].Command)
	c := watch(w, s.ID)
	expect[wire.Watched](c, "session")
	cmd := expect[wire.WatchCommand](c, "command")
	assert.True(t, cmd.Interactive)
	assert.Equal(t, [2]int{7, 70}, [2]int{cmd.Rows, cmd.Cols})
	assert.Equal(t, "are you there? ", c.prints("? "), "what is not a whole line is shown too")
	_, err := w.Input(t.Context(), r.Exec, wire.Input{Text: "yes\n"})
	require.NoError(t, err)
	c.prints("yes\r\nyes\r\n")
	require.NoError(t, w.CloseSession(t.Context(), s.ID))
	_, _, end := c.printed()
	assert.NotEqual(t, "ok", end.Status)
	expect[wire.WatchClosed](c, "closed")
}

// An operator's own output is exact. Whoever watches gets it without its secrets, however it is cut.
func TestNoWatcherSeesSecrets(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "hunter2hunter2")
	const secret = "hunter2hunter2"
	fifo := filepath.Join(w.Dir, "fifo")
	w.RunIn(w.Client, s.ID, "mkfifo "+fifo+"; mkdir /tmp/"+secret+"; cd /tmp/"+secret)
	t.Cleanup(func() { os.Remove("/tmp/" + secret) })
	w.Begin(s.ID, wire.Run{
		Command: "PGPASSWORD=" + secret + "; printf 'begins hunt'; cat " + fifo + "; printf 'er2hunter2 goes on\\n'; printf 'x%.0s' $(seq 300000); printf '" + secret + " and é %s' ghp_" + strings.Repeat("a1", 18),
	})
	c := watch(w, s.ID)
	assert.NotContains(t, w.Watched()[0].CWD+w.Watched()[0].Name, secret)
	expect[wire.Watched](c, "session")
	expect[wire.WatchCommand](c, "command")
	out := c.prints("begins ")
	require.NoError(t, os.WriteFile(fifo, nil, 0o600), "the command goes on")
	rest, skipped, _ := c.printed()
	out += rest
	assert.Zero(t, skipped)
	assert.Contains(t, out, "» goes on\n")
	assert.Contains(t, out, "» and é «redacted:github-token:")
	assert.Contains(t, c.all.String(), "redacted:password")
	assert.NotContains(t, c.all.String(), secret)
	assert.NotContains(t, out, "hunt")
	assert.NotContains(t, out, "er2")
}

func TestOfMuchOutputTheLastIsShown(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "yes 0123456789ééé | head -c 8500000; echo; echo end")
	c := watch(w, s.ID)
	expect[wire.Watched](c, "session")
	expect[wire.WatchCommand](c, "command")
	out, skipped, end := c.printed()
	assert.Equal(t, "ok", end.Status)
	assert.EqualValues(t, 8500005, skipped+int64(len(out)))
	assert.InDelta(t, 1<<20, len(out), 10)
	assert.True(t, strings.HasSuffix(out, "\nend\n"))
	assert.NotContains(t, c.all.String(), "base64", "no character was cut")
}

// Nobody who takes nothing keeps a session from going on.
func TestASlowWatcherHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	c := watch(w, s.ID)
	expect[wire.Watched](c, "session")
	w.RunIn(w.Client, s.ID, "yes | head -c 80000000; echo; echo end") // more than is kept
	w.RunIn(w.Client, s.ID, "echo after")
	expect[wire.WatchCommand](c, "command")
	out, skipped, end := c.printed()
	assert.Equal(t, "ok", end.Status)
	assert.EqualValues(t, 80000005, skipped+int64(len(out)))
	assert.True(t, strings.HasSuffix(out, "\nend\n"))
	assert.Equal(t, "echo after", expect[wire.WatchCommand](c, "command").Command)
}

func TestEverybodysSessionsCanBeWatchedByPeopleAlone(t *testing.T) {
	r := keepertest.StartTCP(t, keepertest.WithRecordings(t))
	s, err := r.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Name: "its"})
	require.NoError(t, err)
	mine := r.OpenSession("there", "mine")
	items := r.Watched()
	require.Len(t, items, 2)
	assert.Equal(t, []string{"agent/claude", "operator/ada"}, []string{items[0].Owner, items[1].Owner})
	assert.Equal(t, []string{s.ID, mine.ID}, []string{items[0].ID, items[1].ID})
	c := watch(r.World, s.ID)
	assert.Equal(t, "agent/claude", expect[wire.Watched](c, "session").Owner)
	r.RunIn(r.As("agent/claude"), s.ID, "echo hello")
	expect[wire.WatchCommand](c, "command")
	out, _, _ := c.printed()
	assert.Equal(t, "hello\n", out)

	for _, role := range []string{"viewer", "operator", "approver", "admin"} {
		status, _ := r.Over("GET", "/v1/watch", r.Token("operator/bob", role), "")
		assert.Equal(t, http.StatusOK, status, role)
	}
	for _, path := range []string{"/v1/watch", "/v1/watch/" + s.ID + "/stream", "/v1/recordings", "/v1/audit/search"} {
		status, p, _ := r.Send("GET", path, "", wire.Principal, "agent/claude")
		assert.Equal(t, http.StatusForbidden, status, "%s: its own session, too", path)
		assert.Equal(t, "forbidden", p.Code)
	}
	for _, id := range []string{"its", "none", "..", "%2e%2e%2f", "%00", strings.Repeat("x", 80)} {
		status, _, _ := r.Send("GET", "/v1/watch/"+id+"/stream", "")
		assert.Contains(t, []int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect}, status, "%q is not an id", id)
	}
}

func TestATerminalIsWatchedFromItsBeginning(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	term := w.Terminal("host=here&rows=30&cols=100")
	term.Line(`echo "=$((40+2))="`)
	term.See("=42=")
	items := w.Watched()
	require.Len(t, items, 1)
	assert.Equal(t, "terminal", items[0].Kind)
	assert.Equal(t, "operator/ada", items[0].Owner)
	assert.Equal(t, "here", items[0].Host)
	assert.Equal(t, items[0].ID, items[0].Recording)

	c := watch(w, items[0].ID)
	assert.Equal(t, items[0], expect[wire.Watched](c, "session"))
	assert.Equal(t, wire.TerminalSize{Rows: 30, Cols: 100}, expect[wire.TerminalSize](c, "resize"))
	c.prints("=42=")
	term.Send(1, `{"resize":{"rows":33,"cols":111}}`)
	for {
		if e := c.next(); e.kind == "resize" {
			assert.JSONEq(t, `{"rows":33,"cols":111}`, string(e.data))
			break
		}
	}
	term.Line(`echo "token=abcdefgh"ijklmnop; printf 'no line'`)
	assert.NotContains(t, c.prints("no line"), "abcdefghijklmnop")
	term.Line("exit")
	term.See("")
	for e := c.next(); e.kind != "closed"; e = c.next() {
		require.Equal(t, "output", e.kind)
	}
	assert.NotContains(t, c.all.String(), "abcdefghijklmnop")
	require.Eventually(t, func() bool { return len(w.Watched()) == 0 }, keepertest.TerminalTime, 10*time.Millisecond)
}

func TestATerminalThatIsNotRecordedIsListedAndNotWatched(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	term := w.Terminal("host=here&record=none")
	term.Line(`echo "=$((40+2))="`)
	term.See("=42=")
	items := w.Watched()
	require.Len(t, items, 1)
	assert.Empty(t, items[0].Recording)
	status, p, _ := w.Send("GET", "/v1/watch/"+items[0].ID+"/stream", "")
	assert.Equal(t, http.StatusConflict, status)
	assert.Equal(t, "recording", p.Code)
	assert.Contains(t, p.Detail, "not recorded")
}

// What is left of them goleak would find.
func TestWatchersGoAsTheyCome(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	s := w.OpenSession("here", "")
	term := w.Terminal("host=here")
	term.Line(`echo "=$((40+2))="`)
	term.See("=42=")
	w.Begin(s.ID, wire.Run{Command: "echo; cat /dev/zero"})
	for _, id := range []string{s.ID, w.Watched()[1].ID} {
		for range 3 {
			c := watch(w, id)
			expect[wire.Watched](c, "session")
			c.next()
			c.stop()
		}
	}
	c := watch(w, w.Watched()[1].ID)
	expect[wire.Watched](c, "session")
	stopped := make(chan error, 1)
	go func() { stopped <- w.StopServing() }()
	term.See("")
	require.NoError(t, <-stopped, "nor do they keep the keeper from ending")
	for c.next().kind != "" {
	}
}

func TestAListTellsHowALongCommandBeginsAndAWatcherAllOfIt(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "long")
	long := "sleep 1000 # " + strings.Repeat("é", 1000) + strings.Repeat("\n", 50_000)
	w.Begin(s.ID, wire.Run{Command: long})
	told := w.Watched()[0].Command
	assert.LessOrEqual(t, len(told), 256)
	assert.True(t, utf8.ValidString(told), "%q", told)
	begins, cut := strings.CutSuffix(told, "…")
	assert.True(t, cut)
	assert.True(t, strings.HasPrefix(long, begins))
	assert.Greater(t, len(begins), 240)
	c := watch(w, s.ID)
	assert.Equal(t, told, expect[wire.Watched](c, "session").Command)
	assert.Equal(t, long, expect[wire.WatchCommand](c, "command").Command)
}

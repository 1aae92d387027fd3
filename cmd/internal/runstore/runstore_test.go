package runstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/session"
)

func begin(t *testing.T, s runstore.Store, r runstore.Run) *runstore.Writer {
	t.Helper()
	w, err := s.Begin(r)
	require.NoError(t, err)
	return w
}

func id(n int) string { return fmt.Sprintf("r_test%05d", n) }

func TestARunIsKept(t *testing.T) {
	s := runstore.Store{Dir: filepath.Join(t.TempDir(), "runs")}
	none, err := s.List("operator/x")
	require.NoError(t, err)
	assert.Empty(t, none)

	w := begin(t, s, runstore.Run{ID: id(1), Principal: "operator/x", Started: time.Now(), Hosts: []runstore.Host{{Name: "a"}, {Name: "b"}, {Name: "u@c:1", Label: "c"}, {Name: "d"}}, Command: "id"})
	r, err := s.Get("operator/x", id(1))
	require.NoError(t, err)
	assert.Equal(t, "running", r.State)
	three := 3
	w.End("a", session.Result{Status: session.StatusExit, ExitCode: &three}, false)
	w.End("b", session.Result{Status: session.StatusOK}, false)
	w.End("b", session.Result{Status: session.StatusTimeout}, true)
	w.End("c", session.Result{Status: session.StatusUnreachable, Err: &session.Error{Op: "run", Host: "c", Err: errors.New("refused")}}, false)
	w.End("d", session.Result{Status: session.StatusCanceled, Err: &session.Error{Err: errors.New("not started")}}, false)
	require.NoError(t, w.Close(runstore.Finish{Ended: time.Now(), ExitCode: 4}))

	r, err = s.Get("operator/x", id(1))
	require.NoError(t, err)
	assert.Equal(t, "done", r.State)
	assert.Equal(t, 4, r.Finish.ExitCode)
	assert.Equal(t, "refused", r.Ends[3].Why)
	for which, want := range map[string]string{"failed": "a b u@c:1", "unreachable": "u@c:1", "notrun": "d", "all": "a b u@c:1 d"} {
		picked, err := r.Pick(which)
		require.NoError(t, err)
		var names []string
		for _, h := range picked {
			names = append(names, h.Name)
		}
		assert.Equal(t, want, strings.Join(names, " "), which)
	}
	_, err = r.Pick("some")
	require.Error(t, err)
	require.Error(t, r.Stop(), "it does not run")
}

func pick(t *testing.T, r *runstore.Record, which string) string {
	t.Helper()
	picked, err := r.Pick(which)
	require.NoError(t, err)
	var names []string
	for _, h := range picked {
		names = append(names, h.Name)
	}
	return strings.Join(names, " ")
}

func TestAHostOfALostRunOfWhichNothingIsKnownCountsAsFailed(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	w := begin(t, s, runstore.Run{ID: id(1), Principal: "p", Hosts: []runstore.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}}})
	w.End("a", session.Result{Status: session.StatusOK}, false)
	w.End("b", session.Result{Status: session.StatusCanceled, Err: &session.Error{Err: errors.New("not run")}}, false)
	r, err := s.Get("p", id(1))
	require.NoError(t, err)
	require.Equal(t, "running", r.State)
	assert.Empty(t, pick(t, r, runstore.Failed), "c may end well")
	r.State = "lost"
	assert.Equal(t, "c", pick(t, r, runstore.Failed))
	assert.Equal(t, "b", pick(t, r, runstore.NotRun), "the command may have run on c")
}

func TestACheckThatDidNotRunLeavesTheEndOfTheCommand(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	w := begin(t, s, runstore.Run{ID: id(1), Principal: "p", Hosts: []runstore.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}, Verify: "check"})
	for _, h := range []string{"a", "b", "c", "d"} {
		w.End(h, session.Result{Status: session.StatusOK}, false)
	}
	w.End("e", session.Result{Status: session.StatusTimeout}, false)
	w.End("a", session.Result{Status: session.StatusOK}, true)
	w.End("b", session.Result{Status: session.StatusCanceled, Err: &session.Error{Err: errors.New("not run")}}, true)
	w.End("c", session.Result{Status: session.StatusCanceled, Err: &session.Error{Err: errors.New("interrupt"), Sent: true}}, true)
	require.NoError(t, w.Close(runstore.Finish{}))
	r, err := s.Get("p", id(1))
	require.NoError(t, err)
	assert.Empty(t, pick(t, r, runstore.NotRun))
	assert.Equal(t, "e", pick(t, r, runstore.Failed))
	var unverified []string
	for _, o := range r.Outcomes() {
		if o.Unverified {
			assert.Equal(t, session.StatusOK, o.Status)
			unverified = append(unverified, o.End.Host)
		}
	}
	assert.Equal(t, []string{"b", "c", "d"}, unverified)
}

func TestRunsAreOnesOwn(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	require.NoError(t, begin(t, s, runstore.Run{ID: id(1), Principal: "operator/x"}).Close(runstore.Finish{}))
	_, err := s.Get("agent/y", id(1))
	require.ErrorIs(t, err, runstore.ErrNotFound)
	all, err := s.List("agent/y")
	require.NoError(t, err)
	assert.Empty(t, all)
	_, err = s.Begin(runstore.Run{ID: id(1), Principal: "agent/y"})
	require.ErrorIs(t, err, os.ErrExist, "nor is it replaced")
	for _, bad := range []string{"", "r_", ".r_a", "r_a.run", "../x", "r_../../etc/passwd", "r_a/b12345", id(2)} {
		_, err := s.Get("operator/x", bad)
		require.ErrorIs(t, err, runstore.ErrNotFound, bad)
	}
}

func TestTheOldestRunsAreRemovedButNoneThatGoesOn(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	going := begin(t, s, runstore.Run{ID: id(0), Principal: "p"})
	old := time.Now().Add(-time.Hour)
	const many = runstore.MaxRuns + 50
	for n := 1; n <= many; n++ {
		require.NoError(t, begin(t, s, runstore.Run{ID: id(n), Principal: "p", Started: old.Add(time.Duration(n) * time.Second)}).Close(runstore.Finish{}))
		at := old.Add(time.Duration(n) * time.Second)
		require.NoError(t, os.Chtimes(filepath.Join(s.Dir, id(n)+".run"), at, at))
		if n == 1 {
			require.NoError(t, os.Chtimes(filepath.Join(s.Dir, id(0)+".run"), old, old))
		}
	}
	all, err := s.List("p")
	require.NoError(t, err)
	assert.Less(t, len(all), many, "the oldest are removed, some at a time")
	assert.Greater(t, len(all), runstore.MaxRuns)
	assert.Equal(t, id(many), all[0].ID, "the newest is first")
	assert.Equal(t, id(many-runstore.MaxRuns+1), all[runstore.MaxRuns-1].ID, "none of the newest is missing")
	r, err := s.Get("p", id(0))
	require.NoError(t, err, "it goes on")
	assert.Equal(t, "running", r.State)
	_, err = s.Get("p", id(1))
	require.ErrorIs(t, err, runstore.ErrNotFound)
	require.NoError(t, going.Close(runstore.Finish{}))
	left, err := filepath.Glob(filepath.Join(s.Dir, ".begin-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestADamagedFileIsNoRun(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	name := filepath.Join(s.Dir, id(1)+".run")
	require.NoError(t, os.WriteFile(name, []byte("no JSON\n"), 0o600))
	_, err := s.Get("p", id(1))
	require.ErrorContains(t, err, "line 1 cannot be understood")
	all, err := s.List("p")
	require.NoError(t, err)
	assert.Empty(t, all, "the others are listed")

	require.NoError(t, begin(t, s, runstore.Run{ID: id(2), Principal: "p"}).Close(runstore.Finish{}))
	half, err := os.OpenFile(filepath.Join(s.Dir, id(2)+".run"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = half.WriteString(`{"end":{"host":"a`)
	require.NoError(t, err)
	require.NoError(t, half.Close())
	r, err := s.Get("p", id(2))
	require.NoError(t, err, "the last line may be half written")
	assert.Equal(t, "done", r.State)
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := runstore.Store{Dir: filepath.Join(file, "runs")}.Begin(runstore.Run{ID: id(1)})
	require.Error(t, err)
}

func TestTheEndOfARunIsWrittenAsItIs(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	for n, end := range []runstore.Finish{
		{Ended: time.Now().UTC(), ExitCode: 3},
		{Ended: time.Now().UTC(), Rollout: &wire.RunReport{Stopped: "max-fail", Done: 1}},
	} {
		require.NoError(t, begin(t, s, runstore.Run{ID: id(n), Principal: "p"}).Close(end))
		text, err := os.ReadFile(filepath.Join(s.Dir, id(n)+".run"))
		require.NoError(t, err)
		want, err := json.Marshal(map[string]any{"finish": end})
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		assert.JSONEq(t, string(want), lines[len(lines)-1])
	}
}

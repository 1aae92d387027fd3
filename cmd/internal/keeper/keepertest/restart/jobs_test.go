package restart_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// jobsHome gives the account an empty home, and returns where its jobs are.
func jobsHome(t *testing.T) string {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	return filepath.Join(home, ".local", "state", "fairlead", "jobs")
}

// jobEnds waits for the end of a job and returns what it has printed.
func jobEnds(w *keepertest.World, c *client.Client, id string) (*wire.Job, string) {
	w.T.Helper()
	var all strings.Builder
	var at int64
	for {
		p, err := c.JobOutput(w.T.Context(), id, "stdout", at, 0, 30*time.Second, "")
		require.NoError(w.T, err)
		text, err := wire.Decode(p.Encoding, p.Data)
		require.NoError(w.T, err)
		all.Write(text)
		at = p.Next
		if p.End {
			return &p.Job, all.String()
		}
	}
}

func TestAJobOutlivesItsKeeper(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.Start(t)
	fifo := filepath.Join(w.Dir, "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	j, err := w.StartJob(t.Context(), wire.NewJob{Host: "here", CWD: "/usr", Command: "pwd; read x <" + fifo + "; echo $x; exit 4"}, "")
	require.NoError(t, err)
	assert.Equal(t, "running", j.State)
	assert.True(t, strings.HasPrefix(j.ID, "here/j_"), j.ID)
	require.NoError(t, w.StopServing())

	w.Serve()
	now, err := w.Job(t.Context(), j.ID, 0, "")
	require.NoError(t, err)
	assert.Equal(t, "running", now.State)
	assert.Equal(t, "operator/ada", now.Owner)
	list, err := w.Jobs(t.Context(), "here", "", "")
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, j.ID, list.Items[0].ID)
	require.NoError(t, os.WriteFile(fifo, []byte("went\n"), 0))
	end, text := jobEnds(w, w.Client, j.ID)
	assert.Equal(t, "/usr\nwent\n", text)
	require.NotNil(t, end.ExitCode)
	assert.Equal(t, 4, *end.ExitCode)

	_, bare, _ := strings.Cut(j.ID, "/")
	gone, err := w.CollectJob(t.Context(), bare, "")
	require.NoError(t, err)
	assert.Equal(t, "ended", gone.State)
	assert.NoDirExists(t, dir)
	_, text = jobEnds(w, w.Client, j.ID)
	assert.Equal(t, "/usr\nwent\n", text, "the keeper has it still")
	status, p, _ := w.Send("GET", "/v1/jobs/"+url.PathEscape("here/j_aaaaaaaaaaaaa"), "")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Equal(t, "not_found", p.Code)
	rep, err := audit.Verify(w.Cfg.AuditDir)
	require.NoError(t, err)
	assert.True(t, rep.OK())
	var seen []string
	for e, err := range audit.All(w.Cfg.AuditDir) {
		require.NoError(t, err)
		if e.Kind == audit.JobRequest {
			word, _, _ := strings.Cut(e.Command, "\n")
			seen = append(seen, word)
			assert.Equal(t, "allow", e.Verdict)
		}
	}
	assert.Contains(t, seen, "job_start "+bare)
	assert.Contains(t, seen, "job_look "+bare)
	assert.Contains(t, seen, "job_remove "+bare)
}

func TestOneKeyStartsOneJob(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.Start(t)
	in := wire.NewJob{Host: "here", Command: "true"}
	one, err := w.StartJob(t.Context(), in, "k")
	require.NoError(t, err)
	two, err := w.StartJob(t.Context(), in, "k")
	require.NoError(t, err)
	assert.Equal(t, one.ID, two.ID)
	in.Command = "false"
	_, err = w.StartJob(t.Context(), in, "k")
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, http.StatusConflict, p.Status)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 1)
	jobEnds(w, w.Client, one.ID)
	_, err = w.CollectJob(t.Context(), one.ID, "")
	require.NoError(t, err)
}

// A keeper that is killed leaves the job, and the key stands for it.
func TestAJobsKeyIsKeptOverRestarts(t *testing.T) {
	for name, in := range map[string]wire.NewJob{"on a host": {Host: "here"}, "in a session": {Session: "s"}} {
		t.Run(name, func(t *testing.T) {
			place := jobsHome(t)
			dir := keepertest.ChildPlace(t)
			k := keepertest.StartChild(t, dir, "")
			k.OpenSession("here", "s")
			fifo := filepath.Join(dir, "go")
			require.NoError(t, syscall.Mkfifo(fifo, 0o600))
			in.Command = "read x <" + fifo
			one, err := k.StartJob(t.Context(), in, "k")
			require.NoError(t, err)
			k.Kill()
			k = keepertest.StartChild(t, dir, "")
			for range 2 {
				two, err := k.StartJob(t.Context(), in, "k")
				require.NoError(t, err)
				assert.Equal(t, one.ID, two.ID)
				assert.Equal(t, "running", two.State)
			}
			_, err = k.StartJob(t.Context(), wire.NewJob{Host: "here", Command: "true"}, "k")
			assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
			all, err := os.ReadDir(place)
			require.NoError(t, err)
			assert.Len(t, all, 1)
			_, err = k.StopJob(t.Context(), one.ID, wire.StopJob{})
			require.NoError(t, err)
			_, err = k.CollectJob(t.Context(), one.ID, "")
			require.NoError(t, err)
			k.Kill()
			k = keepertest.StartChild(t, dir, "")
			_, err = k.StartJob(t.Context(), in, "k")
			assert.Equal(t, "gone", keepertest.CodeOf(t, err), "what was collected is not started again")
		})
	}
}

func TestAJobOfOnesOwnIsFoundAndNoOther(t *testing.T) {
	jobsHome(t)
	w := keepertest.Start(t)
	agent := w.As("agent/a")
	theirs, err := agent.StartJob(t.Context(), wire.NewJob{Host: "here", Command: "echo token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, "")
	require.NoError(t, err)
	mine, err := w.StartJob(t.Context(), wire.NewJob{Host: "here", Command: "true"}, "")
	require.NoError(t, err)
	list, err := agent.Jobs(t.Context(), "here", "", "")
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, theirs.ID, list.Items[0].ID)
	for _, err := range []error{
		second(agent.Job(t.Context(), mine.ID, 0, "")), second(agent.StopJob(t.Context(), mine.ID, wire.StopJob{})),
		second(agent.CollectJob(t.Context(), mine.ID, "")), second(w.As("agent/b").Job(t.Context(), theirs.ID, 0, "")),
	} {
		var p *wire.Problem
		require.ErrorAs(t, err, &p)
		assert.Equal(t, "not_found", p.Code)
	}
	page, err := agent.JobOutput(t.Context(), theirs.ID, "stdout", 0, 0, 30*time.Second, "")
	require.NoError(t, err)
	assert.Contains(t, page.Data, "«redacted:")
	_, text := jobEnds(w, w.Client, theirs.ID)
	assert.Contains(t, text, "ghp_", "an operator sees those of agents, and exact bytes")
	jobEnds(w, w.Client, mine.ID)
	for _, id := range []string{mine.ID, theirs.ID} {
		_, err = w.CollectJob(t.Context(), id, "")
		require.NoError(t, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWhatIsDeniedStartsNoJob(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.Start(t)
	body, err := json.Marshal(wire.NewJob{Host: "here", Command: "rm -rf / --no-preserve-root"})
	require.NoError(t, err)
	status, p, text := w.Send("POST", "/v1/jobs", string(body), wire.Principal, "agent/a")
	assert.Equal(t, http.StatusForbidden, status, text)
	assert.Equal(t, "denied", p.Code)
	assert.NoDirExists(t, dir)
}

func TestAJobThatIsAskedAboutWaitsForTheAnswer(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.Start(t)
	agent := w.As("agent/a")
	zero := 0.0
	ask := func() (*wire.Job, wire.Approval) {
		j, err := agent.StartJob(t.Context(), wire.NewJob{Host: "there", Command: "rm -rf " + w.Dir + "/x; echo done", Reason: "room", WaitS: &zero}, "")
		require.NoError(t, err)
		assert.Equal(t, "awaiting_approval", j.State)
		assert.NotEmpty(t, j.Exec)
		var all []wire.Approval
		require.Eventually(t, func() bool {
			all, err = w.Approvals(t.Context())
			return err != nil || len(all) > 0
		}, time.Minute, 50*time.Millisecond)
		require.Len(t, all, 1)
		return j, all[0]
	}
	j, a := ask()
	assert.NoDirExists(t, dir)
	page, err := agent.JobOutput(t.Context(), j.ID, "stdout", 0, 0, 0, "")
	require.NoError(t, err)
	assert.Equal(t, "awaiting_approval", page.Job.State)
	assert.False(t, page.End)
	doc, err := w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	_, bare, _ := strings.Cut(j.ID, "/")
	assert.Contains(t, string(doc.Document), "job_start "+bare+"\nrm -rf "+w.Dir+"/x; echo done", "all of what is to be run")
	require.NoError(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: doc.Digest}))
	_, text := jobEnds(w, agent, j.ID)
	assert.Equal(t, "done\n", text)
	_, err = agent.CollectJob(t.Context(), j.ID, "")
	require.NoError(t, err)

	j, a = ask()
	doc, err = w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	require.NoError(t, w.Answer(t.Context(), a.ID, false, wire.Answer{Digest: doc.Digest, Reason: "no"}))
	_, err = agent.JobOutput(t.Context(), j.ID, "stdout", 0, 0, 30*time.Second, "")
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "rejected", p.Code)

	j, _ = ask()
	stopped, err := agent.StopJob(t.Context(), j.ID, wire.StopJob{})
	require.NoError(t, err)
	assert.Equal(t, "canceled", stopped.State)
	all, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.NoDirExists(t, dir)
}

// A caller that loses the answer and had sent a job_id knows which job to look for.
func TestAJobHasTheIDThatItsCallerMadeUp(t *testing.T) {
	jobsHome(t)
	w := keepertest.Start(t)
	id := jobs.NewID()
	j, err := w.StartJob(t.Context(), wire.NewJob{ID: id, Host: "here", Command: "true"}, "")
	require.NoError(t, err)
	assert.Equal(t, "here/"+id, j.ID)
	_, err = w.StartJob(t.Context(), wire.NewJob{ID: id, Host: "here", Command: "true"}, "")
	assert.Equal(t, registry.CodeExists, keepertest.CodeOf(t, err))
	for _, bad := range []string{"j_short", id + "-x", id + "-", id + "-0", id + "-2-3", "../../etc", "j_ABCDEFGHIJKLM"} {
		_, err = w.StartJob(t.Context(), wire.NewJob{ID: bad, Host: "here", Command: "true"}, "")
		assert.Equal(t, registry.CodeInvalid, keepertest.CodeOf(t, err), bad)
	}
	_, err = w.Client.Job(t.Context(), j.ID, 20*time.Second, "")
	require.NoError(t, err)
	_, err = w.CollectJob(t.Context(), j.ID, "")
	require.NoError(t, err)
}

// Nothing is accepted and ignored, and a cursor is one that a page had.
func TestAJobListRefusesWhatHasNoEffect(t *testing.T) {
	w := keepertest.Start(t)
	for query, want := range map[string]int{
		"": 200, "?known=true": 200, "?known=true&limit=3": 200, "?known=false&cursor=here/j_abcdefgh23456": 200,
		"?cursor=garbage": 422, "?cursor=j_abcdefgh23456": 422, "?cursor=here/": 422, "?cursor=%00": 422, "?cursor=%ff/j_": 422,
		"?known=true&selector=here": 422, "?known=true&cursor=here/j_abcdefgh23456": 422, "?known=true&group=j_abcdefgh23456": 422,
		"?known=true&reason=x": 422,
	} {
		status, _, text := w.Send("GET", "/v1/jobs"+query, "")
		assert.Equal(t, want, status, "%s: %s", query, text)
	}
}

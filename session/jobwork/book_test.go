package jobwork

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// book returns a Book of jobs on this machine, in an empty home directory, and what starts one.
func book(t *testing.T, change ...func(*Config)) (*Book, func(command string) jobs.Ref) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	p, err := session.NewPool(session.PoolConfig{
		Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}}, Dial: localpty.Dial,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	here := hosts.Host{Name: "here", Transport: hosts.Local, Shell: "bash"}
	cfg := Config{
		Pool: p, Secrets: redact.New(redact.Config{}), Audience: redact.Guarded,
		Host: func(string) (hosts.Host, error) { return here, nil },
	}
	for _, f := range change {
		f(&cfg)
	}
	b := New(cfg)
	t.Cleanup(b.Close)
	return b, func(command string) jobs.Ref {
		t.Helper()
		j, _, err := jobs.On(p, here).Start(t.Context(), jobs.Spec{Command: command})
		require.NoError(t, err)
		return j.Ref()
	}
}

// all reads an output to its end, in pages of some bytes.
func all(t *testing.T, b *Book, ref jobs.Ref, stream string, limit int) string {
	t.Helper()
	var text strings.Builder
	for at := int64(0); ; {
		_, p, err := b.Output(t.Context(), ref, Ask{Stream: stream, Offset: at, Limit: limit, Wait: 30 * time.Second})
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Text), limit)
		text.Write(p.Text)
		at = p.Next
		if p.End {
			return text.String()
		}
	}
}

func TestOutputIsReadByOffsetsWithoutSecrets(t *testing.T) {
	b, start := book(t)
	ref := start("echo one; echo ghp_abcdefghijklmnopqrstuvwxyz0123456789; seq 2000; echo wrong >&2")
	whole := all(t, b, ref, "stdout", 1<<20)
	assert.NotContains(t, whole, "ghp_")
	assert.Contains(t, whole, "one\n«redacted:")
	assert.True(t, strings.HasSuffix(whole, "\n2000\n"))
	assert.Equal(t, whole, all(t, b, ref, "stdout", 97), "whatever the pages are")
	assert.Equal(t, "wrong\n", all(t, b, ref, "stderr", 100))
}

func TestACollectedOutputStaysUntilClose(t *testing.T) {
	b, start := book(t)
	ref := start("echo the only copy")
	require.Equal(t, "the only copy\n", all(t, b, ref, "stdout", 100))
	j, err := b.Collect(t.Context(), ref, "")
	require.NoError(t, err)
	assert.Equal(t, jobs.Ended, j.State)
	for range 3 * maxMirrors {
		_, err := b.mirror(jobs.Ref{Host: "here", ID: jobs.NewID()})
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(b.mirrors), maxMirrors+1, "what can be read from its host again makes room")
	assert.Len(t, b.used, len(b.mirrors))
	assert.Equal(t, "the only copy\n", all(t, b, ref, "stdout", 100))
	again, err := b.Collect(t.Context(), ref, "")
	require.NoError(t, err, "a second time it says the same")
	assert.Equal(t, j, again)
	b.Close()
	_, _, err = b.Output(t.Context(), ref, Ask{Stream: "stdout", Limit: 100})
	assert.Error(t, err)
}

func TestCollectedOutputsAreBounded(t *testing.T) {
	for name, limit := range map[string]func(*Config){
		"by number": func(c *Config) { c.MaxCollected = 5 },
		"by bytes":  func(c *Config) { c.MaxCollectedBytes = 5 * 100 },
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := book(t, limit)
			var refs []jobs.Ref
			for i := range 20 {
				ref := jobs.Ref{Host: "here", ID: jobs.NewID()}
				m, err := b.mirror(ref)
				require.NoError(t, err)
				m.stdout.take([]byte(strings.Repeat("x", 100)), jobs.Stream{Bytes: 100, Done: true}, jobs.Ended)
				m.removed(jobs.Job{Host: "here", ID: ref.ID, CommandSHA256: strconv.Itoa(i)})
				refs = append(refs, ref)
			}
			_, err := b.mirror(jobs.Ref{Host: "here", ID: jobs.NewID()})
			require.NoError(t, err)
			for i, ref := range refs {
				assert.Equal(t, i >= 15, b.known(ref) != nil, i)
			}
		})
	}
}

func TestWhatRunsIsNotCollectedAndCanBeStopped(t *testing.T) {
	b, start := book(t)
	ref := start("echo begun; sleep 1000")
	_, err := b.Collect(t.Context(), ref, "")
	var se *session.Error
	require.ErrorAs(t, err, &se)
	assert.Equal(t, jobs.CodeRunning, se.Code)
	j, err := b.Stop(t.Context(), ref, time.Second, "")
	require.NoError(t, err)
	assert.Equal(t, "TERM", j.StoppedBy)
	listed, err := b.List(t.Context(), []hosts.Host{{Name: "here", Transport: hosts.Local, Shell: "bash"}}, "")
	require.NoError(t, err)
	require.Len(t, listed, 1)
	assert.Equal(t, ref, listed[0].Ref())
	j, err = b.Collect(t.Context(), ref, "")
	require.NoError(t, err)
	assert.Equal(t, 143, *j.ExitCode)
	assert.Equal(t, "begun\n", all(t, b, ref, "stdout", 100))
}

func TestADamagedJobIsCollected(t *testing.T) {
	b, start := book(t)
	ref := start("echo kept; exit 3")
	require.Equal(t, "kept\n", all(t, b, ref, "stdout", 100))
	dir := os.Getenv("HOME") + "/.local/state/fairlead/jobs/" + ref.ID
	for _, name := range []string{"rc", "about"} {
		require.NoError(t, os.Truncate(dir+"/"+name, 0))
	}
	j, err := b.Collect(t.Context(), ref, "")
	require.NoError(t, err)
	assert.Equal(t, jobs.Ended, j.State)
	assert.Nil(t, j.ExitCode)
	assert.Contains(t, j.Damaged, "exit code")
	assert.NoDirExists(t, dir)
	assert.Equal(t, "kept\n", all(t, b, ref, "stdout", 100))
}

func TestAJobIsFoundByItsIDWhereOneHostHasIt(t *testing.T) {
	b, _ := book(t)
	one, two := jobs.Ref{Host: "a", ID: jobs.NewID()}, jobs.Ref{Host: "a", ID: jobs.NewID()}
	for _, ref := range []jobs.Ref{one, two, {Host: "b", ID: two.ID}} {
		b.note(ref, nil)
	}
	got, err := b.Find(one.ID)
	require.NoError(t, err)
	assert.Equal(t, one, got)
	for text, why := range map[string]string{two.ID: "name one, as", jobs.NewID(): "unknown job", "nonsense": "HOST/ID"} {
		_, err := b.Find(text)
		assert.ErrorContains(t, err, why)
	}
	assert.Equal(t, []jobs.Ref{{Host: "b", ID: two.ID}, two}, b.Refs(2), "the latest first")
}

// Who asks for jobs that do not exist fills nothing.
func TestWhatThereIsNotIsForgotten(t *testing.T) {
	b, _ := book(t)
	_, _, err := b.Output(t.Context(), jobs.Ref{Host: "here", ID: jobs.NewID()}, Ask{Stream: "stdout", Limit: 10})
	require.Error(t, err)
	assert.Empty(t, b.mirrors)
	assert.Empty(t, b.used)
}

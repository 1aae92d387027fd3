package outdir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outdir"
	"github.com/fairlead-ssh/fairlead/session"
)

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(text)
}

func TestAHostsFilesAreWholeUnderItsName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	d, err := outdir.New(dir, []string{"web1", "web2"})
	require.NoError(t, err)
	out, errOut := d.Start("web1")
	_, err = out.Write([]byte("a\x00\xff"))
	require.NoError(t, err)
	_, err = errOut.Write([]byte("no"))
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(dir, "web1"), "it is not whole yet")
	code := 3
	require.NoError(t, d.Done("web1", session.Result{Host: "web1", Status: session.StatusExit, ExitCode: &code, StdoutBytes: 3, OmittedStdout: 3}))
	assert.Equal(t, "a\x00\xff", read(t, dir, "web1", "stdout"))
	assert.Equal(t, "no", read(t, dir, "web1", "stderr"))
	var r struct {
		Status   string
		ExitCode int `json:"exit_code"`
		Omitted  map[string]int64
		Bytes    int64 `json:"stdout_bytes"`
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "web1", "result.json")), &r))
	assert.Equal(t, "exit", r.Status)
	assert.Equal(t, 3, r.ExitCode)
	assert.EqualValues(t, 3, r.Bytes)
	assert.Zero(t, r.Omitted["stdout"])

	require.NoError(t, d.Done("web2", session.Result{Host: "web2", Status: session.StatusUnreachable}), "it never began")
	assert.Empty(t, read(t, dir, "web2", "stdout"))
	assert.Contains(t, read(t, dir, "web2", "result.json"), "unreachable")
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAHostThatStartsAgainStartsAnew(t *testing.T) {
	dir := t.TempDir()
	d, err := outdir.New(dir, []string{"web1"})
	require.NoError(t, err)
	out, _ := d.Start("web1")
	_, _ = out.Write([]byte("first attempt"))
	out, _ = d.Start("web1")
	_, _ = out.Write([]byte("second"))
	require.NoError(t, d.Done("web1", session.Result{Host: "web1"}))
	assert.Equal(t, "second", read(t, dir, "web1", "stdout"))
}

func TestNothingThatExistsIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web1"), nil, 0o600))
	_, err := outdir.New(dir, []string{"web1"})
	require.ErrorContains(t, err, "web1 exists already")
	require.NoError(t, os.Remove(filepath.Join(dir, "web1")))
	d, err := outdir.New(dir, []string{"web1"})
	require.NoError(t, err)
	out, _ := d.Start("web1")
	_, _ = out.Write([]byte("mine"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web1"), []byte("theirs"), 0o600))
	require.ErrorContains(t, d.Done("web1", session.Result{Host: "web1"}), "web1 exists already; the output is in ")
	assert.Equal(t, "theirs", read(t, dir, "web1"))
}

// Two programs that write into one directory at once keep both outputs, and each file is of one of them.
func TestTwoProgramsMixNothing(t *testing.T) {
	for name, first := range map[string]func(a, b *outdir.Dir){
		"both begin":               func(a, b *outdir.Dir) { a.Start("web1"); b.Start("web1") },
		"one begins with its end":  func(a, b *outdir.Dir) { a.Start("web1") },
		"both begin with the ends": func(a, b *outdir.Dir) {},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, err := outdir.New(dir, []string{"web1"})
			require.NoError(t, err)
			b, err := outdir.New(dir, []string{"web1"})
			require.NoError(t, err)
			first(a, b)
			out, _ := b.Start("web1")
			_, _ = out.Write([]byte("of b"))
			require.NoError(t, a.Done("web1", session.Result{Host: "web1"}))
			err = b.Done("web1", session.Result{Host: "web1"})
			require.ErrorIs(t, err, os.ErrExist)
			require.ErrorContains(t, err, "web1 exists already; the output is in ")
			assert.Empty(t, read(t, dir, "web1", "stdout"))
			assert.NotEmpty(t, read(t, dir, "web1", "result.json"))
			_, kept, _ := strings.Cut(err.Error(), "the output is in ")
			assert.Equal(t, "of b", read(t, kept, "stdout"))
			assert.NotEmpty(t, read(t, kept, "result.json"))
		})
	}
}

func TestADroppedHostLeavesItsPlace(t *testing.T) {
	dir := t.TempDir()
	d, err := outdir.New(dir, []string{"web1", "web2"})
	require.NoError(t, err)
	out, _ := d.Start("web1")
	_, _ = out.Write([]byte("half"))
	require.NoError(t, d.Drop("web1"))
	require.NoError(t, d.Drop("web2"), "it never began")
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, names)
	require.NoError(t, d.Done("web1", session.Result{Host: "web1"}))
	assert.Empty(t, read(t, dir, "web1", "stdout"))
}

func TestWhatCannotBeWrittenIsTold(t *testing.T) {
	dir := t.TempDir()
	d, err := outdir.New(dir, []string{"web1"})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	out, _ := d.Start("web1")
	n, err := out.Write([]byte("text"))
	require.NoError(t, err, "the command goes on")
	assert.Equal(t, 4, n)
	require.ErrorIs(t, d.Done("web1", session.Result{Host: "web1"}), os.ErrNotExist)
}

func TestNamesStayInTheDirectory(t *testing.T) {
	for label, want := range map[string]string{
		"web1": "web1", "root@10.0.0.1:22": "root@10.0.0.1:22", "../x": "%2E.%2Fx", "..": "%2E.", ".hidden": "%2Ehidden", "a%b\x00": "a%25b%00",
	} {
		assert.Equal(t, want, outdir.Name(label))
	}
}

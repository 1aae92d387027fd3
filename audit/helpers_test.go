package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
)

// TestMain runs the test binary as a writer where a test asked for one.
func TestMain(m *testing.M) {
	if role := os.Getenv("FAIRLEAD_AUDIT_TEST_ROLE"); role != "" {
		os.Exit(child(role, os.Getenv("FAIRLEAD_AUDIT_TEST_DIR")))
	}
	goleak.VerifyTestMain(m)
}

// newDir is a name for an audit directory that does not exist yet.
func newDir(t testing.TB) string { return filepath.Join(t.TempDir(), "audit") }

func open(t testing.TB, dir string, cfg audit.Config) *audit.File {
	t.Helper()
	f, err := audit.Open(dir, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func request(id string, readOnly bool) audit.Event {
	return audit.Event{Kind: audit.CommandRequest, ID: id, Principal: "agent/build", Host: "web1", Session: "s_1",
		Command: "uptime", Exact: []byte("uptime"), Verdict: "allow", Rule: "builtin/read-only", Class: "read", ReadOnly: readOnly}
}

func result(id string) audit.Event {
	code := 0
	return audit.Event{Kind: audit.CommandResult, ID: id, Host: "web1", Session: "s_1", State: "done", Status: "ok", ExitCode: &code}
}

// chainOf writes a closed chain of n records.
func chainOf(t testing.TB, n int, cfg audit.Config) string {
	t.Helper()
	dir := newDir(t)
	f := open(t, dir, cfg)
	for i := range n {
		require.NoError(t, f.Record(t.Context(), request(fmt.Sprintf("e_%d", i), true)))
	}
	require.NoError(t, f.Close())
	return dir
}

func verify(t testing.TB, dir string) audit.Report {
	t.Helper()
	r, err := audit.Verify(dir)
	require.NoError(t, err)
	return r
}

func whole(t testing.TB, dir string) audit.Report {
	t.Helper()
	r := verify(t, dir)
	if r.Problem != nil {
		require.Fail(t, "the chain is not whole", r.Problem.String())
	}
	return r
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return b
}

func writeFile(t testing.TB, b []byte, path ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(path...), b, 0o600))
}

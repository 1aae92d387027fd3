package sessiontest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// Mark is one setting of an environment and a directory for temporary files, by which all that a test starts on a host
// can be found again, as long as the host is this machine. Give Env to the host's server.
type Mark struct {
	setting string
	Tmp     string // TMPDIR on the host
	home    string
}

// NewMark returns a mark that nothing has yet. It needs Linux: elsewhere the test is skipped.
func NewMark(t testing.TB) Mark {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are looked for in /proc")
	}
	tok := framing.NewToken()
	return Mark{setting: "FAIRLEAD_TEST_MARK=" + string(tok[:]), Tmp: t.TempDir(), home: t.TempDir()}
}

// Env are the settings to add to what the host's programs get.
func (m Mark) Env() []string { return []string{m.setting, "TMPDIR=" + m.Tmp} }

// On returns env with the mark's settings in place of its own.
func (m Mark) On(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "TMPDIR=") && !strings.HasPrefix(e, "FAIRLEAD_TEST_MARK=") {
			out = append(out, e)
		}
	}
	return append(out, m.Env()...)
}

// SSHD is the line of sshd_config that gives the mark to every program, and an empty home directory: the start files of
// whoever runs the test are slow, and may not stand that connections are cut.
func (m Mark) SSHD() string {
	return fmt.Sprintf("SetEnv %s TMPDIR=%s HOME=%s", m.setting, m.Tmp, m.home)
}

// Processes returns the ids of the living processes that have the mark.
func (m Mark) Processes(t testing.TB) []int {
	t.Helper()
	all, err := os.ReadDir("/proc") // a pattern below it would read the directory of each process
	require.NoError(t, err)
	var found []int
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ") // fails for those that have just ended; a zombie has none
		if err == nil && bytes.Contains(env, []byte(m.setting)) {
			found = append(found, pid)
		}
	}
	return found
}

// Describe tells what the marked processes are, for messages.
func (m Mark) Describe(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, pid := range m.Processes(t) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		line = line[:min(len(line), 120)]
		fmt.Fprintf(&b, "%d %q stat %.60q\n", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}), stat)
	}
	return b.String()
}

// Files returns what is left in the directory for temporary files.
func (m Mark) Files(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(m.Tmp)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Written returns how many bytes the marked processes have had written to storage (proc(5), io).
func (m Mark) Written(t testing.TB) int64 {
	t.Helper()
	var sum int64
	for _, pid := range m.Processes(t) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		for line := range strings.Lines(string(text)) {
			if v, ok := strings.CutPrefix(line, "write_bytes: "); ok {
				n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
				require.NoError(t, err)
				sum += n
			}
		}
	}
	return sum
}

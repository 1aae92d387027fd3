// Package straced shows what a test does to the disk: it runs the test once more under strace, and reads the system calls.
package straced

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

const dirVariable = "FAIRLEAD_STRACED_DIR"

// markLead begins what a mark writes to standard error.
const markLead = "straced mark "

// Call is a system call that has succeeded, or a mark.
type Call struct {
	Name  string   // "mark" for a mark
	File  string   // behind the descriptor; of a mark its name
	Paths []string // that are arguments
}

// Trace is what was called, in the order in which it was done.
type Trace []Call

// Run runs the test t once more in a process of its own under strace, which calls work with an empty directory and ends
// there. In this process it returns what was called. It must be the first statement of the test. Without strace the test is
// skipped; with CI=true it fails.
func Run(t *testing.T, work func(dir string)) (dir string, trace Trace) {
	t.Helper()
	if dir := os.Getenv(dirVariable); dir != "" {
		work(dir)
		t.SkipNow() // the rest is the parent's
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		needs.Part(t, "strace cannot be used: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), strace, "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		needs.Part(t, "strace cannot be used: %v: %s", err, out)
	}
	log := filepath.Join(t.TempDir(), "trace")
	var only []string
	for name := range strings.SplitSeq(t.Name(), "/") {
		only = append(only, "^"+regexp.QuoteMeta(name)+"$")
	}
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-y", "-s", "200", "-o", log, "-e", "signal=none",
		"-e", "trace=write,pwrite64,fsync,fdatasync,?rename,renameat,renameat2,?link,linkat,?unlink,unlinkat,?open,openat",
		"--", exe, "-test.run="+strings.Join(only, "/"), "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), dirVariable+"="+dir)
	cmd.Dir, _ = os.Getwd()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- SKIP: "+t.Name()) {
		t.Fatalf("the traced test failed: %v\n%s", err, out)
	}
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	trace = parse(string(lines))
	if len(trace) == 0 {
		t.Fatal("strace has seen nothing")
	}
	return dir, trace
}

// Mark is for the work: it says how far that has come.
func Mark(name string) { fmt.Fprint(os.Stderr, markLead+name+"\n") }

var (
	whole   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (\d+)`)
	begun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (\d+)`)
	file    = regexp.MustCompile(`^\d+<([^>]*)>`)
	path    = regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"`)
	text    = regexp.MustCompile(`^\d+<[^>]*>, "` + markLead + `(.*)\\n"`)
)

func parse(lines string) (tr Trace) {
	open := map[string]string{} // arguments by process
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		if m := begun.FindStringSubmatch(line); m != nil {
			open[m[1]] = m[3]
			if c := callOf(m[2], m[3]); c.Name == "mark" { // when it began is what counts: what follows it was not awaited
				tr = append(tr, c)
				open[m[1]] = ""
			}
			continue
		}
		m := resumed.FindStringSubmatch(line)
		if m != nil {
			m[3] = open[m[1]] + m[3]
		} else if m = whole.FindStringSubmatch(line); m == nil {
			continue
		}
		tr = append(tr, callOf(m[2], m[3]))
	}
	return tr
}

func callOf(name, args string) Call {
	c := Call{Name: name}
	if m := file.FindStringSubmatch(args); m != nil {
		c.File = m[1]
	}
	for _, m := range path.FindAllStringSubmatch(args, -1) {
		if !filepath.IsAbs(m[2]) {
			m[2] = filepath.Join(m[1], m[2])
		}
		c.Paths = append(c.Paths, m[2])
	}
	switch m := text.FindStringSubmatch(args); {
	case name == "write" && m != nil:
		return Call{Name: "mark", File: m[1]}
	case name == "write", name == "pwrite64":
		return Call{Name: "write", File: c.File}
	case name == "fsync", name == "fdatasync":
		c.Name = "sync"
	case strings.HasPrefix(name, "open"):
		if c.Name = "open"; strings.Contains(args, "O_CREAT") {
			c.Name = "create"
		}
	default:
		c.Name = strings.TrimSuffix(strings.TrimSuffix(name, "2"), "at")
	}
	return c
}

// Between returns what was called between two marks; "" is the beginning.
func (tr Trace) Between(t *testing.T, from, to string) Trace {
	t.Helper()
	at := func(name string) int {
		i := slices.IndexFunc(tr, func(c Call) bool { return c.Name == "mark" && c.File == name })
		if i < 0 {
			t.Fatalf("there is no mark %q", name)
		}
		return i
	}
	begin := 0
	if from != "" {
		begin = at(from)
	}
	return tr[begin:at(to)]
}

// Last returns where a call was seen last, by its name and the path that it is about: of a rename and a link the new one.
// -1 is never.
func (tr Trace) Last(name, path string) int {
	for i := len(tr) - 1; i >= 0; i-- {
		c := tr[i]
		if c.Name == name && (c.File == path || len(c.Paths) > 0 && c.Paths[len(c.Paths)-1] == path) {
			return i
		}
	}
	return -1
}

// Synced fails the test unless the file was written, and put on the disk since it was written last.
func (tr Trace) Synced(t *testing.T, path string) {
	t.Helper()
	written, synced := tr.Last("write", path), tr.Last("sync", path)
	if written < 0 || synced < written {
		t.Errorf("%s was written and is not on the disk (%d, %d)\n%s", path, written, synced, tr)
	}
}

// NamesSynced fails the test unless the directory was put on the disk after the call about one of its names.
func (tr Trace) NamesSynced(t *testing.T, dir, call, path string) {
	t.Helper()
	called, synced := tr.Last(call, path), tr.Last("sync", dir)
	if called < 0 || synced < called {
		t.Errorf("%s: %s of %s is not on the disk (%d, %d)\n%s", dir, call, path, called, synced, tr)
	}
}

// Replaced fails the test unless path was made from a whole file that was on the disk before it got that name.
func (tr Trace) Replaced(t *testing.T, call, path string) {
	t.Helper()
	i := tr.Last(call, path)
	if i < 0 || len(tr[i].Paths) != 2 {
		t.Errorf("%s was not made with %s\n%s", path, call, tr)
		return
	}
	tr[:i].Synced(t, tr[i].Paths[0])
}

// String is for failures.
func (tr Trace) String() string {
	var b strings.Builder
	for _, c := range tr {
		if c.Name != "open" {
			fmt.Fprintln(&b, c.Name, c.File, c.Paths)
		}
	}
	return b.String()
}

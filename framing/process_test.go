package framing_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// How long the tests wait for what is bound to happen, and how often they look.
const (
	patience = time.Minute
	tick     = 5 * time.Millisecond
)

// process is what the kernel says about one.
type process struct {
	pid     int
	name    string
	peak    int      // KiB of memory at most
	written int64    // bytes, to whatever
	files   []string // regular files that are open for writing
}

// pids are the processes of this machine. A pattern below /proc would read the whole directory of each.
func pids() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// session returns the processes of a terminal's session, living ones only.
func session(sid int) (all []process) {
	for _, pid := range pids() {
		if of, err := unix.Getsid(pid); err != nil || of != sid { // far cheaper than its file, and tests look again and again
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		f := strings.Fields(string(b[end+1:]))
		if f[3] != strconv.Itoa(sid) || f[0] == "Z" || f[0] == "X" {
			continue
		}
		p := process{pid: pid, name: string(b[open+1 : end])}
		p.read()
		all = append(all, p)
	}
	return all
}

// states says what each process of a session does: for a test that waits in vain.
func states(sid int) string {
	var all strings.Builder
	for _, p := range session(sid) {
		dir := fmt.Sprintf("/proc/%d/", p.pid)
		fmt.Fprintf(&all, "%d %q waits in %s;", p.pid, strings.ReplaceAll(slurp(dir+"cmdline"), "\x00", " "), slurp(dir+"wchan"))
		for line := range strings.Lines(slurp(dir + "status")) {
			switch name, value, _ := strings.Cut(line, ":"); name {
			case "State", "PPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt":
				fmt.Fprintf(&all, " %s %s;", name, strings.TrimSpace(value))
			}
		}
		all.WriteByte('\n')
	}
	return all.String()
}

// read fills in what can be read.
func (p *process) read() {
	dir := fmt.Sprintf("/proc/%d/", p.pid)
	for line := range strings.Lines(slurp(dir+"status") + slurp(dir+"io")) {
		f := strings.Fields(line)
		switch {
		case len(f) < 2:
		case f[0] == "VmHWM:":
			p.peak, _ = strconv.Atoi(f[1])
		case f[0] == "wchar:":
			p.written, _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	fds, _ := filepath.Glob(dir + "fd/*")
	for _, fd := range fds {
		info, err := os.Stat(fd)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if l, err := os.Lstat(fd); err == nil && l.Mode().Perm()&0o200 != 0 {
			name, _ := os.Readlink(fd)
			p.files = append(p.files, name)
		}
	}
}

func slurp(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// find returns the process of that name in a session, or nil.
func find(sid int, name string) *process {
	for _, p := range session(sid) {
		if p.name == name {
			return &p
		}
	}
	return nil
}

// requireGone waits until nothing is left of a session.
func requireGone(t testing.TB, sid int) {
	t.Helper()
	gone := func() bool { return len(session(sid)) == 0 }
	if !assert.Eventually(t, gone, patience, tick, "a process is left") {
		t.Fatalf("left: %+v", session(sid))
	}
}

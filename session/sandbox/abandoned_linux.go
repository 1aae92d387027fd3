package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// EndAbandoned ends processes that [Bubblewrap] may leave on this machine, and returns how many it ended. bwrap starts the first
// process of a sandbox, and lets it go on once the sandbox is set up. If bwrap is killed in between, because the program that
// started it was killed, that process waits forever: it asks for a signal at its parent's end only later (seen with strace,
// bubblewrap 0.8.0).
//
// It ends only processes of this account, or of any account for root. It may run at any time, also while sandboxes start.
func EndAbandoned() int {
	ended := 0
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		p, err := os.FindProcess(pid) // a handle, where the kernel has them: the number may be another's by the time of Kill
		if err == nil {
			if abandoned(dir, all) && p.Kill() == nil {
				ended++
			}
			_ = p.Release()
		}
	}
	return ended
}

// abandoned reports whether a process is the first of a sandbox of ours, has started no other, and has lost its bwrap.
func abandoned(dir string, all []string) bool {
	line := words(dir)
	if !strings.Contains(strings.Join(line, "\x00"), "\x00"+strings.Join(isolation, "\x00")+"\x00") { // options come last in no line
		return false
	}
	if ids := strings.Fields(status(dir, "NSpid")); len(ids) < 2 || ids[len(ids)-1] != "1" {
		return false
	}
	parent := status(dir, "PPid")
	if parent == "" || slices.Equal(words("/proc/"+parent), line) {
		return false
	}
	return !slices.ContainsFunc(all, func(other string) bool { return status(other, "PPid") == filepath.Base(dir) })
}

// words returns the arguments of a process, or an empty one if it has ended.
func words(dir string) []string {
	line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// status returns one field of a process's status file, see proc_pid_status(5), or "" if the process has ended.
func status(dir, field string) string {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(text, fmt.Appendf(nil, "\n%s:", field))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSpace(string(value))
}

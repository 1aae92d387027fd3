package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// marks are words of [Bubblewrap]'s that stand in this order in no other program's sandboxes, most likely.
var marks = []string{"--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"}

// EndAbandoned ends what [Bubblewrap] may leave on this machine, and returns how many there were. bwrap starts its place's
// first process, and lets it run once the place is made. Where bwrap is killed in between, because the program that started
// it was, that process waits for ever: it hears of its parent's end only later (bubblewrap.c, main and
// handle_die_with_parent, up to 0.11). It does nothing and holds no directory, but it stays.
//
// Only processes of this account, or of any for root, are ended. It may run at any time, beside sandboxes that start.
func EndAbandoned() int {
	ended := 0
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		p, err := os.FindProcess(pid) // a handle, where the kernel has them: the number may be another's by the time of Kill
		if err != nil {
			continue
		}
		if abandoned(dir, all) && p.Kill() == nil {
			ended++
		}
		_ = p.Release()
	}
	return ended
}

// abandoned reports whether a process of bwrap's is the first of its place, has started nothing, and has lost bwrap.
func abandoned(dir string, all []string) bool {
	line := words(dir)
	if len(line) == 0 || path.Base(line[0]) != "bwrap" || !strings.Contains(" "+strings.Join(line, " ")+" ", " "+strings.Join(marks, " ")+" ") {
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

// words are a process's arguments; none where it has just ended.
func words(dir string) []string {
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// status is one line of what proc_pid_status(5) describes.
func status(dir, field string) string {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(text, fmt.Appendf(nil, "\n%s:", field))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSpace(string(value))
}

package serve

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of what its descendants leave behind (PR_SET_CHILD_SUBREAPER): a daemon that a session
// has started on this machine stays its descendant, and so is recognised when it calls the keeper. stop ends that; it must be
// called once. Without pidfds, which tell our own children from adopted ones, nothing is adopted.
func adopt() (stop func()) {
	if !hasPidfds() || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func() {}
	}
	ended, over, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(ended, unix.SIGCHLD)
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				bury()
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ended)
		close(over)
		<-done
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}

func hasPidfds() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// bury takes the ends of adopted children, for which nobody else waits.
func bury() {
	if !anyDead() { // most have been waited for by now
		return
	}
	dead := zombies(os.Getpid())
	if len(dead) == 0 {
		return
	}
	ours := awaited()
	for _, pid := range dead {
		if !ours[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// anyDead reports whether a child has ended for which nothing has waited yet.
func anyDead() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != nil && err != unix.ECHILD || info.Signo != 0
}

// zombies are the children of a process that have ended.
func zombies(parent int) (pids []int) {
	all, err := os.ReadDir("/proc") // a pattern below it would read the whole directory of each process
	if err != nil {
		return nil
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it is gone
		}
		stat := string(data)
		f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // state, parent, …
		if len(f) < 2 || f[0] != "Z" || f[1] != strconv.Itoa(parent) {
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

// awaited are the children that package os has started and waits for: it holds a pidfd of each from its birth on.
func awaited() map[int]bool {
	pids := map[int]bool{}
	infos, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		return pids
	}
	for _, file := range infos {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			var pid int
			if n, _ := fmt.Sscanf(line, "Pid:\t%d", &pid); n == 1 && pid > 0 {
				pids[pid] = true
			}
		}
	}
	return pids
}

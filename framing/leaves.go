package framing

import (
	"slices"
	"strconv"
	"strings"
)

// Process is a process on a host.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // as proc_pid_comm(5): up to 15 bytes, in which a program may have put anything
}

// Text is its name and its id, for a person.
func (p Process) Text() string { return p.Name + " (process " + strconv.Itoa(p.PID) + ")" }

// Leaves returns a command line that lists the programs that the end of the shell with that process id leaves running: those that
// ignore the hangup, as nohup has it, and those that it has started in a session of their own, as setsid does. A program of another
// session whose parents have ended is not known to be the shell's. Like [Loader]'s, the line means the same to every login
// shell. On systems without /proc/PID/stat, which is Linux's (proc(5)), it lists nothing.
func Leaves(pid int) string { return forLogin(leavesText(), " "+strconv.Itoa(pid)) }

// ParseLeaves reads the output of the line that [Leaves] made for a process. The processes are sorted by their ids.
func ParseLeaves(output string, pid int) (left []Process) {
	_, rest, ok := strings.Cut(output, "fairlead:"+strconv.Itoa(pid)+":\n")
	if !ok {
		return nil
	}
	for line := range strings.Lines(rest) {
		digits, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if pid, err := strconv.Atoi(digits); err == nil && pid > 0 {
			left = append(left, Process{PID: pid, Name: name})
		}
	}
	slices.SortFunc(left, func(a, b Process) int { return a.PID - b.PID })
	return left
}

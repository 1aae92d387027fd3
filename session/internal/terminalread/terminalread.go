// Package terminalread finds out which process on a host waits for its terminal, from what the host's /proc says.
package terminalread

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

//go:embed host/processes.sh
var processesSource string

var processesText = sync.OnceValue(func() string { return hostcode.Line(processesSource) })

// Line returns a command line that reports on a shell and its descendants, one line for each, and the files that
// each has open. It says nothing where there is no Linux /proc. Like framing.Signal's it means the same to every login shell.
func Line(pid int) string {
	return "exec sh -c '" + processesText() + "' " + strconv.Itoa(pid)
}

// Process is what Line says of one.
type Process struct {
	PID    int
	Name   string
	state  string
	parent bool // it has children
	wchan  string
	call   []string       // the system call that it is in, and its arguments; none where that is hidden
	files  map[int]string // open files; none where they are hidden
}

// Parse reads what the program of Line printed; ok says whether that was all of it.
func Parse(said string) (all []Process, ok bool) {
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		if rest, is := strings.CutPrefix(line, "fairlead-process:"); is {
			f := strings.SplitN(rest, ":", 6)
			if len(f) < 6 {
				continue
			}
			pid, err := strconv.Atoi(f[0])
			if err == nil {
				all = append(all, Process{PID: pid, state: f[1], parent: f[2] != "", wchan: f[3], call: strings.Fields(f[4]), Name: f[5], files: map[int]string{}})
			}
			continue
		}
		if line == "fairlead-done:" {
			return all, true
		}
		before, target, is := strings.Cut(line, " -> ")
		if !is || len(all) == 0 {
			continue
		}
		if fd, err := strconv.Atoi(before[strings.LastIndexByte(before, ' ')+1:]); err == nil {
			all[len(all)-1].files[fd] = target
		}
	}
	return nil, false
}

var terminalFile = lazyregexp.New(`^/dev/(tty\w*|pts/\d+|console)$`)

// readCalls are the numbers of read(2): x86-64; arm64 and riscv64; 32-bit machines, ppc64 and s390x; mips.
var readCalls = []string{"0", "63", "3", "4003", "5000"}

// waitCalls are those of poll, ppoll, select and pselect6 on x86-64, and of ppoll and pselect6 on arm64 and riscv64.
var waitCalls = []string{"7", "271", "23", "270", "73", "72"}

// asksForPasswords are programs that others cannot look into, as they run as root, and that wait for a password when they
// sleep without a child.
var asksForPasswords = []string{"sudo", "sudo-rs", "su", "su-rs", "doas", "pkexec", "run0", "passwd", "chsh", "chfn", "newgrp", "sg", "ksu", "login"}

// Evidence is how sure it is that a process waits for the terminal.
type Evidence int

const (
	None   Evidence = iota
	Hidden          // it sleeps, and cannot be looked into
	Asks            // and is a program that asks for passwords
	Reads           // it is in a read of the terminal
)

// Waits says whether p waits for the terminal. shell is the shell that runs the command: its own standard input is the
// terminal on which frames come. prompted says that what was printed last looks like a prompt for a password.
func (p *Process) Waits(shell int, prompted bool) Evidence {
	if p.state != "S" {
		return None
	}
	if len(p.files) == 0 {
		switch {
		case p.PID == shell || p.parent:
			return None
		case slices.Contains(asksForPasswords, p.Name):
			return Asks
		}
		return Hidden
	}
	opened := false // the terminal, by a program that does not trust its standard input
	socket := false
	for _, file := range p.files {
		opened = opened || file == "/dev/tty"
		socket = socket || strings.HasPrefix(file, "socket:")
	}
	if p.PID == shell && !opened {
		return None
	}
	if len(p.call) > 1 && slices.Contains(readCalls, p.call[0]) {
		fd, err := strconv.ParseInt(strings.TrimPrefix(p.call[1], "0x"), 16, 32)
		file := p.files[int(fd)]
		if err == nil && terminalFile.MatchString(file) && (p.PID != shell || file == "/dev/tty") {
			return Reads
		}
		return None
	}
	if len(p.call) > 0 && slices.Contains(waitCalls, p.call[0]) && p.files[0] == "/dev/tty" && !socket && !p.parent {
		return Reads // before it reads, as busybox does
	}
	if len(p.call) == 0 && (strings.HasPrefix(p.wchan, "n_tty_read") || p.wchan == "wait_woken" && opened && !socket) || prompted && opened && !p.parent {
		return Reads
	}
	return None
}

package session

import (
	"context"
	_ "embed"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/become"
)

//go:embed host/processes.sh
var processesSource string

var processesText = sync.OnceValue(func() string { return hostcode.Line(processesSource) })

// readersLine returns a command line that reports on a shell and its descendants, one line for each, and the files that
// each has open. It says nothing where there is no Linux /proc. Like framing.Signal's it means the same to every login shell.
func readersLine(pid int) string {
	return "exec sh -c '" + processesText() + "' " + strconv.Itoa(pid)
}

// process is what readersLine says of one.
type process struct {
	pid    int
	name   string
	state  string
	parent bool // it has children
	wchan  string
	call   []string       // the system call that it is in, and its arguments; none where that is hidden
	files  map[int]string // open files; none where they are hidden
}

// parseProcesses reads what the program of readersLine printed; ok says whether that was all of it.
func parseProcesses(said string) (all []process, ok bool) {
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		if rest, is := strings.CutPrefix(line, "fairlead-process:"); is {
			f := strings.SplitN(rest, ":", 6)
			if len(f) < 6 {
				continue
			}
			pid, err := strconv.Atoi(f[0])
			if err == nil {
				all = append(all, process{pid: pid, state: f[1], parent: f[2] != "", wchan: f[3], call: strings.Fields(f[4]), name: f[5], files: map[int]string{}})
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

// evidence is how sure it is that a process waits for the terminal.
type evidence int

const (
	noEvidence evidence = iota
	hidden              // it sleeps, and cannot be looked into
	asks                // and is a program that asks for passwords
	reads               // it is in a read of the terminal
)

// reads says whether p waits for the terminal. shell is the shell that runs the command: its own standard input is the
// terminal on which frames come. prompted says that what was printed last looks like a prompt for a password.
func (p *process) reads(shell int, prompted bool) evidence {
	if p.state != "S" {
		return noEvidence
	}
	if len(p.files) == 0 {
		switch {
		case p.pid == shell || p.parent:
			return noEvidence
		case slices.Contains(asksForPasswords, p.name):
			return asks
		}
		return hidden
	}
	opened := false // the terminal, by a program that does not trust its standard input
	socket := false
	for _, file := range p.files {
		opened = opened || file == "/dev/tty"
		socket = socket || strings.HasPrefix(file, "socket:")
	}
	if p.pid == shell && !opened {
		return noEvidence
	}
	if len(p.call) > 1 && slices.Contains(readCalls, p.call[0]) {
		fd, err := strconv.ParseInt(strings.TrimPrefix(p.call[1], "0x"), 16, 32)
		file := p.files[int(fd)]
		if err == nil && terminalFile.MatchString(file) && (p.pid != shell || file == "/dev/tty") {
			return reads
		}
		return noEvidence
	}
	if len(p.call) > 0 && slices.Contains(waitCalls, p.call[0]) && p.files[0] == "/dev/tty" && !socket && !p.parent {
		return reads // before it reads, as busybox does
	}
	if len(p.call) == 0 && (strings.HasPrefix(p.wchan, "n_tty_read") || p.wchan == "wait_woken" && opened && !socket) || prompted && opened && !p.parent {
		return reads
	}
	return noEvidence
}

// terminalReader looks for a process of the command that waits for the terminal. known says whether the host lets one look.
func (x *Exec) terminalReader(ctx context.Context, sh *shell, prompted bool) (best process, how evidence, known bool) {
	t := x.s.transport()
	if t == nil {
		return best, noEvidence, false
	}
	stream, err := x.s.held(t).Open(become.Unasked(ctx), Program{Line: readersLine(sh.hello.PID)})
	if err != nil {
		return best, noEvidence, false
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	said, _ := io.ReadAll(io.LimitReader(stream, 1<<20))
	all, known := parseProcesses(string(said))
	for _, p := range all {
		if e := p.reads(sh.hello.PID, prompted); e > how {
			best, how = p, e
		}
	}
	return best, how, known
}

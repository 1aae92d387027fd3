// Package prompt reads commands for many hosts at a terminal, one line at a time. It knows lines, and what begins with a
// colon; who runs the commands is the caller's.
//
// Each line is one command. Lines that are pasted together become one command, which runs with Enter: a text that somebody
// else wrote is not run by being pasted. ^C drops a line that is typed, and ^D on an empty one ends the prompt. The terminal
// is as it was while a command runs. The package has no global state.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Form is how results are printed.
type Form string

// The forms.
const (
	Lines Form = ""
	Fold  Form = "fold"
	Diff  Form = "diff"
)

// Request is a command on some of the hosts.
type Request struct {
	Command string
	Hosts   []int // by their places, ascending; at least one
	Form    Form
	Forks   int
	Become  string // the account to run as, or none; "" is what the caller said at first
}

// Answer is what became of it.
type Answer struct {
	Code   int // what a program that ran this command alone would exit with
	Failed int // hosts where it did not succeed
}

// Config is what a prompt needs. Terminal, Notices, Hosts and Run are required.
type Config struct {
	Terminal Terminal  // where lines are read; the caller closes it
	Notices  io.Writer // what the prompt itself says
	Hosts    []string  // how the hosts are called
	Folded   func(names []string) string

	Form  Form
	Forks int

	// Run runs a command. An error ends the prompt: the caller has shown all others.
	Run func(ctx context.Context, r Request) (Answer, error)
	// Only finds the hosts that a word picks: those where the last command failed, for instance.
	Only func(word string) ([]int, error)
	// History is what was run before, the newest first. It is called at most once, when it is asked for; nil is nothing.
	History func() []string
	// Complete completes a line of a command at a byte of it; nil completes nothing. It returns soon.
	Complete func(ctx context.Context, line string, at int) (before string, words []string)
}

// Prompt is a prompt. It is used by one goroutine.
type Prompt struct {
	cfg     Config
	hosts   []int // that the next command runs on
	form    Form
	forks   int
	become  string
	failed  int // of the last command
	code    int
	editor  *editor
	history *history
}

// New returns a Prompt.
func New(cfg Config) *Prompt {
	p := &Prompt{cfg: cfg, form: cfg.Form, forks: cfg.Forks, history: &history{old: cfg.History}}
	p.all()
	return p
}

func (p *Prompt) all() {
	p.hosts = make([]int, len(p.cfg.Hosts))
	for i := range p.hosts {
		p.hosts[i] = i
	}
}

// maxCommand bounds the lines that are pasted as one command.
const maxCommand = 64 << 10

// maxLine is how many characters of a line the library takes: it leaves out what is typed after them.
const maxLine = 4096

// Run reads and runs commands until the end of input or of ctx, whose cause it returns then. code is that of the last command.
func (p *Prompt) Run(ctx context.Context) (code int, err error) {
	p.editor = newEditor(p.cfg.Terminal, p.history, func(line string, at int) (string, int, bool) { return p.complete(ctx, line, at) })
	p.say("%s. Each line runs on all of them, in a fresh shell; :help shows more, ^D ends\n", p.described())
	var pasted []string
	over := false // too much was pasted: a part of it would be another command
	for {
		line, how, err := p.editor.read(ctx, p.text(len(pasted) > 0 || over))
		switch {
		case errors.Is(err, io.EOF):
			return p.code, nil
		case err != nil:
			return p.code, err
		case how == dropped:
			pasted, over = nil, false
			continue
		case how == fromPaste:
			if over = over || size(pasted)+len(line) > maxCommand; over {
				pasted = nil
			} else {
				pasted = append(pasted, line)
			}
			continue
		case over:
			p.say("more than %d bytes were pasted, and nothing of it was run: use --script FILE\n", maxCommand)
			over = false
			continue
		case utf8.RuneCountInString(line) == maxLine:
			p.say("the line has %d characters, as many as can be typed: what came after them is missing, so it was not run; use --script FILE\n", maxLine)
			pasted = nil
			continue
		}
		if len(pasted) > 0 {
			line = strings.TrimRight(strings.Join(append(pasted, line), "\n"), "\n")
			pasted = nil
		}
		end, err := p.line(ctx, line)
		if err != nil || end {
			return p.code, err
		}
	}
}

func size(lines []string) (n int) {
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// line does what a line says. end is the end of the prompt.
func (p *Prompt) line(ctx context.Context, line string) (end bool, err error) {
	plain := strings.TrimSpace(line)
	switch {
	case plain == "":
		return false, nil
	case plain == "exit" || plain == "quit":
		return true, nil
	case isOwn(plain):
		return p.own(plain), nil
	case plain == "cd" || strings.HasPrefix(plain, "cd ") && !strings.ContainsAny(plain, ";&|\n"):
		p.say("each command starts in the home directory, and cd alone has no effect: write cd DIR && COMMAND, or start with --cwd DIR\n")
		return false, nil
	}
	a, err := p.cfg.Run(ctx, Request{Command: line, Hosts: p.hosts, Form: p.form, Forks: p.forks, Become: p.become})
	p.code, p.failed = a.Code, a.Failed
	return false, err
}

func (p *Prompt) say(format string, args ...any) {
	fmt.Fprintf(p.cfg.Notices, "fairlead: "+format, args...)
}

// text is what stands before the line that is typed.
func (p *Prompt) text(more bool) string {
	if more {
		return "(pasted) > "
	}
	text := count(len(p.hosts))
	if len(p.hosts) < len(p.cfg.Hosts) {
		text = fmt.Sprintf("%d of %s", len(p.hosts), count(len(p.cfg.Hosts)))
	}
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	return text + "> "
}

func count(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// described names the hosts of the next command.
func (p *Prompt) described() string {
	return count(len(p.hosts)) + ": " + p.cfg.Folded(p.names())
}

func (p *Prompt) names() []string {
	names := make([]string, len(p.hosts))
	for i, at := range p.hosts {
		names[i] = p.cfg.Hosts[at]
	}
	return names
}

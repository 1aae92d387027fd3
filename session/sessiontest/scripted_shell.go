package sessiontest

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
)

// shell is the far side of the protocol that package framing describes. The terminal's lock guards it.
type shell struct {
	pid   int
	nonce string
	token string // of the supervisor
	ready bool
	in    []byte // typed and not used yet
	dir   string
	job   *job // the command that runs
}

// job is a command that has begun and not ended.
type job struct {
	frame       string // its token
	merged      bool
	typedAt     bool // it is interactive
	reply       Reply
	hanging     bool // it waits for a signal
	interrupted chan struct{}
}

const recordSeparator = "\x1e"

var (
	loaderNonce = regexp.MustCompile(`([A-Za-z0-9_-]{11}) ([A-Za-z0-9_-]{11}) R;`)
	frameHead   = regexp.MustCompile(`^([A-Za-z0-9_-]{11})''([A-Za-z0-9_-]{11})(?: (?::[0-9]+:)?([a-z-])(?:[0-9]+:[0-9]+)?)?[ \n]`)
)

// boot is the login shell, and the loader that it is given.
func (s *terminal) boot(line string) error {
	m := loaderNonce.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("sessiontest: a scripted host runs nothing but shells")
	}
	d := s.link.d
	d.mu.Lock()
	d.lastPID++
	s.pid = d.lastPID
	d.mu.Unlock()
	s.nonce, s.token, s.dir = m[1]+m[2], framing.NewToken().String(), "/home/test"
	if s.faults.Nologin != "" {
		s.print(s.faults.Nologin)
		if s.faults.Mute {
			return nil
		}
		s.end(session.Exit{Code: 1})
		return nil
	}
	s.print(s.nonce, "R")
	return nil
}

// typed takes what is typed: ^C is a signal, the rest waits until the shell reads it.
func (s *terminal) typed(p []byte) {
	if s.faults.Mute {
		return
	}
	if s.ready && !bytes.Contains(p, []byte("export -p")) { // a snapshot is nobody's command
		d := s.link.d
		d.mu.Lock()
		d.machine(s.link.host.Name).typed += len(p)
		d.mu.Unlock()
	}
	if bytes.IndexByte(p, 3) >= 0 {
		s.interrupt("INT")
		p = bytes.ReplaceAll(p, []byte{3}, nil)
	}
	if s.faults.Deaf && s.ready {
		return
	}
	s.in = append(s.in, p...)
	s.readOn()
}

// readOn uses what has been typed, as far as no command runs.
func (s *terminal) readOn() {
	for s.job == nil && !s.ended && !s.closed {
		end := recordSeparator + "\n"
		if !s.ready {
			end = "\n" + end // the bootstrap holds others
		}
		text, rest, ok := bytes.Cut(s.in, []byte(end))
		if !ok {
			return
		}
		if s.in = rest; len(rest) == 0 {
			s.in = nil
		}
		if !s.ready {
			s.hello(string(text))
		} else {
			s.frame(string(text))
		}
	}
}

// hello answers the bootstrap.
func (s *terminal) hello(text string) {
	if _, word, ok := strings.Cut(text, "\ncd "); ok {
		if dir, ok := unquote(word); ok {
			s.dir = dir
		}
	}
	s.ready = true
	mark := recordSeparator + s.nonce
	s.print(mark, "T", s.token, "\n", mark, "H", fmt.Sprintf("bash;%d;;%s", s.pid, s.dir), mark, "h")
}

// frame begins a command.
func (s *terminal) frame(text string) {
	text = strings.TrimPrefix(text, "\n") // after what may have left the terminal cooked
	m := frameHead.FindStringSubmatch(text)
	script, ok := "", m != nil
	if ok {
		script, ok = unquote(text[len(m[0]):])
	}
	// A one-off command that may set a trap is sent with the end of its shell behind it.
	if inner, found := strings.CutSuffix(script, "\n{ \\exit; } 2>/dev/null"); found && strings.HasPrefix(inner, `\eval `) {
		script, ok = unquote(inner[len(`\eval `):])
	}
	if !ok {
		s.link.d.t.Errorf("sessiontest: %s was sent something that is not a frame: %.200q", s.link.host.Name, text)
		return
	}
	j := &job{frame: m[1] + m[2], merged: m[3] == "m" || m[3] == "x", typedAt: m[3] == "x"}
	s.job = j
	switch script {
	case framing.Repair, framing.ForgetScript():
		s.print(recordSeparator, j.frame, "S")
		s.finish(0)
		return
	case framing.RefreshScript(framing.Bash):
		s.print(recordSeparator, j.frame, "S")
		s.print("declare -f _fl_R\n")
		s.finish(0)
		return
	case framing.SnapshotScript(framing.Bash): // a scripted host exports nothing
		s.print(recordSeparator, j.frame, "S")
		s.print("0022\n")
		s.finish(0)
		return
	}
	reply, ask := s.link.d.reply(s.link.host.Name, script)
	if ask == nil {
		s.answer(j, reply)
		return
	}
	s.print(recordSeparator, j.frame, "S")
	j.interrupted = make(chan struct{})
	c := &Call{
		Host: s.link.host.Name, Script: script, Dir: s.dir, Merged: j.merged, Interrupted: j.interrupted, HungUp: s.hungUp,
		Stdout: outlet(func(p string) { s.output(j, p) }), Stderr: outlet(func(p string) { s.errors(j, p) }),
	}
	s.calls.Go(func() {
		reply := ask(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		j.interrupted = nil
		s.carryOut(j, reply)
		s.readOn()
	})
}

// outlet is a command's stream for a function.
type outlet func(p string)

func (o outlet) Write(p []byte) (int, error) {
	o(string(p))
	return len(p), nil
}

var _ io.Writer = outlet(nil)

func (s *terminal) output(j *job, p string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(p)
}

func (s *terminal) errors(j *job, p string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printError(j, p)
}

// printError prints a record of standard error.
func (s *terminal) printError(j *job, p string) {
	switch {
	case p == "":
	case j.merged:
		s.print(p)
	default:
		s.print(recordSeparator, s.token, "e", strconv.Itoa(len(p)), ";", p)
	}
}

// answer is a command from its start.
func (s *terminal) answer(j *job, r Reply) {
	if r.Wire != "" {
		s.job = nil
		s.print(strings.NewReplacer("^", recordSeparator, "@F", j.frame, "@S", s.token, "@N", s.nonce).Replace(r.Wire))
		return
	}
	s.print(recordSeparator, j.frame, "S")
	s.carryOut(j, r)
}

// carryOut is a command that has started.
func (s *terminal) carryOut(j *job, r Reply) {
	j.reply = r
	s.print(r.Stdout)
	s.printError(j, r.Stderr)
	if r.Hang {
		j.hanging = true
		return
	}
	s.finish(r.Exit)
}

// finish is a command's end, and the shell's if the reply says so.
func (s *terminal) finish(code int) {
	j := s.job
	s.job = nil
	if j.typedAt { // it has read that, and made nothing of it
		s.in = nil
	}
	if j.reply.Dir != "" {
		s.dir = j.reply.Dir
	}
	switch mark := recordSeparator + j.frame; {
	case j.reply.Ends:
		bye := recordSeparator + s.nonce
		s.print(bye, "C", s.dir, bye, "c")
		fallthrough
	case j.reply.Killed != 0:
		s.print(recordSeparator, s.token, fmt.Sprintf("X%d;%d\n", code, j.reply.Killed))
		s.end(session.Exit{Code: code})
	default:
		s.print(mark, "E", fmt.Sprintf("%d;h;%s", code, s.dir), mark, "Z\n", j.reply.Late)
	}
}

var signalNumbers = map[string]int{"INT": 2, "TERM": 15, "KILL": 9}

// interrupt is a signal to the command that runs.
func (s *terminal) interrupt(signal string) {
	j := s.job
	switch {
	case j == nil:
	case j.interrupted != nil && signal == "INT":
		select {
		case <-j.interrupted:
		default:
			close(j.interrupted)
		}
	case j.hanging && !strings.Contains(j.reply.Ignores, signal):
		j.reply.Ends, j.reply.Killed = false, 0
		s.finish(128 + signalNumbers[signal])
	}
}

// signal sends a signal to the processes of the command that runs, and returns how many there are.
func (s *terminal) signal(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job == nil || s.job.reply.Builtin {
		return 0
	}
	s.interrupt(name)
	s.readOn()
	return 1
}

// hears is signal for the shell alone.
func (s *terminal) hears(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt(name)
	s.readOn()
}

var octal = regexp.MustCompile(`\\[0-7]{3}`)

// unquote reads a word as framing writes it, up to its end or a newline.
func unquote(word string) (string, bool) {
	var b strings.Builder
	for word != "" {
		open, end := "", ""
		switch {
		case word[0] == '\n':
			return b.String(), true
		case strings.HasPrefix(word, "\\\n"):
			word = word[2:]
			continue
		case word[0] == '\\' && len(word) > 1:
			b.WriteByte(word[1])
			word = word[2:]
			continue
		case word[0] == '\'':
			open, end = "'", "'"
		case strings.HasPrefix(word, "$'"):
			open, end = "$'", "'"
		case strings.HasPrefix(word, `"$(\command printf '`):
			open, end = `"$(\command printf '`, `')"`
		default:
			return "", false
		}
		text, rest, ok := strings.Cut(word[len(open):], end)
		if !ok {
			return "", false
		}
		if open != "'" {
			text = octal.ReplaceAllStringFunc(text, func(o string) string {
				n, _ := strconv.ParseUint(o[1:], 8, 8)
				return string([]byte{byte(n)})
			})
		}
		b.WriteString(text)
		word = rest
	}
	return b.String(), true
}

package framing

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// maxUnframed is the longest line that a server can hand to a login shell: Linux takes no longer argument (execve(2)).
const maxUnframed = 128<<10 - 1

var errUnframed = fmt.Errorf("framing: without a terminal a command can be about %d KiB long, quoting included: copy it to the host as a file and run that", maxUnframed>>10)

// Unframed returns a command line that runs cmd in a fresh shell without a terminal, for a channel whose standard output and
// standard error are the command's own. It prints a mark on both before that: see [Preamble]. Like [Loader]'s, it means the same
// to every login shell. Of cmd it takes Script, whether Mode is Merged, and whether Stdin, which is any word, leaves standard
// input to the channel; "" is /dev/null. Of sh it takes all but Dir, Hold and Reader.
func Unframed(nonce Token, sh Shell, cmd Command) (string, error) {
	var settings bytes.Buffer
	for _, kv := range sh.Env {
		if !isVariable(kv) {
			return "", errVariable
		}
		if err := appendLine(&settings, "export ", kv); err != nil {
			return "", err
		}
	}
	script, err := Quote(toEvaluate(cmd.Script))
	if err != nil {
		return "", err
	}
	prelude := sh.Prelude
	text := unframedText()
	if sh.Clean {
		text, prelude = unframedCleanText(), shellCleanText()+"\n"+prelude
	}
	// The shell ends by itself, so that no program takes its place: that one's death by a signal would be the shell's.
	program := `\unset fairlead; \eval ` + script + "\n\\exit"
	if prelude != "" {
		program = `\unset fairlead; \eval ` + word(prelude) + `; \eval ` + script + "\n\\exit"
	}
	streams, login := "", ""
	if cmd.Stdin == "" {
		streams = "</dev/null"
	}
	if cmd.Mode == Merged {
		streams += " 2>&1"
	}
	if sh.Login {
		login = "y"
	}
	text = withMarks(text, nonce, "settings", settings.String(), "program", word(program), "shell", word(sh.Name), "login", word(login),
		"streams", streams)
	line := forLogin(`eval "$(printf %b "$0")"`, " '"+octal3(text)+"'")
	if len(line) > maxUnframed {
		return "", errUnframed
	}
	return line, nil
}

// octal3 writes text so that it is the same between the single quotes of every login shell, for the %b of printf(1).
func octal3(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c >= 0x7f, c == '\'', c == '\\', c == '!':
			fmt.Fprintf(&b, `\0%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Preamble takes what comes before a command's own output from one stream of a line that [Unframed] made. Use one for each.
type Preamble struct {
	mark string
	buf  []byte
	pid  int
}

// NewPreamble returns the Preamble for a stream of Unframed(nonce, …).
func NewPreamble(nonce Token) *Preamble { return &Preamble{mark: "\x1e" + nonce.String()} }

// Feed takes the next piece of the stream. began becomes true once, and then own is the beginning of the command's output; Feed
// must not be called again. The error is a *[StartupError].
func (p *Preamble) Feed(b []byte) (own []byte, began bool, err error) {
	p.buf = append(p.buf, b...)
	if text, _, ok := p.line("F"); ok {
		return nil, false, &StartupError{text}
	}
	text, own, ok := p.line("P")
	if !ok {
		if len(p.buf) > maxNoise {
			return nil, false, &StartupError{fmt.Sprintf("the login shell printed more than %d bytes before the command began", maxNoise)}
		}
		return nil, false, nil
	}
	if p.pid, err = strconv.Atoi(text); err != nil || p.pid <= 1 {
		return nil, false, &StartupError{"the shell sent an invalid process id"}
	}
	p.buf = nil
	return own, true, nil
}

// line cuts the stream behind a mark with that letter.
func (p *Preamble) line(letter string) (text string, rest []byte, ok bool) {
	_, rest, _ = bytes.Cut(p.buf, []byte(p.mark+letter))
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSuffix(string(line), "\r"), rest, ok
}

// PID is the process id of the command's shell, once it has begun. It leads a process group of its own on most servers.
func (p *Preamble) PID() int { return p.pid }

// Noise is what was printed so far.
func (p *Preamble) Noise() string { return string(p.buf) }

// SignalTree returns a command line that sends a signal ("INT", "TERM", "KILL") to a process and to all its descendants. See
// [ParseSignaled] for what it prints.
func SignalTree(pid int, signal string) string {
	return forLogin(hostcode.Fill(killText(), "signal", signal), " "+strconv.Itoa(pid))
}

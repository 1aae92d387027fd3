package framing

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// Mode says what a command's descriptors are.
type Mode uint8

// The modes. In each, standard input is /dev/null unless the mode says otherwise.
const (
	Split       Mode = iota // standard output and standard error apart
	Merged                  // both in the order in which they were written, as standard output
	Tty                     // as Split, but standard input is the terminal: for repairing its settings
	Interactive             // all three are the terminal, cooked for the time of the command: output is Stdout as a screen gets it
)

// Command is what a frame carries.
type Command struct {
	Script string // shell source, passed on untouched; "" is a command that does nothing
	Mode   Mode
	Trace  bool // xtrace was on when the last command ended; see [Trailer]
	Status int  // the exit code of the command before: what $? is at the start

	// Stdin is the absolute path of the file that the command gets as standard input, of letters, digits and "/._-"
	// only; "" leaves it to the mode. The command starts when the file could be opened, which may wait (a FIFO).
	Stdin string

	Rows, Cols int // of the terminal, for Interactive; 0 means 24 and 80
}

// header is what a frame's first line says of the mode.
func (c Command) header() (string, error) {
	if c.Stdin != "" && (c.Stdin[0] != '/' || strings.Trim(c.Stdin, pathBytes) != "" || len(c.Stdin) > maxLine/2) {
		return "", errStdin
	}
	switch {
	case c.Mode == Interactive:
		rows, cols := c.Rows, c.Cols
		if rows <= 0 || cols <= 0 {
			rows, cols = 24, 80
		}
		return fmt.Sprintf(" x%d:%d", rows, cols), nil
	case c.Mode == Merged:
		return " m" + c.Stdin, nil
	case c.Mode == Tty:
		return " t", nil
	case c.Stdin != "":
		return " " + c.Stdin, nil
	}
	return " -", nil
}

const pathBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"

var errStdin = errors.New("framing: the path for standard input must be absolute, of letters, digits and /._- only")

// maxLine bounds every line that is typed, in bytes: a terminal that somebody put back into canonical mode cuts lines
// at 4095 (termios(3)).
const maxLine = 1000

// Append appends the frame for cmd to dst: what to type at a shell of dialect d that waits for one. The text holds no
// control byte but newlines and the closing RS, whatever the script holds, so a terminal that is raw, or was made cooked, changes
// nothing of it. Where the host has perl, other modes that a command leaves ("stty istrip") are undone before the next. A script that holds a NUL byte is refused with a *QuoteError; on any error dst is returned unchanged.
//
// # Limits
//
// Traps on DEBUG and ERR do not outlive the command that sets them. Redirections with exec do not outlive the command
// either for descriptors 0, 1, 2, 8 and 9, in bash 0, 1, 2 and 241 to 243. What an interrupt may end with the shell: a command that
// has more to run, in ksh93, mksh, dash and ash; the shell then leaves with 130. ksh93 forgets an interrupt that comes in a
// substitution, and the one of [Signal] in a subshell too. A trap on INT of the command's own takes the driver's place, and one on
// URG that of [Signal].
//
// Of the command before, PIPESTATUS is not kept, nor $? in mksh under xtrace. mksh counts no lines. ksh93 puts an eval[1] for each of
// the driver's lists before its messages. In zsh the jobs of commands are numbered from 9: %1 to %8 are the driver's own, for which kill
// does nothing, so use $! there. For the missing text of a here-document at the end of a command ksh93 takes an old one, also of the
// driver: it holds no token. A break or continue there that names more loops than there are ends the command. A child of mksh
// that is signaled before it has become its program may miss that.
func Append(dst []byte, d Dialect, tok Token, cmd Command) ([]byte, error) {
	if i := strings.IndexByte(cmd.Script, 0); i >= 0 {
		return dst, &QuoteError{Offset: i}
	}
	header, err := cmd.header()
	if err != nil {
		return dst, err
	}
	dst = append(dst, tok.halves()...)
	if d == POSIX {
		header = " " + afterInterrupt(cmd.Script) + header[1:]
	}
	if cmd.Trace {
		header = " T" + header[1:]
	}
	if cmd.Status&255 != 0 {
		header = fmt.Sprintf(" :%d:%s", cmd.Status&255, header[1:])
	}
	dst = append(dst, header...)
	// Behind the mode comes a word that fits the line; a longer one begins on the next.
	if len(cmd.Script) < maxLine/2 && !strings.Contains(cmd.Script, "\n") {
		dst = append(dst, ' ')
	} else {
		dst = append(dst, '\n')
	}
	q := lineQuoter{dst: dst, line: len(dst), dialect: d}
	if cmd.Trace {
		if code := cmd.Status & 255; code != 0 && d != Mksh { // which traces to where errors went then
			q.text(hostcode.Fill(traceAfterFailureText(), "status", strconv.Itoa(code)))
		} else {
			q.text(traceText())
		}
	}
	q.text(toEvaluate(cmd.Script))
	dst = q.finish()
	return append(dst, rs, '\n'), nil
}

// toEvaluate returns what eval is given for script: behind a blank, a script that begins with "-" is no option of eval's.
func toEvaluate(script string) string {
	if strings.HasPrefix(script, "-") {
		return " " + script
	}
	return script
}

// lineQuoter writes a text as one shell word over many short lines.
type lineQuoter struct {
	dst     []byte
	line    int // where the current line begins in dst
	dialect Dialect
	open    bool // inside single quotes
	any     bool // something has been written
}

func (q *lineQuoter) text(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		if len(q.dst)-q.line > maxLine {
			q.close()
			q.dst = append(q.dst, '\\', '\n') // outside quotes: the next line continues the word
			q.line = len(q.dst)
		}
		switch {
		case c == '\'':
			q.close()
			q.dst = append(q.dst, '\\', '\'')
			i++
		case isControl(c):
			n := 1
			for i+n < len(s) && n < 64 && isControl(s[i+n]) {
				n++
			}
			q.close()
			q.controls(s[i : i+n])
			i += n
		default:
			if !q.open {
				q.dst = append(q.dst, '\'')
				q.open = true
			}
			q.dst = append(q.dst, c)
			if c == '\n' {
				q.line = len(q.dst)
			}
			i++
		}
		q.any = true
	}
}

// isControl reports whether c may mean something to a terminal. Tab and newline do not, in any mode we can be in.
func isControl(c byte) bool { return c < 0x20 && c != '\n' && c != '\t' || c == 0x7f }

// controls writes control bytes as an expansion that yields them. In a substitution the full stop keeps nothing: the
// bytes never end in a newline.
func (q *lineQuoter) controls(s string) {
	if q.dialect.controlEscape() {
		q.dst = append(q.dst, "$'"...)
	} else {
		q.dst = append(q.dst, `"$(\command printf '`...)
	}
	for i := range len(s) {
		q.dst = fmt.Appendf(q.dst, `\%03o`, s[i])
	}
	if q.dialect.controlEscape() {
		q.dst = append(q.dst, '\'')
	} else {
		q.dst = append(q.dst, `')"`...)
	}
}

func (q *lineQuoter) close() {
	if q.open {
		q.dst = append(q.dst, '\'')
		q.open = false
	}
}

func (q *lineQuoter) finish() []byte {
	q.close()
	if !q.any {
		q.dst = append(q.dst, "''"...)
	}
	return q.dst
}

package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// action is what an escape sequence asks for.
type action int

const (
	nothing action = iota
	hangUp
	showHelp
	refuse
	suspend
)

// escape finds escape sequences in what is typed, by the rules of OpenSSH's client: they count at the beginning of a
// line only. The zero escape finds none.
type escape struct {
	char byte // 0 means that there is no escape character

	within bool // a line has begun
	held   bool // char was typed and waits for what follows
	other  byte // what followed it where it is refused
}

// others are the keys of sequences that ssh has besides: they reach the host as little as with ssh.
const others = "BCRVv#&"

// filter appends what goes to the host to dst, up to the first sequence that asks for something; rest is what follows it.
func (e *escape) filter(dst, p []byte) (out []byte, do action, rest []byte) {
	if e.char == 0 {
		return append(dst, p...), nothing, nil
	}
	for i, c := range p {
		switch {
		case e.held:
			e.held = false
			if c != e.char && strings.IndexByte(others, c) >= 0 {
				e.other = c
				return dst, refuse, p[i+1:]
			}
			switch c {
			case '.':
				return dst, hangUp, p[i+1:]
			case '?':
				return dst, showHelp, p[i+1:]
			case 'Z' & 0x1f:
				return dst, suspend, p[i+1:]
			case e.char:
				dst, e.within = append(dst, c), true
			default:
				dst = append(dst, e.char, c)
				e.within = !endsLine(c)
			}
		case c == e.char && !e.within:
			e.held = true
		default:
			dst = append(dst, c)
			e.within = !endsLine(c)
		}
	}
	return dst, nothing, nil
}

func endsLine(c byte) bool { return c == '\r' || c == '\n' }

// help is what the help sequence shows, for a raw terminal.
func (e *escape) help() string {
	return fmt.Sprintf("\r\nAt the beginning of a line:\r\n  %[1]s.  hang up\r\n  %[1]s^Z suspend fairlead; the local shell's fg comes back\r\n  %[1]s?  this help\r\n  %[1]s%[1]s  type %[1]s\r\n"+
		"Others that ssh has (%[1]sB %[1]sC %[1]sR %[1]sV %[1]sv %[1]s# %[1]s&) are not supported; %[1]s%[1]s and the key type one.\r\n", shown(e.char))
}

// refusal is what the sequence that is refused shows.
func (e *escape) refusal() string {
	return fmt.Sprintf("\r\nfairlead: the escape %[1]s%[2]c is not supported, and the host gets nothing of it; %[1]s? shows those that are, and %[1]s%[1]s%[2]c types it\r\n", shown(e.char), e.other)
}

// shown is an escape character as ParseEscape takes it.
func shown(char byte) string {
	switch {
	case char == 0:
		return "none"
	case char < ' ':
		return string([]byte{'^', char | '@'})
	}
	return string(rune(char))
}

// ParseEscape reads an escape character; 0 is none.
func ParseEscape(v string) (byte, error) {
	switch {
	case v == "none":
		return 0, nil
	case len(v) == 1 && v[0] > ' ' && v[0] < 0x7f && v != "." && v != "?":
		return v[0], nil
	case len(v) == 2 && v[0] == '^' && v[1]&0x1f != 0 && v[1] > '@' && v[1] < 0x7f:
		return v[1] & 0x1f, nil
	}
	return 0, errors.New("must be one printable character other than . and ?, a control character (^A), or none")
}

// Escapes is what is typed at in, a raw terminal, without the escape sequences that begin with char. The one that hangs up calls
// hangUp, and ends the input; the one that suspends calls suspend; help goes to out.
func Escapes(in io.Reader, char byte, out io.Writer, hangUp, suspend func()) io.Reader {
	return &escaped{in: in, out: out, hangUp: hangUp, suspend: suspend, esc: escape{char: char}}
}

type escaped struct {
	in     io.Reader
	out    io.Writer
	hangUp func()
	esc    escape

	suspend func()

	pass  []byte // what has been found to go to the host
	typed []byte // what has not been looked at
	err   error
}

func (e *escaped) Read(p []byte) (int, error) {
	for len(e.pass) == 0 && len(e.typed) == 0 && e.err == nil {
		var n int
		n, e.err = e.in.Read(p)
		e.typed = append(e.typed, p[:n]...)
		e.look()
	}
	n := copy(p, e.pass)
	e.pass = e.pass[n:]
	if n == 0 && e.err != nil {
		return 0, e.err
	}
	return n, nil
}

// look looks for sequences in what has been typed.
func (e *escaped) look() {
	for len(e.typed) > 0 {
		var do action
		e.pass, do, e.typed = e.esc.filter(e.pass, e.typed)
		switch do {
		case hangUp:
			e.typed, e.err = nil, io.EOF
			e.hangUp()
		case suspend:
			e.suspend()
		case showHelp:
			_, _ = io.WriteString(e.out, e.esc.help())
		case refuse:
			_, _ = io.WriteString(e.out, e.esc.refusal())
		}
	}
}

// escapeFlag is --escape.
type escapeFlag struct{ char *byte }

// Set takes what ParseEscape takes.
func (f escapeFlag) Set(v string) (err error) {
	char, err := ParseEscape(v)
	if err == nil {
		*f.char = char
	}
	return err
}

func (f escapeFlag) String() string {
	if f.char == nil {
		return "none"
	}
	return shown(*f.char)
}

func (f escapeFlag) Type() string { return "char|none" }

package shell

import (
	"errors"
	"fmt"
)

// action is what an escape sequence asks for.
type action int

const (
	nothing action = iota
	hangUp
	showHelp
)

// escape finds escape sequences in what is typed, by the rules of OpenSSH's client: they count at the beginning of a
// line only. The zero escape finds none.
type escape struct {
	char byte // 0 means that there is no escape character

	within bool // a line has begun
	held   bool // char was typed and waits for what follows
}

// filter appends what goes to the host to dst, up to the first sequence that asks for something; rest is what follows it.
func (e *escape) filter(dst, p []byte) (out []byte, do action, rest []byte) {
	if e.char == 0 {
		return append(dst, p...), nothing, nil
	}
	for i, c := range p {
		switch {
		case e.held:
			e.held = false
			switch c {
			case '.':
				return dst, hangUp, p[i+1:]
			case '?':
				return dst, showHelp, p[i+1:]
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
	return fmt.Sprintf("\r\nAt the beginning of a line:\r\n  %[1]c.  hang up\r\n  %[1]c?  this help\r\n  %[1]c%[1]c  type %[1]c\r\n", e.char)
}

// escapeFlag is --escape.
type escapeFlag struct{ char *byte }

// Set takes one printable character, or none.
func (f escapeFlag) Set(v string) error {
	switch {
	case v == "none":
		*f.char = 0
	case len(v) == 1 && v[0] > ' ' && v[0] < 0x7f && v != "." && v != "?":
		*f.char = v[0]
	default:
		return errors.New("must be one printable character other than . and ?, or none")
	}
	return nil
}

func (f escapeFlag) String() string {
	if f.char == nil || *f.char == 0 {
		return "none"
	}
	return string(rune(*f.char))
}

func (f escapeFlag) Type() string { return "char|none" }

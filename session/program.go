package session

import (
	"context"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// held is t with programs started as the host's Become and Config.Program say. Signals go the same way as shells: process numbers mean
// something only where the shell is.
func (s *Session) held(t Transport) Transport {
	t = s.elevation.on(t)
	if s.cfg.Program == nil {
		return t
	}
	return heldTransport{t, s.cfg.Program}
}

type heldTransport struct {
	Transport
	change func(Program) (Program, error)
}

// Held implements seam.Held.
func (heldTransport) Held() {}

func (t heldTransport) Open(ctx context.Context, p Program) (Stream, error) {
	p, err := t.change(p)
	if err != nil {
		return nil, &placeError{err}
	}
	return t.Transport.Open(ctx, p)
}

// placeError is why Config.Program starts no program: that is not the host's doing.
type placeError struct{ err error }

func (e *placeError) Error() string { return e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

var errPlace = errors.New("the session's programs are held in a place of their own, which ends with the session: nothing can go on by itself there")

// wrappable fails x where it cannot be wrapped here.
func (s *Session) wrappable(x *Exec) bool {
	if x.cmd.inner.wrapping == nil || s.cfg.Program == nil {
		return true
	}
	x.fail(StatusError, "invalid", errPlace)
	return false
}

// text is what is sent for x.
func (x *Exec) text(d framing.Dialect) (string, error) {
	switch {
	case x.cmd.Program:
		return `\env ` + x.cmd.Script, nil // env is none of any shell's own, and starts programs alone
	case x.cmd.inner.wrapping == nil:
		return x.cmd.Script, nil
	}
	return x.cmd.inner.wrapping.Wrap(x.cmd.Script, x.s.cfg.Redact(x.cmd.Script), x.s.host, d)
}

// check says what of a command does not go together.
func (c *Command) check() error {
	switch {
	case c.Interactive && c.Stdin != nil:
		return errors.New("an interactive command has no Command.Stdin: Exec.Input types")
	case c.Scripts != nil || c.Stdins != nil || c.Streams != nil:
		return errors.New("Command.Scripts, Command.Stdins and Command.Streams are for the hosts of Pool.Each: one host's are Script, Stdin, Stdout and Stderr")
	case c.Size != Size{} && !c.Interactive:
		return errors.New("Command.Size is that of an interactive command's terminal: set Command.Interactive too")
	case c.Size != Size{} && !c.Size.fits():
		return errSize
	case !c.Program:
		return nil
	case c.inner.wrapping != nil || c.inner.action != nil:
		return errors.New("Command.Program is for a command that is neither wrapped nor an action")
	}
	words, ok := wordsOf(c.Script)
	switch {
	case !ok:
		return errors.New("Command.Program needs a Script as Words returns it: a program and its arguments")
	case words[0] == "" || words[0][0] == '-' || strings.Contains(words[0], "="): // env(1) would take it for something else
		return errors.New("Command.Program: the first word is not the name of a program")
	}
	return nil
}

// wordsOf returns the words of which Words has made script, at least one; false where it has not.
func wordsOf(script string) (words []string, ok bool) {
	if script == "" {
		return nil, false
	}
	rest := script
	if rest[0] == '\\' && !strings.HasPrefix(rest, `\'`) {
		rest = rest[1:]
	}
	for more := true; more; {
		var word string
		for rest != "" && rest[0] != ' ' {
			var part string
			switch {
			case strings.HasPrefix(rest, `\'`):
				part, rest = "'", rest[2:]
			case rest[0] == '\'':
				if part, rest, ok = strings.Cut(rest[1:], "'"); !ok {
					return nil, false
				}
			default:
				part, rest = rest[:1], rest[1:]
			}
			word += part
		}
		words = append(words, word)
		rest, more = strings.CutPrefix(rest, " ")
	}
	again, err := framing.QuoteWords(words)
	return words, err == nil && again == script
}

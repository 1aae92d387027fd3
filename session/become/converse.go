package become

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// maxNoise bounds what start files and lectures may print.
const maxNoise = 1 << 20

// Talk is what a conversation is about.
type Talk struct {
	Host  string
	Login string        // the account that logs in; "" is not known
	Ask   Ask           // nil is no person
	Limit time.Duration // how long the host may take for each answer; 0 means no limit. A person is not hurried
}

// Converse talks to what Line has started on stream until the other account is there, then types program, a command line
// of one line, and returns what has come of its output. ctx bounds it. It closes the stream when it fails; the error is an *Error
// or that of ctx.
func (e *Elevation) Converse(ctx context.Context, stream io.ReadWriteCloser, t Talk, program string) (rest []byte, err error) {
	if strings.ContainsAny(program, "\n\r") {
		stream.Close()
		return nil, errors.New("become: the program's command line has more than one line")
	}
	c := &talk{Talk: t, e: e, stream: stream}
	c.clock = time.AfterFunc(time.Hour, c.late)
	c.clock.Stop()
	c.hurry()
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	rest, err = c.run(ctx)
	c.rest()
	c.settle(unknown)
	if err == nil {
		if _, werr := io.WriteString(stream, program+"\n"); werr != nil {
			err = c.fail(nil, werr)
		}
	}
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	return rest, nil
}

// talk is a conversation under way.
type talk struct {
	Talk
	e      *Elevation
	stream io.ReadWriteCloser
	buf    []byte   // what the host has printed
	read   int      // of it, what has been answered
	tried  *attempt // the password that was sent
	owner  string   // whose password the host's program wants; "" where it does not say
	more   string   // what the host has asked for besides, last

	mu    sync.Mutex // guards what follows
	clock *time.Timer
	over  bool // the clock has run out
}

func (c *talk) hurry() {
	if c.Limit > 0 {
		c.clock.Reset(c.Limit)
	}
}

func (c *talk) rest() { c.clock.Stop() }

func (c *talk) late() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.stream.Close()
}

func (c *talk) isLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

func (c *talk) run(ctx context.Context) ([]byte, error) {
	type piece struct {
		text []byte
		err  error
	}
	come := make(chan piece, 1)
	read := func() { // its end is waited for before the next: what comes behind the token is the program's
		b := make([]byte, 4096)
		n, err := c.stream.Read(b)
		come <- piece{b[:n], err}
	}
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	go read()
	for {
		quiet.Stop()
		if c.asksMore() {
			quiet.Reset(unfinished)
		}
		var err error
		select {
		case p := <-come:
			c.buf, err = append(c.buf, p.text...), p.err
		case <-quiet.C:
			if err := c.answerMore(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if i := bytes.Index(c.buf, []byte(c.e.token)); i >= 0 {
			c.settle(taken)
			return bytes.Clone(c.buf[i+len(c.e.token):]), nil
		}
		if end, owner := c.prompted(); end >= 0 {
			if c.tried != nil {
				return nil, c.again()
			}
			c.read, c.owner = end, owner
			if err := c.answer(ctx); err != nil {
				return nil, err
			}
			go read()
			continue
		}
		switch {
		case c.isLate():
			return nil, c.silent()
		case err != nil:
			return nil, c.ended(err)
		case len(c.buf) > maxNoise:
			return nil, c.fail(nil, fmt.Errorf("the host printed more than %d bytes", maxNoise))
		}
		go read()
	}
}

// unfinished is after how long a line that ends in a colon or a question mark is a prompt, and not the first part of something longer.
const unfinished = 700 * time.Millisecond

// asksElse is what may be a prompt for something else than a password.
var asksElse = lazyregexp.New(`[^\r\n]*[^\s][:?>][ \t]?$`)

// asksMore reports whether the host may be asking for something else than a password: a second factor.
func (c *talk) asksMore() bool { return asksElse.Match(c.buf[c.read:]) }

// answerMore has a person answer a prompt of the host's own. The answer is for this one host and this one time.
func (c *talk) answerMore(ctx context.Context) error {
	c.rest()
	c.e.asked = true
	said := strings.ReplaceAll(string(c.buf[c.read:]), c.e.key, "")
	c.read, c.more = len(c.buf), printable.Heard(strings.TrimSpace(said[strings.LastIndexAny(said, "\r\n")+1:]), 200)
	value, err := besides(ctx, Question{Host: c.Host, Login: c.Login, Become: c.e.become, Says: c.more}, c.Ask)
	defer clear(value)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.about(&Error{Kind: ErrPasswordNeeded, Said: c.more, Err: err})
	case bytes.ContainsAny(value, lineEnds):
		return c.about(&Error{Kind: ErrPasswordNeeded, Said: c.more, Err: errLines})
	}
	c.hurry()
	line := append(make([]byte, 0, len(value)+1), value...)
	line = append(line, '\n')
	_, err = c.stream.Write(line)
	clear(line)
	if err != nil {
		return c.ended(err)
	}
	return nil
}

// asksFor is a prompt that is not ours.
var asksFor = lazyregexp.New(`(?i)password[^\r\n]*: ?$`)

// accountName is what may be the name of an account.
var accountName = lazyregexp.New(`^[\pL\pN_][^\pC\pZ%:]{0,63}$`)

// prompted returns where a prompt ends that has not been answered, and whose password it says that it wants; -1 where there is none.
func (c *talk) prompted() (end int, owner string) {
	fresh := c.buf[c.read:]
	if c.e.how.keyed {
		if _, after, is := bytes.Cut(fresh, []byte(c.e.key)); is {
			name, rest, whole := bytes.Cut(after, []byte(":"))
			switch {
			case !whole:
				return -1, ""
			case accountName.Match(name):
				owner = string(name)
			}
			return len(c.buf) - len(rest), owner
		}
	}
	if asksFor.Match(fresh) {
		return len(c.buf), ""
	}
	return -1, ""
}

// mustChange is what PAM and sudo say of a password that was right, before they ask for a new one.
var mustChange = lazyregexp.New(`(?i)password (?:is|has) expired|required to change your password|reset your password|changing password for`)

// again is the error of a host that has the password and asks for one once more.
func (c *talk) again() error {
	said := c.buf[c.read:]
	if !mustChange.Match(said) {
		return c.refused()
	}
	err := c.fail(ErrNotAllowed, nil)
	err.Said, _, _ = strings.Cut(err.Said, "Changing password for")
	err.Said = strings.TrimSpace(err.Said)
	err.next = "The password is right, and has to be changed first. Run: ssh -t " + printable.Word(c.Host) + " " + c.e.how.change(c.e.become.User)
	c.settle(taken)
	return err
}

// lineEnds are the bytes that end what programs read as a password, wherever they stand in it.
const lineEnds = "\n\r\x00"

// answer sends the password.
func (c *talk) answer(ctx context.Context) error {
	c.rest()
	c.e.asked = true
	r, end := runOf(ctx)
	defer end()
	a, err := r.get(ctx, Question{Host: c.Host, Login: c.Login, Become: c.e.become, Owner: c.owner}, c.Ask)
	var not *Error
	switch {
	case ctx.Err() != nil:
		if a != nil {
			a.settle(c.Host, unknown)
		}
		return context.Cause(ctx)
	case errors.As(err, &not) && not.Kind == ErrNotTried:
		return c.about(&Error{Kind: ErrNotTried, On: not.On})
	case err != nil:
		return c.about(&Error{Kind: ErrPasswordNeeded, Err: err})
	case bytes.ContainsAny(a.value, lineEnds):
		a.settle(c.Host, unknown)
		return c.about(&Error{Kind: ErrPasswordNeeded, Err: errLines})
	}
	c.tried = a
	c.hurry()
	line := append(make([]byte, 0, len(a.value)+1), a.value...)
	line = append(line, '\n')
	_, err = c.stream.Write(line)
	clear(line)
	if err != nil {
		return c.ended(err)
	}
	return nil
}

// settle says what came of the password, if one was sent.
func (c *talk) settle(o outcome) {
	if c.tried != nil {
		c.tried.settle(c.Host, o)
		c.tried = nil
	}
}

// locked is what PAM says, before it asks, of an account that no password opens for now.
var locked = lazyregexp.New(`(?i)account (?:is|has been) (?:temporarily )?locked[^\r\n]*(?:\r?\n\([^\r\n]*\))?`)

func (c *talk) refused() error {
	if said := locked.Find(c.buf[:c.read]); said != nil {
		err := c.about(&Error{Kind: ErrNotAllowed, Said: printable.Heard(string(said), 200)})
		err.next = "No password opens it until then, or until it is unlocked there (faillock --reset)"
		return err
	}
	c.settle(refused)
	return c.about(&Error{Kind: ErrWrongPassword, Said: c.more})
}

// What programs say, in English. notAllowed comes first: sudo says it of a password that was right.
var (
	notAllowed = lazyregexp.New(`(?i)not in the sudoers|not allowed|may not run|is not permitted|operation not permitted|permission denied|can't do that|cannot use su|account is currently not available|account .*(?:expired|locked)`)
	absent     = lazyregexp.New(`\b(sudo-rs|sudo|doas|su): (?:inaccessible or |command )?not found|not found: (sudo-rs|sudo|doas|su)\b`) // what shells say
	wrong      = lazyregexp.New(`(?i)sorry, try again|incorrect (?:password|authentication)|authentication fail|authentication token manipulation|wrong password|maximum .*attempts|incorrect`)
)

// ended says why the program is gone.
func (c *talk) ended(err error) error {
	if c.isLate() {
		return c.silent()
	}
	said := c.buf[c.read:]
	if m := absent.FindSubmatch(said); m != nil && c.tried == nil {
		return c.about(&Error{Kind: ErrNoProgram, Said: string(append(m[1], m[2]...))})
	}
	switch {
	case notAllowed.Match(said):
		return c.fail(ErrNotAllowed, nil)
	case (c.tried != nil || c.more != "") && wrong.Match(said):
		return c.refused()
	case wrong.Match(said):
		err := c.fail(ErrNotAllowed, nil)
		err.next = "It asked for no password: an account is locked after too many wrong ones (faillock shows it)"
		return err
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c.fail(nil, err)
}

func (c *talk) silent() error {
	return c.fail(nil, fmt.Errorf("no answer within %v", c.Limit))
}

// fail is the error with what the host has said.
func (c *talk) fail(kind, err error) *Error {
	said := strings.ReplaceAll(string(c.buf[c.read:]), c.e.key, "")
	said = strings.ReplaceAll(said, c.e.text, "sh") // shells call themselves by their $0
	if c.tried != nil && len(c.tried.value) > 0 {   // a terminal that echoes all the same
		said = strings.ReplaceAll(said, string(c.tried.value), "…")
	}
	return c.about(&Error{Kind: kind, Said: printable.Heard(strings.TrimSpace(said), 200), Err: err})
}

func (c *talk) about(err *Error) *Error {
	err.Host, err.Login, err.Become, err.Owner = c.Host, c.Login, c.e.become, c.owner
	return err
}

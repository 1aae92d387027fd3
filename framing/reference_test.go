package framing_test

import (
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// reference decodes a whole stream at once, slowly and plainly: the Decoder must say the same.
func reference(errorMarks bool, frames []framing.Token, in []byte) []step {
	r := &ref{in: string(in), own: errorMarks, frames: frames}
	r.expect()
	r.run()
	return r.all
}

type ref struct {
	in     string
	own    bool
	frames []framing.Token
	all    []step

	frame                         string // "" when none is expected
	started, errDone              bool
	trailer                       *framing.Trailer
	field                         *string // the trailer that is being read
	farewell                      *string // from its mark on
	whole                         bool    // the farewell is
	errs                          string  // standard error that may be the start of a mark
	eatErr, eatOut                bool    // a newline belongs to the mark before
	exitOut, exitErr, exitWasSaid bool
	exit                          framing.Exit
}

const maxField = 1 << 16

func (r *ref) emit(s step) { r.all = join(r.all, s) }

func (r *ref) expect() {
	r.frame, r.started, r.trailer, r.errDone = "", false, nil, !r.own
	if len(r.frames) > 0 {
		r.frame = r.frames[0].String()
		r.frames = r.frames[1:]
	}
}

// mark is one way in which a mark may begin.
type mark struct{ text, name string }

func outMarks(frame string) []mark {
	m := []mark{}
	if frame != "" {
		for _, l := range []string{"S", "E", "Z", "z"} {
			m = append(m, mark{"\x1e" + frame + l, l})
		}
	}
	return append(m, mark{"\x1e" + tokShell.String() + "e", "record"}, mark{"\x1e" + tokShell.String() + "r", "call"}, mark{"\x1e" + tokShell.String() + "X", "X"},
		mark{"\x1e" + tokNonce.String() + "C", "C"}, mark{"\x1e" + tokNonce.String() + "c", "c"})
}

// lookup returns the mark at the start of s; maybe says that more bytes may make one.
func lookup(s string, marks []mark) (name string, n int, maybe bool) {
	for _, m := range marks {
		if strings.HasPrefix(s, m.text) {
			return m.name, len(m.text), false
		}
		maybe = maybe || strings.HasPrefix(m.text, s)
	}
	return "", 0, maybe
}

func lookupByte(s string) (b byte, n int, maybe bool) {
	head := "\x1e~" + tokShell.String()[:8]
	if !strings.HasPrefix(s, head) {
		return 0, 0, strings.HasPrefix(head, s)
	}
	const hex = "0123456789abcdef"
	rest := s[len(head):]
	for i := 0; i < 2 && i < len(rest); i++ {
		if strings.IndexByte(hex, rest[i]) < 0 {
			return 0, 0, false
		}
	}
	if len(rest) < 3 {
		return 0, 0, true
	}
	if rest[2] != '\n' && rest[2] != '\r' {
		return 0, 0, false
	}
	v, _ := strconv.ParseUint(rest[:2], 16, 8)
	return byte(v), len(head) + 3, false
}

// number takes the text before end, at most 24 bytes; more says that the stream ends too early to tell.
func (r *ref) number(end byte) (text string, ok, more bool) {
	i := strings.IndexByte(r.in, end)
	if i >= 0 && i <= 24 {
		text, r.in = r.in[:i], r.in[i+1:]
		return text, true, false
	}
	if len(r.in) <= 24 {
		return "", false, true
	}
	r.in = r.in[25:]
	return "", false, false
}

func (r *ref) run() {
	for r.in != "" {
		name, n, maybe := "", 0, false
		if r.in[0] == '\x1e' {
			b, k, maybeByte := lookupByte(r.in)
			if k > 0 {
				r.eatOut = r.in[k-1] == '\r'
				r.in = r.in[k:]
				r.stderr(string([]byte{b}))
				r.finish()
				continue
			}
			name, n, maybe = lookup(r.in, outMarks(r.frame))
			if name == "" && (maybe || maybeByte) {
				return
			}
		}
		if name == "" {
			c := r.in[:1]
			r.in = r.in[1:]
			if r.eatOut {
				r.eatOut = false
				if c == "\n" {
					continue
				}
			}
			r.text(c)
			continue
		}
		r.eatOut = false
		if name != "c" && name != "S" && name != "record" && name != "call" && !(name == "X" && r.whole) {
			r.giveBack()
		}
		token := r.in[:n]
		r.in = r.in[n:]
		if !r.mark(name, token) {
			return
		}
		r.finish()
	}
}

// giveBack shows a farewell that was none.
func (r *ref) giveBack() {
	if r.farewell != nil {
		f := *r.farewell
		r.farewell = nil
		r.text(f)
	}
}

func (r *ref) text(s string) {
	switch {
	case r.field != nil:
		if *r.field += s; len(*r.field) > maxField {
			r.field = nil
			r.emit(broken(framing.ErrMalformed))
		}
	case r.farewell != nil && !r.whole:
		if *r.farewell += s; len(*r.farewell) > maxField {
			s = *r.farewell
			r.farewell = nil
			r.text(s)
		}
	case r.frame != "" && r.started && r.trailer == nil:
		r.emit(out(s))
	default:
		r.emit(stray(s))
	}
}

// mark reports false when the stream ends before the mark does.
func (r *ref) mark(name, text string) bool {
	switch name {
	case "S":
		if r.started {
			r.emit(broken(framing.ErrDoubled))
			return true
		}
		r.started = true
		r.emit(started)
	case "E":
		if !r.started || r.trailer != nil || r.field != nil {
			r.emit(broken(framing.ErrDoubled))
			return true
		}
		r.field = new(string)
	case "Z", "z":
		if r.field == nil {
			r.emit(broken(framing.ErrDoubled))
			return true
		}
		f := *r.field
		r.field = nil
		if r.in == "" {
			return false
		}
		cooked := r.in[0] == '\r'
		if cooked {
			r.in = r.in[1:]
		}
		if r.in == "" {
			return false
		}
		c := r.in[0]
		r.in = r.in[1:]
		r.parse(f, name == "z", cooked, c == '\n')
	case "C":
		if r.field != nil {
			r.text(text)
			return true
		}
		r.farewell, r.whole = &text, false
	case "c":
		if r.field != nil || r.farewell == nil || r.whole {
			r.text(text)
			return true
		}
		*r.farewell += text
		r.whole = true
	case "record":
		text, ok, more := r.number(';')
		if more {
			return false
		}
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 1 {
			r.emit(broken(framing.ErrMalformed))
			return true
		}
		n = min(n, len(r.in))
		data := r.in[:n]
		for i := 0; i < len(data) && !r.own; i++ {
			if farewellTail(r.in[i:]) {
				data, r.in = data[:i], data[:i]
			}
		}
		r.in = r.in[len(data):]
		r.stderr(data)
	case "call":
		text, ok, more := r.number(';')
		if more {
			return false
		}
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 1 {
			r.emit(broken(framing.ErrMalformed))
			return true
		}
		if n > len(r.in) {
			return false
		}
		r.emit(step{kind: framing.Refused, data: r.in[:min(n, maxField)]})
		r.in = r.in[n:]
	case "X":
		text, ok, more := r.number('\n')
		if more {
			return false
		}
		if r.farewell != nil {
			f := strings.TrimPrefix(*r.farewell, "\x1e"+tokNonce.String()+"C")
			r.exit.Dir = strings.TrimSuffix(f, "\x1e"+tokNonce.String()+"c")
			r.farewell = nil
		}
		code, signal, _ := strings.Cut(strings.TrimSuffix(text, "\r"), ";")
		n, err := strconv.Atoi(code)
		if !ok || err != nil {
			r.emit(broken(framing.ErrMalformed))
			return true
		}
		if n > 255 {
			n = 128 + n%128
		}
		r.exit.Code = n
		if signal != "?" {
			if r.exit.Signal, err = strconv.Atoi(signal); err != nil {
				r.emit(broken(framing.ErrMalformed))
				return true
			}
		} else if n > 128 && n < 193 && r.exit.Dir == "" {
			r.exit.Signal = n - 128
		}
		r.exitOut = true
	}
	return true
}

// farewellTail says that s is a farewell, or would be one if the stream had not ended.
func farewellTail(s string) bool {
	begin, end := "\x1e"+tokNonce.String()+"C", "\x1e"+tokNonce.String()+"c"
	switch {
	case strings.HasPrefix(begin, s):
		return true
	case !strings.HasPrefix(s, begin) || len(s) > maxField:
		return false
	}
	i := strings.Index(s[len(begin):], "\x1e")
	return i < 0 || strings.HasPrefix(end, s[len(begin)+i:])
}

func (r *ref) parse(f string, pwd, cooked, newline bool) {
	p := strings.SplitN(f, ";", 3)
	code, err := strconv.Atoi(p[0])
	if len(p) < 3 || err != nil || code < 0 || !newline {
		r.emit(broken(framing.ErrMalformed))
		return
	}
	if code > 255 {
		code = 128 + code%128
	}
	dir := p[2]
	if pwd {
		dir = strings.TrimSuffix(dir, "\n")
		if cooked {
			dir = strings.TrimSuffix(dir, "\r")
		}
	}
	r.trailer = &framing.Trailer{ExitCode: code, Dir: dir, Trace: strings.Contains(p[1], "x"), Errexit: strings.Contains(p[1], "e"),
		Cooked: cooked}
}

// finish says what has ended as soon as both streams have said so.
func (r *ref) finish() {
	if r.frame != "" && r.trailer != nil && r.errDone {
		r.emit(step{kind: framing.Ended, trailer: *r.trailer})
		r.expect()
	}
	if r.exitOut && (r.exitErr || !r.own) && !r.exitWasSaid {
		r.exitWasSaid = true
		r.frame = ""
		r.emit(step{kind: framing.Exited, exit: r.exit})
	}
}

func (r *ref) stderr(s string) {
	switch {
	case s == "":
		return
	case !r.own:
		if r.frame != "" && r.trailer == nil {
			r.emit(errs(s))
		} else {
			r.emit(stray(s))
		}
		return
	}
	for i := range len(s) { // byte by byte, because an end in the middle changes what the rest is
		r.errs += s[i : i+1]
		r.scanErrors()
		r.finish()
	}
}

func (r *ref) scanErrors() {
	marks := []mark{{"\x1e" + tokShell.String() + "X", "X"}}
	if r.frame != "" {
		marks = append(marks, mark{"\x1e" + r.frame + "e", "e"})
	}
	for r.errs != "" {
		name, n, maybe := "", 0, false
		if r.errs[0] == '\x1e' {
			name, n, maybe = lookup(r.errs, marks)
		}
		if maybe && name == "" {
			return
		}
		if name == "" {
			n = 1
		}
		c := r.errs[:n]
		r.errs = r.errs[n:]
		switch {
		case name == "e":
			r.errDone, r.eatErr = true, true
		case name == "X":
			r.exitErr, r.eatErr = true, true
		default:
			eat := r.eatErr
			r.eatErr = false
			switch {
			case eat && c == "\n":
			case r.frame != "" && !r.errDone:
				r.emit(errs(c))
			default:
				r.emit(stray(c))
			}
		}
	}
}

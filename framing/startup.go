package framing

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Hello is what a shell says about itself when it is ready for frames.
type Hello struct {
	Dialect Dialect
	PID     int
	Dir     string // where it stands

	// Exact says that standard error arrives byte for byte and as it is written. Otherwise it comes line by line,
	// without NUL bytes.
	Exact bool

	// HeldBy says what restricts the shell, as [Shell].Hold says it; "" where that was not asked for.
	HeldBy string

	// Unwatched says why calls that are refused to a shell with [Shell].Watch are not reported; "" where they are.
	Unwatched string

	token      Token
	errorMarks bool
}

// StartupError says that the host refused to start the shell, in its words.
type StartupError struct{ Reason string }

func (e *StartupError) Error() string { return "framing: " + e.Reason }

// UnheldError says why the host cannot start a shell with [Shell].Hold, in its words.
type UnheldError struct{ Reason string }

func (e *UnheldError) Error() string {
	return "framing: the shell cannot be held to reading: " + e.Reason
}

// Startup follows a shell from its command line to its hello. Feed it all that the shell prints; it tells when to type
// the bootstrap. Use one per shell, from one goroutine.
type Startup struct {
	nonce Token
	buf   []byte
	step  int
	hello Hello
	asked bool // for the text of BootstrapPython
}

// maxNoise bounds what a login shell's start files may print.
const maxNoise = 1 << 20

// NewStartup returns the Startup for the shell that was started with Loader(nonce).
func NewStartup(nonce Token) *Startup { return &Startup{nonce: nonce} }

// Python reports whether what must be typed is the text of [BootstrapPython]: only where the shell is to be held.
func (s *Startup) Python() bool { return s.asked }

// Feed takes the next piece of output. loaded becomes true once, when the text of [Bootstrap] must be typed, and again where the host
// asks for another one, which [Startup.Python] says. d is
// non-nil once the shell is ready, and Startup is not needed any more; what p held beyond that has been fed to d. Before
// that the shell must get nothing else.
func (s *Startup) Feed(p []byte) (loaded bool, h Hello, d *Decoder, err error) {
	s.buf = append(s.buf, p...)
	if s.step == 0 {
		i := bytes.Index(s.buf, []byte(s.nonce.String()+"R"))
		if i < 0 {
			return false, h, nil, s.tooLong()
		}
		s.buf = s.buf[i+TokenLen+1:]
		s.step, loaded = 1, true
	}
	mark := "\x1e" + s.nonce.String()
	if reason, ok := s.line(mark + "F"); ok {
		return loaded, h, nil, &StartupError{reason}
	}
	if reason, ok := s.line(mark + "N"); ok {
		return loaded, h, nil, &UnheldError{reason}
	}
	if s.step == 1 && !s.asked {
		if _, s.asked = s.line(mark + "Q"); s.asked {
			_, s.buf, _ = bytes.Cut(s.buf, []byte(mark+"Q"))
			_, s.buf, _ = bytes.Cut(s.buf, []byte("\n"))
			return true, h, nil, nil
		}
	}
	if s.step == 1 {
		i := bytes.Index(s.buf, []byte(mark+"T"))
		if i >= 0 && len(s.buf) > i+markLen && (s.buf[i+markLen] == '\n' || s.buf[i+markLen] == '\r') { // supervisor.sh
			return loaded, h, nil, &StartupError{"the host has no perl that starts, and lacks cat, head or tr, which a shell takes without it: install perl or those"}
		}
		if i < 0 || len(s.buf) < i+markLen+TokenLen {
			return loaded, h, nil, s.tooLong()
		}
		tok, ok := parseToken(s.buf[i+markLen : i+markLen+TokenLen])
		if !ok {
			return loaded, h, nil, &StartupError{"the shell's supervisor sent an invalid token"}
		}
		s.hello.token = tok
		words, _ := line(s.buf[:i], mark+"K") // behind the token it would count or not, as the stream is cut
		s.hello.HeldBy, s.hello.Unwatched, _ = strings.Cut(words, ";")
		s.buf = s.buf[i+markLen+TokenLen:]
		s.step = 2
	}
	_, rest, _ := bytes.Cut(s.buf, []byte(mark+"H"))
	text, rest, ok := bytes.Cut(rest, []byte(mark+"h"))
	if !ok {
		return loaded, h, nil, s.tooLong()
	}
	if err := s.hello.parse(string(text)); err != nil {
		return loaded, h, nil, err
	}
	if s.hello.HeldBy != "" && s.hello.Dialect == Ksh93 && s.hello.Unwatched != "" {
		return loaded, h, nil, &UnheldError{"ksh93 keeps what $(…) and here-documents hold in /dev/shm, and the kernel does not report its calls: " + s.hello.Unwatched}
	}
	d = newDecoder(s.hello, s.nonce)
	d.Feed(rest)
	return loaded, s.hello, d, nil
}

func (s *Startup) line(mark string) (string, bool) { return line(s.buf, mark) }

// line returns what stands behind a mark, as far as the end of the line.
func line(text []byte, mark string) (string, bool) {
	_, rest, _ := bytes.Cut(text, []byte(mark))
	words, _, ok := strings.Cut(string(rest), "\n")
	return strings.TrimSuffix(words, "\r"), ok
}

// Noise returns what the host printed instead of what was expected, for an error message.
func (s *Startup) Noise() string { return string(s.buf) }

func (s *Startup) tooLong() error {
	if len(s.buf) > maxNoise {
		return &StartupError{fmt.Sprintf("the account's start files printed more than %d bytes", maxNoise)}
	}
	return nil
}

// parse reads "dialect;pid;marks;directory".
func (h *Hello) parse(text string) error {
	f := strings.SplitN(text, ";", 4)
	if len(f) != 4 {
		return &StartupError{"the shell's hello is not well formed"}
	}
	switch f[0] {
	case "bash":
		h.Dialect = Bash
	case "zsh":
		h.Dialect = Zsh
	case "mksh":
		h.Dialect = Mksh
	case "ksh93":
		h.Dialect = Ksh93
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil {
		return &StartupError{"the shell's hello holds no process id"}
	}
	h.PID, h.Dir = pid, f[3]
	h.errorMarks = f[2] != ""
	h.Exact = f[2] != "lines"
	return nil
}

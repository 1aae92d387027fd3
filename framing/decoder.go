package framing

import (
	"bytes"
	"strconv"
)

// Decoder turns what a shell prints into events. Give it the bytes as they arrive with Feed, then call Next until it
// reports false. It allocates nothing for output, never looks at a byte twice, and holds back at most one mark's worth
// of bytes. Its zero value is not valid; see [Startup]. It must not be used concurrently.
//
// # On the wire
//
// A frame, typed at the driver:
//
//	TOK''EN -\n         the frame's token, in two halves, and the mode: - usual, m merged, t the terminal as standard input;
//	                    before it :code: where the command before has failed, and for dash and ash what an interrupt leaves to run: + something, =f= something if f is a function
//	'script'\n          one shell word over any number of lines
//	RS\n                the byte 0x1e
//
// Everything that is printed and is not output of the command is a mark: RS, a token of 22 characters, a letter. RS in
// the output of commands is output unless the token after it is right, and tokens come from the system's random source.
//
//	RS frame S                        the command starts
//	RS frame E code;flags;dir RS frame Z \n    the command has ended (z: dir comes from pwd and ends in a newline)
//	RS frame e \n                     in standard error: nothing more of the command's errors comes
//	RS shell e count; bytes           a record of standard error
//	RS shell r count; bytes           a system call that was refused to a held shell
//	RS ~ abcdefgh hh \n               one byte of standard error, abcdefgh being the start of the shell's token
//	RS shell X code;signal \n         the shell has ended; in standard error RS shell X \n
//	RS nonce T shell                  the supervisor's fresh token, at its start
//	RS nonce H dialect;pid;reader;dir RS nonce h    the shell is ready
//	RS nonce F reason \n              the shell cannot be started
//	RS nonce C dir RS nonce c         the shell is leaving and stands in dir
//
// The frame's token is nowhere while the command runs: see the driver. The shell's token never leaves the supervisor
// but through the terminal. The nonce is no secret: its marks count only before the first frame, or together with X.
type Decoder struct {
	out splitter // the terminal's stream
	err splitter // standard error, where end marks come through it
	in  []byte   // what Feed brought and Next has not used
	pos int64    // bytes of the stream used so far

	state   state
	reading byte  // E or C: text belongs to this field, not to the output; 0 otherwise
	whole   bool  // field holds a whole farewell: true if the shell's end follows, else output
	who     owner // with letter, a mark that waits until a farewell that was none has been given back
	letter  byte
	plain   [markLen]byte // a mark that is output after all
	left    int           // bytes left of a record
	call    bool          // the record is a refused call, …
	told    []byte        // … of which this has come
	payload []byte        // what err has not used of a record's piece
	late    []byte        // the end of a record's piece that may be a farewell and not the record's, …
	over    int           // … and, once the record has ended, how much of it is inside
	one     [1]byte       // the payload of a record of one byte
	field   []byte        // the trailer or farewell that is being read; a farewell with its marks
	number  []byte        // the length or status that is being read
	asked   bool          // the directory in field comes from pwd, which adds a newline
	quiet   bool          // errors come with end marks of their own
	live    bool          // a frame is expected or running
	started bool          // its start has been seen
	ended   bool          // its trailer has been seen
	errDone bool          // its end mark has come through standard error
	shutOut bool          // the shell's end has been seen, on the terminal and …
	shutErr bool          // … through standard error
	trailer Trailer       // once ended
	exit    Exit          // once shutOut
	done    bool          // Exited has been reported
}

// state says what the bytes of the terminal's stream are.
type state uint8

const (
	inText    state = iota
	inLength        // of a record of standard error, up to ";"
	inRecord        // left bytes of standard error
	inStatus        // of the shell that has ended, up to the newline
	inNewline       // the end of a trailer: a newline, with a CR before it if the terminal rewrites output
)

// newDecoder returns a decoder for the shell that said hello.
func newDecoder(h Hello, nonce Token) *Decoder {
	d := &Decoder{quiet: h.errorMarks}
	d.out.shell, d.out.nonce = h.token, nonce
	d.out.letters = [3]string{byFrame: "SEZz", byShell: "eXr", byNonce: "Cc"}
	d.err.shell = h.token
	d.err.letters = [3]string{byFrame: "e", byShell: "X"}
	d.err.noBytes = true
	return d
}

// Expect says that the frame with this token is about to be sent. Until it starts, output is stray. It must not be
// called while another frame is under way.
func (d *Decoder) Expect(tok Token) {
	d.out.frame, d.err.frame = tok, tok
	d.live, d.started, d.ended = true, false, false
	d.trailer = Trailer{}
	d.errDone = !d.quiet
}

// Queues reports whether the next frame may be sent before the one before it has ended, to be expected once that one has: its start
// cannot overtake that end. Where errors have end marks of their own it can.
func (d *Decoder) Queues() bool { return !d.quiet }

// Feed hands over the next piece of the stream. The decoder uses it, without a copy, until Next has reported false. What
// is left of an earlier piece comes before it.
func (d *Decoder) Feed(p []byte) {
	if len(d.in) > 0 {
		p = append(d.in[:len(d.in):len(d.in)], p...)
	}
	d.in = p
}

// Close says that the stream has ended. It reports a frame or a mark that was cut off; nil means that the stream ended
// where it may.
func (d *Decoder) Close() *Error {
	if d.live || d.state != inText || d.reading != 0 || len(d.late) > 0 {
		return &Error{Offset: d.pos, Err: ErrTorn}
	}
	return nil
}

// Next returns the next event. It reports false when all that was fed is used.
func (d *Decoder) Next() (Event, bool) {
	for {
		if ev, ok := d.finish(); ok {
			return ev, true
		}
		if len(d.payload) > 0 {
			if ev, ok := d.nextError(); ok {
				return ev, true
			}
			continue
		}
		if letter := d.letter; letter != 0 {
			d.letter = 0
			if ev, ok := d.mark(d.who, letter); ok {
				return ev, true
			}
			continue
		}
		if len(d.in) == 0 {
			return Event{}, false
		}
		var ev Event
		var ok bool
		switch d.state {
		case inText:
			if len(d.late) > 0 {
				d.pastRecord()
				continue
			}
			ev, ok = d.nextText()
		case inRecord:
			n := min(d.left, len(d.in))
			if d.call {
				if ev, ok := d.refused(n); ok {
					return ev, true
				}
				continue
			}
			d.payload = d.hold(d.use(n))
			if d.left -= n; d.left == 0 {
				d.state, d.over = inText, len(d.late)
			}
		default:
			ev, ok = d.nextNumber()
		}
		if ok {
			return ev, true
		}
	}
}

// refused takes n bytes of a record of a refused call, and reports it once it is whole. Of one that is too long only the beginning counts.
func (d *Decoder) refused(n int) (Event, bool) {
	d.told = append(d.told, d.use(n)...)
	d.told = d.told[:min(len(d.told), maxField)]
	if d.left -= n; d.left > 0 {
		return Event{}, false
	}
	d.state = inText
	text := d.told
	d.told = d.told[:0]
	return Event{Kind: Refused, Data: text}, true
}

// use takes n bytes of the input.
func (d *Decoder) use(n int) []byte {
	p := d.in[:n:n]
	d.in = d.in[n:]
	d.pos += int64(n)
	return p
}

// finish reports a frame or a shell whose end has come through both streams.
func (d *Decoder) finish() (Event, bool) {
	if d.live && d.ended && d.errDone {
		d.live = false
		d.out.frame, d.err.frame = Token{}, Token{}
		return Event{Kind: Ended, Trailer: d.trailer}, true
	}
	if d.shutOut && (d.shutErr || !d.quiet) && !d.done {
		d.done, d.live = true, false
		d.out.frame, d.err.frame = Token{}, Token{}
		return Event{Kind: Exited, Exit: d.exit}, true
	}
	return Event{}, false
}

func (d *Decoder) broken(err error) (Event, bool) {
	return Event{Kind: Broken, Err: &Error{Offset: d.pos, Err: err}}, true
}

// nextText looks for the next mark on the terminal. A record of standard error may stand anywhere, also inside a trailer
// that did not arrive in one piece.
func (d *Decoder) nextText() (Event, bool) {
	in := d.in
	if d.reading != 0 { // so that a field that is too long is so at the same byte however the stream is cut
		in = in[:min(len(in), maxField+1-len(d.field))]
	}
	text, f, who, letter, used := d.out.next(in)
	d.use(used)
	text = d.out.skipNewline(text, f)
	switch {
	case len(text) > 0:
		return d.text(text)
	case f == isByte:
		d.one[0] = letter
		d.payload = d.one[:]
		return Event{}, false
	case f != isMark:
		return Event{}, false
	}
	// A farewell does not come through the pipes, so that a start and errors may stand behind or in it.
	agrees := letter == 'c' || letter == 'r' || letter == 'S' || letter == 'e' || letter == 'X' && d.whole
	if (d.reading == 'C' || d.whole) && !agrees {
		d.who, d.letter = who, letter
		return d.giveBack()
	}
	return d.mark(who, letter)
}

// mark takes a mark of any owner.
func (d *Decoder) mark(who owner, letter byte) (Event, bool) {
	switch who {
	case byFrame:
		return d.frameMark(letter)
	case byNonce:
		return d.farewell(letter)
	}
	d.number = d.number[:0]
	d.call = letter == 'r'
	if d.state = inLength; letter == 'X' {
		d.state = inStatus
		if d.whole {
			d.whole = false
			d.exit.Dir = string(d.field[markLen : len(d.field)-markLen])
		}
	}
	return Event{}, false
}

// farewell takes a mark with the nonce, which is no secret: what it encloses counts as a farewell only when the shell's
// end follows. It is output otherwise, if need be a little later than what came after it.
func (d *Decoder) farewell(letter byte) (Event, bool) {
	d.plain[0], d.plain[markLen-1] = rs, letter
	copy(d.plain[1:], d.out.nonce[:])
	switch {
	case letter == 'C' && d.reading == 0:
		d.reading, d.field = 'C', append(d.field[:0], d.plain[:]...)
	case letter == 'c' && d.reading == 'C':
		d.reading, d.whole = 0, true
		d.field = append(d.field, d.plain[:]...)
	default:
		return d.text(d.plain[:])
	}
	return Event{}, false
}

// giveBack turns a farewell into output.
func (d *Decoder) giveBack() (Event, bool) {
	d.reading, d.whole = 0, false
	return d.text(d.field)
}

func (d *Decoder) text(text []byte) (Event, bool) {
	switch {
	case d.reading != 0:
		d.field = append(d.field, text...)
		switch {
		case len(d.field) <= maxField:
			return Event{}, false
		case d.reading == 'C':
			return d.giveBack()
		}
		d.reading = 0
		return d.broken(ErrMalformed)
	case d.live && d.started && !d.ended:
		return Event{Kind: Stdout, Data: text}, true
	default:
		return Event{Kind: Stray, Data: text}, true
	}
}

// frameMark takes a mark with the frame's token.
func (d *Decoder) frameMark(letter byte) (Event, bool) {
	switch letter {
	case 'S':
		if d.started {
			return d.broken(ErrDoubled)
		}
		d.started = true
		return Event{Kind: Started}, true
	case 'E':
		if !d.started || d.ended || d.reading == 'E' {
			return d.broken(ErrDoubled)
		}
		d.reading, d.field = 'E', d.field[:0]
	default:
		if d.reading != 'E' {
			return d.broken(ErrDoubled)
		}
		d.reading, d.state, d.asked = 0, inNewline, letter == 'z'
		d.trailer.Cooked = false
	}
	return Event{}, false
}

// nextError looks for the next mark in standard error.
func (d *Decoder) nextError() (Event, bool) {
	text, letter := d.payload, byte(0)
	if d.quiet {
		var used int
		var f found
		text, f, _, letter, used = d.err.next(d.payload)
		if f != isMark {
			letter = 0
		}
		d.payload = d.payload[used:]
		text = d.err.skipNewline(text, f)
	} else {
		d.payload = nil
	}
	switch letter {
	case 'e':
		d.errDone, d.err.newline = true, true
	case 'X':
		d.shutErr, d.err.newline = true, true
	}
	if len(text) == 0 {
		return Event{}, false
	}
	// The two streams reach the terminal by different ways, so errors of a command may come before its start.
	if over := d.quiet && d.errDone || !d.quiet && d.ended; d.live && !over {
		return Event{Kind: Stderr, Data: text}, true
	}
	return Event{Kind: Stray, Data: text}, true
}

// nextNumber reads on in a length, a status or the newline after a trailer.
func (d *Decoder) nextNumber() (Event, bool) {
	for len(d.in) > 0 {
		c := d.use(1)[0]
		switch {
		case d.state == inNewline:
			if c == '\r' && !d.trailer.Cooked {
				d.trailer.Cooked = true
				continue
			}
			d.state = inText
			if c != '\n' {
				return d.broken(ErrMalformed)
			}
			return d.parseTrailer()
		case d.state == inLength && c == ';':
			d.state = inText
			n, err := strconv.Atoi(string(d.number))
			if err != nil || n < 1 {
				return d.broken(ErrMalformed)
			}
			d.state, d.left = inRecord, n
			return Event{}, false
		case d.state == inStatus && c == '\n':
			d.state = inText
			return d.status(bytes.TrimSuffix(d.number, []byte{'\r'}))
		}
		if d.number = append(d.number, c); len(d.number) > maxCount {
			d.state = inText
			return d.broken(ErrMalformed)
		}
	}
	return Event{}, false
}

// parseTrailer reads "code;flags;directory".
func (d *Decoder) parseTrailer() (Event, bool) {
	code, rest, ok := bytes.Cut(d.field, []byte{';'})
	flags, dir, ok2 := bytes.Cut(rest, []byte{';'})
	n, err := strconv.Atoi(string(code))
	if !ok || !ok2 || err != nil || n < 0 {
		return d.broken(ErrMalformed)
	}
	n = exitCode(n)
	if d.asked {
		dir = bytes.TrimSuffix(dir, []byte{'\n'})
		if d.trailer.Cooked {
			dir = bytes.TrimSuffix(dir, []byte{'\r'})
		}
	}
	d.ended = true
	d.trailer.ExitCode = n
	d.trailer.Trace = bytes.IndexByte(flags, 'x') >= 0
	d.trailer.Errexit = bytes.IndexByte(flags, 'e') >= 0
	d.trailer.Dir = string(dir)
	return Event{}, false
}

// exitCode is what other shells give where ksh93 gives 256 + the signal's number.
func exitCode(n int) int {
	if n > 255 {
		return 128 + n&127
	}
	return n
}

// status reads "code;signal" of the shell. "?" for the signal means that the code may be 128 plus one.
func (d *Decoder) status(field []byte) (Event, bool) {
	code, signal, _ := bytes.Cut(field, []byte{';'})
	n, err := strconv.Atoi(string(code))
	if err != nil {
		return d.broken(ErrMalformed)
	}
	n = exitCode(n)
	d.exit.Code = n
	if string(signal) == "?" {
		if n > 128 && n < 128+65 && d.exit.Dir == "" { // a shell that ends by itself says where it is
			d.exit.Signal = n - 128
		}
	} else if d.exit.Signal, err = strconv.Atoi(string(signal)); err != nil {
		return d.broken(ErrMalformed)
	}
	d.shutOut = true
	return Event{}, false
}

package framing

import "bytes"

// rs (record separator) opens every mark, and alone on a line closes what is typed. User text never brings one: the
// encoder writes control bytes as expansions.
const rs = 0x1e

const (
	markLen  = 1 + TokenLen + 1  // RS, token, letter
	byteMark = '~'               // instead of a whole token: one byte of standard error, in hexadecimal
	byteLen  = 1 + 1 + 8 + 2 + 1 // RS, "~", eight characters of the shell's token, two digits, newline
	maxField = 1 << 16           // the longest trailer or farewell that is believed
	maxCount = 24                // the longest length or status, in digits
)

// found is what stands at an RS.
type found uint8

const (
	isText  found = iota // no mark of ours
	isShort              // may become one with more bytes
	isMark               // a whole mark: its owner and letter are known
	isByte               // a whole record of one byte of standard error
)

// owner says whose token a mark carries.
type owner uint8

const (
	byFrame owner = iota
	byShell
	byNonce
)

// marks is what the decoder looks for.
type marks struct {
	frame   Token // zero: no frame is expected
	shell   Token
	nonce   Token
	letters [3]string // by owner: the letters that count
	noBytes bool      // records of one byte do not count
}

// find classifies b, which begins with RS.
func (m *marks) find(b []byte) (f found, who owner, letter byte) {
	if len(b) == 1 {
		return isShort, 0, 0
	}
	switch c := b[1]; {
	case c == byteMark && !m.noBytes:
		return m.findByte(b), 0, 0
	case c != m.frame[0] && c != m.shell[0] && c != m.nonce[0]:
		return isText, 0, 0
	}
	if len(b) < markLen {
		text := b[1:]
		for _, t := range [...]*Token{&m.frame, &m.shell, &m.nonce} {
			if n := min(len(text), TokenLen); t[0] != 0 && string(t[:n]) == string(text[:n]) {
				return isShort, 0, 0
			}
		}
		return isText, 0, 0
	}
	text := b[1 : 1+TokenLen]
	for i, t := range [...]*Token{&m.frame, &m.shell, &m.nonce} {
		if t[0] != 0 && string(t[:]) == string(text) {
			who, letter = owner(i), b[1+TokenLen]
			for j := range len(m.letters[who]) {
				if m.letters[who][j] == letter {
					return isMark, who, letter
				}
			}
			return isText, 0, 0
		}
	}
	return isText, 0, 0
}

func (m *marks) findByte(b []byte) found {
	n := min(len(b)-2, 8)
	if m.shell[0] == 0 || string(b[2:2+n]) != string(m.shell[:n]) {
		return isText
	}
	for i := 10; i < len(b) && i < 12; i++ {
		if unhex(b[i]) < 0 {
			return isText
		}
	}
	if len(b) < byteLen {
		return isShort
	}
	if b[12] == '\n' || b[12] == '\r' { // a terminal in canonical mode puts a CR first
		return isByte
	}
	return isText
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// splitter cuts a stream into text and marks, whatever the pieces in which it comes. It holds back at most one mark.
type splitter struct {
	marks
	held  [markLen]byte
	n     int           // bytes in held
	freed [markLen]byte // what release returned

	newline bool // a newline that follows belongs to the mark before it
}

// next looks at in and returns the text before the first mark, or the mark. used is how much of in is done with. With
// text and f == isText there may be more; with no text and f == isShort everything is held back until more arrives.
func (s *splitter) next(in []byte) (text []byte, f found, who owner, letter byte, used int) {
	if s.n > 0 {
		return s.resume(in)
	}
	i := s.search(in)
	if i > 0 {
		return in[:i], isText, 0, 0, i
	}
	f, who, letter = s.find(in)
	switch f {
	case isMark:
		return nil, f, who, letter, markLen
	case isByte:
		s.newline = in[12] == '\r'
		return nil, f, byShell, byte(unhex(in[10])<<4 | unhex(in[11])), byteLen
	}
	s.n = copy(s.held[:], in)
	return nil, isShort, 0, 0, len(in)
}

// search returns where the first mark in b is or may begin.
func (s *splitter) search(b []byte) int {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], rs)
		if j < 0 {
			return len(b)
		}
		i += j
		for i+1 < len(b) && b[i+1] == rs { // no mark begins with two: output full of them costs little
			i++
		}
		if f, _, _ := s.find(b[i:]); f != isText {
			return i
		}
		i++
	}
}

// resume goes on with a mark that earlier input began.
func (s *splitter) resume(in []byte) (text []byte, f found, who owner, letter byte, used int) {
	for {
		f, who, letter = s.find(s.held[:s.n])
		switch {
		case f == isMark:
			s.n = 0
			return nil, f, who, letter, used
		case f == isByte:
			letter = byte(unhex(s.held[10])<<4 | unhex(s.held[11]))
			s.newline = s.held[12] == '\r'
			s.n = 0
			return nil, f, byShell, letter, used
		case f == isText:
			text = s.release()
			if s.n <= used { // what is still held came with this input: it need not go through here
				used -= s.n
				s.n = 0
			}
			return text, f, 0, 0, used
		case used == len(in):
			return nil, f, 0, 0, used
		}
		s.held[s.n] = in[used]
		s.n++
		used++
	}
}

// release gives up what is held as text, as far as the next RS in it.
func (s *splitter) release() []byte {
	j := bytes.IndexByte(s.held[1:s.n], rs) + 1
	if j == 0 {
		j = s.n
	}
	n := copy(s.freed[:], s.held[:j])
	s.n = copy(s.held[:], s.held[j:s.n])
	return s.freed[:n]
}

// skipNewline drops the newline that belongs to the mark before: readers that work by line need one, and a terminal
// that rewrites output makes two bytes of it. f is what came with text.
func (s *splitter) skipNewline(text []byte, f found) []byte {
	if s.newline && (len(text) > 0 || f == isMark) {
		s.newline = false
		if len(text) > 0 && text[0] == '\n' {
			return text[1:]
		}
	}
	return text
}

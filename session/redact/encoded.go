package redact

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// encoded takes out what has no name and no prefix: secrets in base64, which it decodes and looks at, the inside of key
// blocks whose head is missing, and the secret keys of AWS. It looks at runs of bytes of base64. The first bytes of one
// are always shown, so that the words at the end of a prompt need not wait.
type encoded struct {
	key   []byte
	data  []byte // held, from the start of a run on
	shown int    // of data
	look  []byte // what precedes data, up to lookBack bytes
	skip  bool   // the run goes on that is nothing of this
	wide  bool   // that run fills a line, as base64 does that is broken
	block bool   // lines of a block go on that are nothing of this, or are taken out
	hide  bool   // which of the two
	after uint64 // the number of a line of a block that is nothing of this, of those that cat -n shows
	text  *textRun
	out   []byte
	note  *Counts
}

const (
	headShown = 3  // bytes of a run
	minRunLen = 16 // of which 12 bytes are decoded
	awsLen    = 40
	pemLen    = 64
	sshLen    = 70
	lookBack  = 384
)

// runBytes maps the bytes of both alphabets of base64 to their values.
var runBytes = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = int8(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

func (x *encoded) feed(p []byte) []byte {
	x.out = x.out[:0]
	data := p
	if len(x.data) > 0 {
		x.data = append(x.data, p...)
		data = x.data
	}
	x.keep(data, x.run(data, false))
	return x.out
}

func (x *encoded) finish() []byte {
	x.out = x.out[:0]
	x.keep(x.data, x.run(x.data, true))
	return x.out
}

// silence shows what is held, if it does not look like a secret so far.
func (x *encoded) silence() []byte {
	x.out = x.out[:0]
	if x.text == nil && (len(x.data) < minRunLen || !mixed(x.data[:min(len(x.data), awsLen)])) {
		x.put(x.data, 0, len(x.data))
		x.shown = max(x.shown, len(x.data))
	}
	return x.out
}

func (x *encoded) idle() bool { return len(x.data) == 0 && x.text == nil && !x.hide }

func (x *encoded) keep(data []byte, n int) {
	from := max(0, n-lookBack)
	x.look = append(x.look, data[from:n]...)
	if over := len(x.look) - lookBack; over > 0 {
		x.look = x.look[:copy(x.look, x.look[over:])]
	}
	x.data = append(x.data[:0], data[n:]...)
	x.shown = max(0, x.shown-n)
}

func (x *encoded) put(data []byte, from, to int) {
	if from = max(from, x.shown); from < to {
		x.out = append(x.out, data[from:to]...)
	}
}

// hold shows data up to a run that is not decided, and the first bytes of that.
func (x *encoded) hold(data []byte, done, at int) int {
	head := min(len(data), at+headShown)
	x.put(data, done, head)
	x.shown = max(x.shown, head)
	return at
}

func (x *encoded) run(data []byte, final bool) int {
	i, done := 0, 0
	for i < len(data) {
		if x.text != nil {
			n, over := x.decode(data[i:], i, final)
			i += n
			done = i
			if !over {
				return i
			}
			x.text = nil
			continue
		}
		if x.block {
			n, over := x.blockLine(data, i, final)
			if n < 0 {
				if !x.hide {
					return x.hold(data, done, i)
				}
				return i
			}
			if x.hide {
				x.note.Bytes += int64(n)
				done = i + n
			}
			i += n
			x.block, x.hide = !over, x.hide && !over
			continue
		}
		if x.skip {
			for i < len(data) && runBytes[data[i]] >= 0 {
				i++
			}
			if i == len(data) {
				break
			}
			x.skip = false
			if x.wide && (data[i] == '\n' || data[i] == '\r') {
				x.block, x.hide = true, false
				continue
			}
		}
		s, e := nextRun(data, i)
		if s == len(data) {
			break
		}
		open := e == len(data) && !final
		switch n := e - s; {
		case n < minRunLen:
			if open {
				return x.hold(data, done, s)
			}
			i = e
		case readableHead(data[s:]):
			x.put(data, done, s)
			i, done = s, s
			x.startText()
		case open && n <= sshLen:
			return x.hold(data, done, s)
		case n == awsLen && x.isAWS(data, s, e):
			x.put(data, done, s+headShown)
			x.mark("aws-secret-key", data[s:e], e-max(s+headShown, x.shown))
			i, done = e, e
		case (n == pemLen || n == sshLen) && x.startsLine(data, s):
			public := x.goesOn(data, s, n)
			to, secret, whole := x.isBody(data, s, n, public, final)
			if !whole {
				return x.hold(data, done, s)
			}
			if secret {
				x.put(data, done, s+headShown)
				x.mark("private-key", data[s:to], to-max(s+headShown, x.shown))
				done = to
			}
			x.block, x.hide, i = to > s, secret, to
			if to == s { // the end of a line is not here
				x.block, i = false, e
			}
		default:
			x.skip, i = true, e
			x.wide = n > sshLen && x.startsLine(data, s)
		}
	}
	x.put(data, done, len(data))
	return len(data)
}

func (x *encoded) mark(kind string, value []byte, n int) {
	if n > 0 {
		x.out = appendMark(x.out, kind, idOf(x.key, value))
		x.note.one(kind, int64(n))
	}
}

// nextRun returns the next run of at least minRunLen bytes of base64 from data[i] on, or one at the end of data.
func nextRun(data []byte, i int) (from, to int) {
	for i < len(data) {
		j := i + minRunLen - 1
		if j >= len(data) {
			from = len(data)
			for from > i && runBytes[data[from-1]] >= 0 {
				from--
			}
			return from, len(data)
		}
		if runBytes[data[j]] < 0 {
			i = j + 1
			continue
		}
		from = j
		for from > i && runBytes[data[from-1]] >= 0 {
			from--
		}
		to = j + 1
		for to < len(data) && runBytes[data[to]] >= 0 {
			to++
		}
		if to-from >= minRunLen || to == len(data) {
			return from, to
		}
		i = to
	}
	return len(data), len(data)
}

// readableHead reports whether the first bytes of a run decode to text.
func readableHead(b []byte) bool {
	for i := 0; i < minRunLen; i += 4 {
		v := uint32(runBytes[b[i]])<<18 | uint32(runBytes[b[i+1]])<<12 | uint32(runBytes[b[i+2]])<<6 | uint32(runBytes[b[i+3]])
		if v&0x808080 != 0 || !readable([]byte{byte(v >> 16), byte(v >> 8), byte(v)}) {
			return i == 0 && v&0x80ff80 == 0 && wideHead(b)
		}
	}
	return true
}

// wideHead reports the same of text in UTF-16, as PowerShell takes it.
func wideHead(b []byte) bool {
	var text [minRunLen / 4 * 3]byte
	_, err := base64.StdEncoding.Decode(text[:], b[:minRunLen])
	for i := 0; err == nil && i < len(text); i += 2 {
		if text[i+1] != 0 || !readable(text[i:i+1]) {
			return false
		}
	}
	return err == nil
}

// preceding returns what comes before data[s], up to lookBack bytes.
func (x *encoded) preceding(data []byte, s int) []byte {
	if s >= lookBack {
		return data[s-lookBack : s]
	}
	return append(append(make([]byte, 0, len(x.look)+s), x.look...), data[:s]...)
}

// preceded returns the byte that is back before data[s], if there is one.
func (x *encoded) preceded(data []byte, s, back int) (byte, bool) {
	switch i := s - back; {
	case i >= 0:
		return data[i], true
	case len(x.look)+i >= 0:
		return x.look[len(x.look)+i], true
	}
	return 0, false
}

// startsLine reports whether only blanks, or a number, stand before data[s] on its line.
func (x *encoded) startsLine(data []byte, s int) bool {
	_, starts := x.numbered(data, s)
	return starts
}

// goesOn reports whether a line with a number is one of a certificate, or of something else that is no key: it begins one, or comes after
// such a line, or after one that is text by chance.
func (x *encoded) goesOn(data []byte, s, width int) bool {
	digits, _ := x.numbered(data, s)
	n, _ := strconv.ParseUint(string(digits), 10, 32)
	if n == 0 || (x.after == 0 || n < x.after || n > x.after+2) && !harmless(data[s:s+width]) && !afterHead.Match(x.preceding(data, s)) {
		return false
	}
	x.after = n
	return true
}

func (x *encoded) numbered(data []byte, s int) (digits []byte, starts bool) {
	var line [40]byte
	from := len(line)
	for ; ; from-- {
		c, ok := x.preceded(data, s, len(line)-from+1)
		if !ok || c == '\n' {
			break
		}
		if from == 0 {
			return nil, false
		}
		line[from-1] = c
	}
	number := skip(line[:], from, " \t")
	if number == len(line) {
		return nil, true
	}
	i := skip(line[:], number, "0123456789")
	return line[number:i], i > number && i < len(line) && (line[i] == ':' || blank(line[i])) && skip(line[:], i+1, " \t") == len(line)
}

var (
	// afterHead is what stands before the inside of a block that has its head.
	afterHead = lazyregexp.New(`----[ ]?BEGIN [^\n]*\n(?:[ \t]*(?:\d+[: \t][ \t]*)?(?:[A-Za-z-]+: [^\n]*)?\n){0,4}\s*(?:\d+[: \t][ \t]*)?$`)
	endOfBody = lazyregexp.New(`^[ \t\r\n]*-----END ([A-Z0-9 ]*)-----`)
)

// isAWS reports whether a word of 40 bytes is a secret key of AWS: upper and lower case and digits as chance mixes them.
func (x *encoded) isAWS(data []byte, s, e int) bool {
	w := data[s:e]
	if bytes.IndexByte(w, '-') >= 0 || bytes.IndexByte(w, '_') >= 0 || !mixed(w) || e < len(data) && (data[e] == '=' || data[e] == '.') {
		return false
	}
	before, _ := x.preceded(data, s, 1)
	return before != '.'
}

// isBody judges lines of base64 as long as those inside key blocks. to is where they end, and data[s] that no line of this
// length ends here. With goesOn, the line goes on with a block that is none of a key.
func (x *encoded) isBody(data []byte, s, width int, goesOn, final bool) (to int, secret, whole bool) {
	line := data[s : s+width]
	to = s + width
	if to == len(data) && !final {
		return s, false, false
	}
	if to < len(data) && data[to] != '\n' && data[to] != '\r' || !mixed(line) {
		return s, false, true
	}
	if goesOn || harmless(line) || afterHead.Match(x.preceding(data, s)) {
		return to, false, true
	}
	for at := to; ; {
		n, whole := baseLine(data, at, final)
		if !whole && len(data)-s < Window {
			return s, false, false
		}
		if !whole || n == 0 || at+n-s >= Window { // what follows a whole line is looked at as it comes
			break
		}
		at += n
		to = at
	}
	rest := data[to:min(len(data), to+80)]
	if len(rest) < 80 && !final && (len(rest) < 14 || bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("-----END"))) &&
		bytes.Count(rest, []byte("\n")) < 2 {
		return s, false, false
	}
	if g := endOfBody.FindSubmatch(rest); g != nil && !bytes.Contains(g[1], []byte("PRIVATE")) {
		return to, false, true
	}
	return to, true, true
}

// baseLine returns the length of the newline at data[at] and of a line of nothing but base64 after it, or 0. whole is false
// if more bytes may change that.
func baseLine(data []byte, at int, final bool) (n int, whole bool) {
	i := at
	if i < len(data) && data[i] == '\r' {
		i++
	}
	if i >= len(data) {
		return 0, final
	}
	if data[i] != '\n' {
		return 0, true
	}
	for i++; i < len(data) && (data[i] == ' ' || data[i] == '\t'); i++ {
	}
	from := i
	for i < len(data) && (runBytes[data[i]] >= 0 && data[i] != '-' && data[i] != '_' || data[i] == '=') {
		i++
	}
	switch {
	case i == len(data) && !final && i-from <= 2*sshLen:
		return 0, false
	case i-from < 4 || i-from > 2*sshLen || i < len(data) && data[i] != '\n' && data[i] != '\r', !bytes.ContainsAny(data[from:i], "+/=0123456789") && i-from < pemLen:
		return 0, true
	}
	return i - at, true
}

// blockLine looks at the next line of a block, whose last one ends at data[i]. n is negative if more bytes are needed.
func (x *encoded) blockLine(data []byte, i int, final bool) (n int, over bool) {
	n, whole := baseLine(data, i, final)
	if !whole {
		return -1, false
	}
	return n, n == 0
}

// harmless reports whether a first line begins a certificate, a public key, a picture, a document or an archive.
func harmless(line []byte) bool {
	b, err := base64.RawStdEncoding.DecodeString(string(line[:16]))
	if err != nil {
		return true
	}
	for _, start := range []string{"\x89PNG", "\xff\xd8\xff", "GIF8", "%PDF", "PK\x03\x04", "\x1f\x8b", "BZh", "RIFF", "\xfd7zXZ", "\x00\x00\x00",
		"\x7fELF", "\x28\xb5\x2f\xfd", "\x00\x00\x01\x00", "BM", "wOF"} {
		if bytes.HasPrefix(b, []byte(start)) {
			return true
		}
	}
	return publicDER.Match(b)
}

// publicDER is how certificates, requests and public keys begin: a sequence whose first element is a sequence.
var publicDER = lazyregexp.New(`^(?s)0(?:\x82..|\x81.|[\x00-\x7f])0(?:\x82..0?|\x81.|[\x05\x0d\x10\x13])`)

package framing

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// FeedScript returns what to type, behind [Loader], once it has printed the nonce: it starts the feeder, a second program on the
// host, on a terminal of its own, that gives a command its standard input through a named pipe. See host/feeder.sh. noPerl is
// [Shell].NoPerl.
func FeedScript(nonce Token, noPerl bool) []byte {
	text := withMarks(feederText(), nonce, "perl", perlOf(noPerl), "feeder_pl", word(perlFeederText()))
	return toRead(nonce, hostcode.Fill(startFeederText(), "feeder", word(text)))
}

// Feeder is a feeder that is ready.
type Feeder struct {
	Path string // of the pipe: for [Command.Stdin]
	Perl bool   // takes bytes as they are
}

// Feeding looks for the feeder's answer in all that it has printed so far. failed says that the host can make no pipe.
func Feeding(said []byte, nonce Token) (f Feeder, ready, failed bool) {
	mark := append([]byte{rs}, nonce[:]...)
	for {
		i := bytes.Index(said, mark)
		if i < 0 {
			return f, false, false
		}
		said = said[i+len(mark):]
		line, _, whole := bytes.Cut(said, []byte("\n"))
		if !whole || len(line) == 0 {
			continue
		}
		switch line = bytes.TrimSuffix(line, []byte("\r")); line[0] {
		case 'Q':
			return f, false, true
		case 'P':
			how, path, ok := strings.Cut(string(line[1:]), ";")
			return Feeder{Path: path, Perl: how == "perl"}, ok, !ok
		}
	}
}

// Go is the line that starts the feeding, typed once the command has opened the pipe.
const Go = "go\n"

// AppendPiece appends p as one piece of input. An empty p appends the end of the input.
func (f Feeder) AppendPiece(dst, p []byte) []byte {
	switch {
	case f.Perl:
		dst = strconv.AppendInt(dst, int64(len(p)), 10)
		dst = append(dst, '\n')
		return append(dst, p...)
	case len(p) == 0:
		return append(dst, ".\n"...)
	}
	const perLine = 200
	for i, c := range p {
		dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		if i%perLine == perLine-1 || i == len(p)-1 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

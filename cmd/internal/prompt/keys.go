package prompt

import (
	"bytes"
	"strings"
	"sync/atomic"
)

// keys is a terminal on which ^C drops the line. What terminals send for one key is many things, of which the library knows one.
type keys struct {
	tty         Terminal
	waiting     []byte
	part        []byte // the beginning of what may be one of spellings
	pasting     bool
	interrupted atomic.Bool
}

// searchKey is ^R.
const searchKey = 18

// dropLine goes to the end of a line, takes away all of it, and enters what is left.
var dropLine = []byte{5, 21, '\r'}

const pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"

// spellings are what screen, tmux, rxvt, consoles and terminals in application mode send for keys, as the library has them: the
// beginning and the end of the line, arrows, and words to the left and the right.
var spellings = map[string]string{
	"\x1b[1~": "\x01", "\x1b[7~": "\x01", "\x1bOH": "\x01", "\x1b[4~": "\x05", "\x1b[8~": "\x05", "\x1bOF": "\x05",
	"\x1bOA": "\x1b[A", "\x1bOB": "\x1b[B", "\x1bOC": "\x1b[C", "\x1bOD": "\x1b[D",
	"\x1b[1;5C": "\x1b[1;3C", "\x1b[1;5D": "\x1b[1;3D", "\x1bf": "\x1b[1;3C", "\x1bb": "\x1b[1;3D",
	pasteBegins: pasteBegins, pasteEnds: pasteEnds,
}

// spelled returns the key that text begins with, and how many bytes that takes. begun is true where more may come.
func spelled(text []byte) (key string, n int, begun bool) {
	for spelling, key := range spellings {
		switch {
		case bytes.HasPrefix(text, []byte(spelling)):
			return key, len(spelling), false
		case strings.HasPrefix(spelling, string(text)):
			begun = true
		}
	}
	return "", 0, begun
}

func (k *keys) Read(p []byte) (int, error) {
	for len(k.waiting) == 0 {
		buf := make([]byte, len(p))
		n, err := k.tty.Read(buf)
		k.take(buf[:n])
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, k.waiting)
	k.waiting = k.waiting[n:]
	return n, nil
}

// take puts what was typed into waiting.
func (k *keys) take(typed []byte) {
	text := append(k.part, typed...)
	k.part = nil
	for len(text) > 0 {
		key, n, begun := "", 0, false
		if text[0] == 0x1b {
			key, n, begun = spelled(text)
		}
		switch {
		case begun:
			k.part = bytes.Clone(text)
			return
		case n > 0 && (!k.pasting || key == pasteEnds):
			k.pasting = key == pasteBegins
			k.waiting = append(k.waiting, key...)
			text = text[n:]
			continue
		case text[0] == 3:
			k.interrupted.Store(true)
			k.waiting = append(k.waiting, dropLine...)
		default:
			k.waiting = append(k.waiting, text[0])
		}
		text = text[1:]
	}
}

func (k *keys) Write(p []byte) (int, error) { return k.tty.Write(p) }

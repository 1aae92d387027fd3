package filework

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/fairlead-ssh/fairlead/session/files"
)

const (
	maxLines  = 32 << 20 // bytes of all lists that are being read
	freeLines = 1 << 20  // of these, what each list may have in any case
	lineBlock = 64 << 10
)

// room is what all lists of this process hold above what each may have.
var room struct {
	sync.Mutex
	used int
}

// lines are a list while it is read, as text and where each line begins: that is a tenth of what the names take as values.
// The zero value is empty.
type lines struct {
	blocks [][]byte
	at     []uint32 // the block, and the place in it
	size   int
	taken  int // of room
}

// add is for files.Host.Names.
func (l *lines) add(n files.Name) error {
	var buf [512]byte
	line := appendName(buf[:0], n)
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last])+len(line) > lineBlock {
		if err := l.grow(); err != nil {
			return err
		}
		last++
	}
	l.at = append(l.at, uint32(last)<<16|uint32(len(l.blocks[last])))
	l.blocks[last] = append(l.blocks[last], line...)
	return nil
}

// grow makes a block, which has room for any line: names have limits.
func (l *lines) grow() error {
	if l.size += lineBlock; l.size > freeLines {
		room.Lock()
		defer room.Unlock()
		if room.used+lineBlock > maxLines {
			return &files.Error{Code: files.CodeFull, Err: fmt.Errorf("too many large directories are being listed: try again, or use a command (ls, find)")}
		}
		room.used += lineBlock
		l.taken += lineBlock
	}
	l.blocks = append(l.blocks, make([]byte, 0, lineBlock))
	return nil
}

// drop gives back what l holds.
func (l *lines) drop() {
	room.Lock()
	room.used -= l.taken
	room.Unlock()
	*l = lines{}
}

func (l *lines) line(at uint32) []byte {
	b := l.blocks[at>>16][at&0xffff:]
	return b[:bytes.IndexByte(b, '\n')+1]
}

// write writes all lines, sorted by name.
func (l *lines) write(w io.Writer) error {
	slices.SortFunc(l.at, func(a, b uint32) int { return bytes.Compare(nameIn(l.line(a)), nameIn(l.line(b))) })
	out := bufio.NewWriterSize(w, 32<<10)
	for _, at := range l.at {
		if _, err := out.Write(l.line(at)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// nameIn is the name at the end of a line.
func nameIn(line []byte) []byte {
	for range 4 {
		line = line[bytes.IndexByte(line, ' ')+1:]
	}
	return line
}

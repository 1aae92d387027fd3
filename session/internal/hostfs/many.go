package hostfs

import (
	"context"
	"io"
	"time"
)

// Programs is an FS whose host runs programs on many files at a time.
type Programs interface {
	Program(ctx context.Context, p Program) (string, error)
	Word(text string) (word string, ok bool) // text as a word of a program's line; not every way can carry every text
}

// Program is a line of words that runs on the host without a terminal, in sh.
type Program struct {
	What string        // in errors
	Line string        // ends with the code of what failed
	In   io.Reader     // nil is nothing
	Most int           // bytes that it may have to say
	Wait time.Duration // without a byte from it or to it; ProgramWait unless it is set
}

// ManyAtOnce is an FS to which one step for each of many files is slow, since it takes one step at a time, and each of them is a command.
type ManyAtOnce interface {
	// DressAll gives files or directories one mode and owner. After an error some may have them.
	DressAll(ctx context.Context, names []string, c Clothes) error
	// MakeAll makes directories for their owner alone, and says of each of the first ones whether it was missing; the rest it has not
	// made.
	MakeAll(ctx context.Context, names []string) (missing []bool)
	// RenameAll renames files one after the other, and returns how many are done; the error is that of the next.
	RenameAll(ctx context.Context, all []Move) (done int, err error)
}

// Move is a file that gets another name.
type Move struct{ From, To string }

// Gatherer is an FS that reads many small files in one go: all of them, or none.
type Gatherer interface {
	Gather(ctx context.Context, all []Small) ([][]byte, error)
}

// Small is a small file: where it is, and its size as it was listed.
type Small struct {
	Path string
	Size int64
}

// Timer is an FS whose Stat and Lstat do not say when a file was changed last, and List not always.
type Timer interface {
	// Times asks for some names of a directory. The zero time is of what is not there.
	Times(ctx context.Context, dir string, names []string) ([]time.Time, error)
}

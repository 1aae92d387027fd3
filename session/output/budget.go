package output

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// DefaultMaxBytes is what Budget.MaxBytes means by zero.
	DefaultMaxBytes = 64 << 10
	// MaxLine is how many bytes of a line a pattern sees, and how many of it are shown when it matches.
	MaxLine = 64 << 10
	// MaxContext is the most that Budget.Context may be.
	MaxContext = 1000
)

// Budget says what somebody wants to see of an output. The zero value is the first and the last bytes, 64 KiB together.
//
// A line ends with a newline; the last one may lack it. With Head, Tail or Grep only whole lines are shown, with one
// exception: where not even one line fits into MaxBytes, that line's beginning (its end, when only Tail is set) is.
type Budget struct {
	// Head and Tail are lines from the start and from the end; zero means that this end is not asked for, and both
	// zero means as much of either end as fits. With Grep they count the lines that Grep leaves, context included.
	Head, Tail int
	// Grep keeps the lines in which this pattern (RE2, the syntax of package regexp, linear time) is found; empty
	// means all lines. It sees a line's first MaxLine bytes, without the line's end (\n or \r\n), and no lines that
	// lie partly in what was not kept.
	Grep string
	// Shown, if not nil, is how a line reads for whoever gets it, as one without colours: Grep sees that.
	Shown func(line []byte) []byte
	// Context is how many lines are kept on either side of those Grep finds; groups that do not touch are parted by a
	// line of two dashes, as by grep -C.
	Context int
	// MaxBytes bounds the bytes of the stream that are shown. Zero means DefaultMaxBytes, negative no bound: then
	// what is shown is held in memory, however much it is.
	MaxBytes int
	// From, if not zero, shows what was written from this offset on, for somebody who has seen what is before it: those
	// bytes are not counted as omitted. It cannot be combined with Head, Tail and Grep.
	From int64
}

// Validate says what is wrong with the budget before anything runs: a number below zero, or a pattern that cannot be
// used.
func (b Budget) Validate() error {
	_, err := b.compile()
	return err
}

func (b Budget) compile() (*regexp.Regexp, error) {
	switch {
	case b.Head < 0:
		return nil, fmt.Errorf("output: head is %d; give a number of lines, or leave it out", b.Head)
	case b.Tail < 0:
		return nil, fmt.Errorf("output: tail is %d; give a number of lines, or leave it out", b.Tail)
	case b.Context < 0 || b.Context > MaxContext:
		return nil, fmt.Errorf("output: context is %d; give 0 to %d lines", b.Context, MaxContext)
	case b.Context > 0 && b.Grep == "":
		return nil, fmt.Errorf("output: context needs a grep pattern")
	case b.From < 0 || b.From > 0 && (b.Head > 0 || b.Tail > 0 || b.Grep != ""):
		return nil, fmt.Errorf("output: from is %d; give an offset, without head, tail or grep", b.From)
	case b.Grep == "":
		return nil, nil
	}
	re, err := regexp.Compile(b.Grep)
	if err != nil {
		if e, ok := err.(*syntax.Error); ok {
			return nil, fmt.Errorf("output: the grep pattern cannot be used: %s: `%s` (RE2 syntax: no look-around, no back-references)", e.Code, e.Expr)
		}
		return nil, fmt.Errorf("output: the grep pattern cannot be used: %w", err)
	}
	return re, nil
}

// bytes is the bound for a stream of total bytes.
func (b Budget) bytes(total int64) int64 {
	switch {
	case b.MaxBytes == 0:
		return DefaultMaxBytes
	case b.MaxBytes < 0:
		return total
	}
	return int64(b.MaxBytes)
}

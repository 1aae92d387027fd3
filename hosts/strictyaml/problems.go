package strictyaml

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Problem is a mistake in a file.
type Problem struct {
	Line int    // from 1
	Msg  string // what is wrong and what to do; one line that a terminal can show
}

// Problems collects what is wrong with a file. The zero value is ready. It is for one goroutine.
type Problems struct{ found []Problem }

// Add notes a mistake. The message is made printable: it quotes the file.
func (p *Problems) Add(line int, format string, args ...any) {
	p.found = append(p.found, Problem{Line: max(1, line), Msg: printable.Message(fmt.Sprintf(format, args...))})
}

// Found returns all mistakes, in the order of the file.
func (p *Problems) Found() []Problem {
	slices.SortStableFunc(p.found, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p.found
}

// Clip shortens what a message quotes.
func Clip(s string) string { return printable.Clip(s, 80) }

// Package table prints rows: aligned under a header for people, tab-separated and without one for pipes.
package table

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Table collects rows.
type Table struct {
	header []string
	rows   [][]string
}

// New returns a table with these columns.
func New(header ...string) *Table { return &Table{header: header} }

// Add adds a row.
func (t *Table) Add(cells ...string) {
	for i := range cells {
		cells[i] = Clean(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// Print writes the table to ios.Out.
func (t *Table) Print(ios *iostreams.IOStreams) error {
	var b strings.Builder
	if !ios.OutTTY {
		for _, row := range t.rows {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
	} else {
		t.align(&b, ios.ColorOut())
	}
	_, err := io.WriteString(ios.Out, b.String())
	return err
}

func (t *Table) align(b *strings.Builder, color bool) {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string) string {
		var l strings.Builder
		for i, cell := range row {
			l.WriteString(cell)
			l.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		return strings.TrimRight(l.String(), " ")
	}
	head := line(t.header)
	if color {
		head = "\x1b[1m" + head + "\x1b[0m"
	}
	b.WriteString(head + "\n")
	for _, row := range t.rows {
		b.WriteString(line(row) + "\n")
	}
}

// Clean makes text fit for a cell: one line, nothing that a terminal obeys.
func Clean(text string) string { return printable.Cell(text) }

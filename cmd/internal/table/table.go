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
	// Fit shortens cells on a terminal, with … at their ends, so that lines fit in its width. The first column keeps its
	// width as long as that is possible.
	Fit bool

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
		t.align(&b, ios.ColorOut(), ios.Width())
	}
	_, err := io.WriteString(ios.Out, b.String())
	return err
}

func (t *Table) align(b *strings.Builder, color bool, width int) {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if t.Fit {
		widths = fit(widths, width)
	}
	line := func(row []string) string {
		var l strings.Builder
		for i, cell := range row {
			if cell = shorten(cell, widths[i]); widths[i] == 0 {
				continue
			}
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

// narrowest is how narrow a column becomes before columns are left out.
const narrowest = 6

// fit makes columns narrower until a line fits, the widest one first, and leaves out the last ones where that is not enough:
// their width is 0.
func fit(widths []int, width int) []int {
	total := func() (sum int) {
		for _, w := range widths {
			if w > 0 {
				sum += w + 2
			}
		}
		return sum - 2
	}
	for total() > width {
		widest := 0
		for i := 1; i < len(widths); i++ {
			if widths[i] > narrowest && (widest == 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest > 0 {
			widths[widest]--
			continue
		}
		last := len(widths) - 1
		for last > 0 && widths[last] == 0 {
			last--
		}
		if last == 0 {
			widths[0] = max(1, min(widths[0], width))
			break
		}
		widths[last] = 0
	}
	return widths
}

// shorten cuts a cell that is wider than its column.
func shorten(cell string, width int) string {
	if utf8.RuneCountInString(cell) <= width || width == 0 {
		return cell
	}
	return string([]rune(cell)[:width-1]) + "…"
}

// Clean makes text fit for a cell: one line, nothing that a terminal obeys.
func Clean(text string) string { return printable.Cell(text) }

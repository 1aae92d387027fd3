// Package table prints rows: aligned under a header for people, tab-separated and without one for pipes.
package table

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Table collects rows.
type Table struct {
	// Fit shortens cells on a terminal, with … at their ends, so that lines fit in its width, and leaves columns out where
	// that is not enough: those of Drop in their order, then the last ones. The first column and those of Keep stay.
	Fit bool
	// Keep has the columns that matter most: they stay, and are wide enough to be read.
	Keep []string
	// Whole has columns that say nothing without their ends, as times.
	Whole []string
	// Drop has the columns that are left out first.
	Drop []string

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
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	if t.Fit {
		widths = t.fit(widths, width)
	}
	line := func(row []string) string {
		var l strings.Builder
		for i, cell := range row {
			if cell = shorten(cell, widths[i]); widths[i] == 0 {
				continue
			}
			l.WriteString(cell)
			l.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
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

// How narrow a column becomes before columns are left out: any, and one of Keep.
const (
	narrowest = 6
	readable  = 20
)

// fit makes columns narrower until a line fits in width, the widest one first, and leaves columns out where that is not enough:
// their width is 0.
func (t *Table) fit(full []int, width int) []int {
	least := make([]int, len(full))
	var drop []int
	for i, name := range t.header {
		switch {
		case slices.Contains(t.Keep, name):
			least[i] = min(full[i], readable)
		case i == 0 || slices.Contains(t.Whole, name):
			least[i] = full[i]
		default:
			least[i] = min(full[i], narrowest)
		}
	}
	for _, name := range t.Drop {
		drop = append(drop, slices.Index(t.header, name))
	}
	for i := len(full) - 1; i > 0; i-- {
		if !slices.Contains(drop, i) && !slices.Contains(t.Keep, t.header[i]) {
			drop = append(drop, i)
		}
	}
	for i := len(full) - 1; i > 0; i-- { // at last, those that are to stay
		if !slices.Contains(drop, i) {
			drop = append(drop, i)
		}
	}
	full = slices.Clone(full)
	for _, next := range append(drop, 0) {
		if got, ok := narrow(full, least, width); ok {
			return got
		}
		if next == 0 {
			full[0] = max(1, min(full[0], width))
			break
		}
		full[next] = 0
	}
	return full
}

// narrow makes the widest columns narrower, but not narrower than least, until a line fits in width. ok is false where it does not.
func narrow(full, least []int, width int) (widths []int, ok bool) {
	widths = slices.Clone(full)
	total := -2
	for _, w := range widths {
		if w > 0 {
			total += w + 2
		}
	}
	for ; total > width; total-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// shorten cuts a cell that is wider than its column.
func shorten(cell string, width int) string {
	if width == 0 {
		return cell
	}
	return ansi.Truncate(cell, width, "…")
}

// Clean makes text fit for a cell: one line, nothing that a terminal obeys.
func Clean(text string) string { return printable.Cell(text) }

package cp

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session/copies"
)

const maxDiffLines = 2000 // of either text; the table of the comparison has the square of it

// diff is a unified diff of a small text on a host and here; "" for what is neither.
func diff(r copies.Report, now []byte) string {
	if len(r.Old) == 0 || len(now) > 64<<10 || !text(r.Old) || !text(now) {
		return ""
	}
	a, b := strings.SplitAfter(string(r.Old), "\n"), strings.SplitAfter(string(now), "\n")
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return ""
	}
	if a[len(a)-1] == "" {
		a = a[:len(a)-1]
	}
	if len(b) > 0 && b[len(b)-1] == "" {
		b = b[:len(b)-1]
	}
	var out strings.Builder
	fmt.Fprintf(&out, "    --- %s\n    +++ %s\n", strings.Map(seen, r.Path), strings.Map(seen, r.Name))
	for _, h := range hunks(edits(a, b)) {
		out.WriteString(h)
	}
	return out.String()
}

func text(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// seen replaces what a terminal would obey, and what is invisible.
func seen(c rune) rune {
	if c == '\t' || unicode.IsPrint(c) {
		return c
	}
	return utf8.RuneError
}

// edit is one line of a comparison: kept, taken away or added.
type edit struct {
	mark byte
	line string
	a, b int // where it is in each text
}

// edits is a shortest way from a to b, by the longest common subsequence.
func edits(a, b []string) (all []edit) {
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, edit{' ', a[i], i, j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, edit{'-', a[i], i, j})
			i++
		default:
			all = append(all, edit{'+', b[j], i, j})
			j++
		}
	}
	return all
}

const around = 3 // lines that are shown around a change

// hunks are the changes with what is around them.
func hunks(all []edit) (out []string) {
	for i := 0; i < len(all); {
		if all[i].mark == ' ' {
			i++
			continue
		}
		from, to, same := max(0, i-around), i, 0
		for ; to < len(all) && same <= 2*around; to++ {
			if all[to].mark == ' ' {
				same++
			} else {
				same = 0
			}
		}
		to -= max(0, same-around)
		var b strings.Builder
		na, nb := 0, 0
		for _, e := range all[from:to] {
			if e.mark != '+' {
				na++
			}
			if e.mark != '-' {
				nb++
			}
			line := strings.TrimSuffix(e.line, "\n")
			b.WriteString("    " + string(e.mark) + strings.Map(seen, line) + "\n")
			if line == e.line {
				b.WriteString("    \\ No newline at end of file\n")
			}
		}
		out = append(out, fmt.Sprintf("    @@ -%d,%d +%d,%d @@\n%s", all[from].a+1, na, all[from].b+1, nb, b.String()))
		i = to
	}
	return out
}

package output_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/output"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestBudgetShows(t *testing.T) {
	ten := numbered(9) // seven bytes each
	for name, c := range map[string]struct {
		config output.SpoolConfig
		text   string
		budget output.Budget
		want   string
		cutAt  int64 // -1: nothing is left out
		check  func(*testing.T, output.View)
	}{
		"nothing of nothing":               {cutAt: -1},
		"all where it fits":                {text: ten, want: ten, cutAt: -1},
		"all without a bound":              {text: ten, budget: output.Budget{MaxBytes: -1}, want: ten, cutAt: -1},
		"all where it fits exactly":        {text: ten, budget: output.Budget{MaxBytes: 63}, want: ten, cutAt: -1},
		"both ends":                        {text: "0123456789", budget: output.Budget{MaxBytes: 5}, want: "01289", cutAt: 3},
		"one byte":                         {text: "0123456789", budget: output.Budget{MaxBytes: 1}, want: "0", cutAt: 1},
		"borders of characters":            {text: "aééééééa", budget: output.Budget{MaxBytes: 8}, want: "aééa", cutAt: 3},
		"no room for a character":          {text: "日本語", budget: output.Budget{MaxBytes: 2}, want: "", cutAt: 0},
		"the first lines":                  {text: ten, budget: output.Budget{Head: 2}, want: "line 1\nline 2\n", cutAt: 14},
		"the last lines":                   {text: ten, budget: output.Budget{Tail: 2}, want: "line 8\nline 9\n", cutAt: 0},
		"first and last":                   {text: ten, budget: output.Budget{Head: 1, Tail: 1}, want: "line 1\nline 9\n", cutAt: 7},
		"ends that meet":                   {text: ten, budget: output.Budget{Head: 5, Tail: 4}, want: ten, cutAt: -1},
		"ends that overlap":                {text: ten, budget: output.Budget{Head: 7, Tail: 7}, want: ten, cutAt: -1},
		"more lines than there are":        {text: "a\nb", budget: output.Budget{Tail: 9}, want: "a\nb", cutAt: -1},
		"a last line without an end":       {text: "a\nb\nc", budget: output.Budget{Tail: 1}, want: "c", cutAt: 0},
		"empty lines are lines":            {text: "\n\n\nx\n", budget: output.Budget{Head: 2}, want: "\n\n", cutAt: 2},
		"whole lines within bytes, head":   {text: ten, budget: output.Budget{Head: 5, MaxBytes: 20}, want: "line 1\nline 2\n", cutAt: 14},
		"whole lines within bytes, tail":   {text: ten, budget: output.Budget{Tail: 5, MaxBytes: 20}, want: "line 8\nline 9\n", cutAt: 0},
		"whole lines within bytes, border": {text: ten, budget: output.Budget{Tail: 5, MaxBytes: 21}, want: "line 7\nline 8\nline 9\n", cutAt: 0},
		"whole lines within bytes, both":   {text: ten, budget: output.Budget{Head: 5, Tail: 1, MaxBytes: 21}, want: "line 1\nline 2\nline 9\n", cutAt: 14},
		"halves too small for a line": {text: ten, budget: output.Budget{Head: 2, Tail: 2, MaxBytes: 10},
			want: "line 1\n", cutAt: 7},
		"a line longer than the budget": {text: "日本語日本語\nx\n", budget: output.Budget{Head: 1, MaxBytes: 7}, want: "日本", cutAt: 6,
			check: func(t *testing.T, v output.View) { assert.True(t, v.LineCut) }},
		"a last line longer than the budget": {text: "x\n日本語日本語", budget: output.Budget{Tail: 1, MaxBytes: 7}, want: "本語", cutAt: 0,
			check: func(t *testing.T, v output.View) { assert.True(t, v.LineCut) }},

		"matches": {text: ten, budget: output.Budget{Grep: "[37]$"}, want: "line 3\nline 7\n", cutAt: 0,
			check: func(t *testing.T, v output.View) { assert.EqualValues(t, 2, v.Matched) }},
		"no match": {text: ten, budget: output.Budget{Grep: "x"}, want: "", cutAt: 0},
		"every line matches": {text: ten, budget: output.Budget{Grep: "^"}, want: ten, cutAt: -1,
			check: func(t *testing.T, v output.View) { assert.EqualValues(t, 9, v.Matched) }},
		"ends of DOS lines": {text: "a\r\nb\r\n", budget: output.Budget{Grep: "b$"}, want: "b\r\n", cutAt: 0},
		"context":           {text: ten, budget: output.Budget{Grep: "[5]", Context: 1}, want: "line 4\nline 5\nline 6\n", cutAt: 0},
		"context at the borders": {text: ten, budget: output.Budget{Grep: "[19]", Context: 1},
			want: "line 1\nline 2\n--\nline 8\nline 9\n", cutAt: 14},
		"groups that touch": {text: ten, budget: output.Budget{Grep: "[25]", Context: 1},
			want: "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n", cutAt: 42},
		"groups that overlap": {text: ten, budget: output.Budget{Grep: "[24]", Context: 2},
			want: "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n", cutAt: 42},
		"first of the matches": {text: ten, budget: output.Budget{Grep: "[2468]", Head: 1}, want: "line 2\n", cutAt: 0,
			check: func(t *testing.T, v output.View) { assert.EqualValues(t, 4, v.Matched) }},
		"last of the matches":  {text: ten, budget: output.Budget{Grep: "[2468]", Tail: 1}, want: "line 8\n", cutAt: 0},
		"both of the matches":  {text: ten, budget: output.Budget{Grep: "[2468]", Head: 1, Tail: 1}, want: "line 2\nline 8\n", cutAt: 0},
		"matches within bytes": {text: ten, budget: output.Budget{Grep: "line", MaxBytes: 15}, want: "line 1\nline 9\n", cutAt: 7},
		"a match longer than the budget": {text: "aéé\n", budget: output.Budget{Grep: "a", MaxBytes: 2}, want: "a", cutAt: 1,
			check: func(t *testing.T, v output.View) { assert.True(t, v.LineCut) }},
		"a pattern sees one line": {text: ten, budget: output.Budget{Grep: `(?s)1.line`}, want: "", cutAt: 0},

		"binary": {text: "a\xff\xfe\x00b", want: "a\xff\xfe\x00b", cutAt: -1,
			check: func(t *testing.T, v output.View) { assert.True(t, v.Binary) }},
		"binary is cut where it falls": {text: "\xff\xff\xff\xff\xff\xff", budget: output.Budget{MaxBytes: 4}, want: "\xff\xff\xff\xff", cutAt: 2},

		"past the cap, both ends": {config: output.SpoolConfig{Memory: -1, Limit: 21}, text: numbered(5000), budget: output.Budget{Head: 2, Tail: 1},
			want: "line 1\nline 2\nline 5000\n", cutAt: 14},
		"past the cap, torn lines are not shown": {config: output.SpoolConfig{Memory: -1, Limit: 17}, text: numbered(5000), budget: output.Budget{Head: 5, Tail: 1},
			want: "line 1\nline 2\nline 5000\n", cutAt: 14,
			check: func(t *testing.T, v output.View) { assert.EqualValues(t, 48893-17-4096, v.Lost) }},
		"past the cap, matches": {config: output.SpoolConfig{Memory: -1, Limit: 17}, text: numbered(5000), budget: output.Budget{Grep: `(2|3|4999)$`},
			want: "line 2\n" + lastMatches(), cutAt: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := spool(t, c.config, c.text)
			v, err := c.budget.Apply(s)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(v.Text))
			want := c.cutAt
			if want < 0 {
				want = int64(len(c.text))
			}
			assert.Equal(t, want, v.CutAt, "cut at")
			checkView(t, v, c.text)
			if c.check != nil {
				c.check(t, v)
			}
		})
	}
}

func TestBudgetShowsWhatIsNew(t *testing.T) {
	for name, c := range map[string]struct {
		config  output.SpoolConfig
		text    string
		budget  output.Budget
		want    string
		omitted int64
		cutAt   int64
	}{
		"all from an offset on":        {text: "0123456789", budget: output.Budget{From: 4}, want: "456789", cutAt: 10},
		"both ends from an offset on":  {text: "0123456789", budget: output.Budget{From: 4, MaxBytes: 4}, want: "4589", omitted: 2, cutAt: 6},
		"nothing past the end":         {text: "0123456789", budget: output.Budget{From: 99}, want: "", cutAt: 10},
		"in what was not kept":         {config: output.SpoolConfig{Memory: -1, Limit: 10}, text: numbered(5000), budget: output.Budget{From: 20, MaxBytes: 10}, want: "line 5000\n", omitted: 48893 - 20 - 10, cutAt: 20},
		"in the last bytes of a flood": {config: output.SpoolConfig{Memory: -1, Limit: 10}, text: numbered(5000), budget: output.Budget{From: 48883}, want: "line 5000\n", cutAt: 48893},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := c.budget.Apply(spool(t, c.config, c.text))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(v.Text))
			assert.Equal(t, c.omitted, v.Omitted)
			assert.Equal(t, c.cutAt, v.CutAt)
			assert.EqualValues(t, len(c.text), v.Total)
		})
	}
	_, err := output.Budget{From: 1, Grep: "x"}.Apply(spool(t, output.SpoolConfig{}, ""))
	assert.Error(t, err)
}

// lastMatches are the lines ending in 2, 3 or 4999 among the last 4096 bytes of numbered(5000).
func lastMatches() string {
	all := numbered(5000)
	tail := all[len(all)-4096:]
	var b strings.Builder
	for l := range strings.Lines(tail[strings.Index(tail, "\n")+1:]) {
		if strings.ContainsAny(l[len(l)-2:len(l)-1], "23") || l == "line 4999\n" {
			b.WriteString(l)
		}
	}
	return b.String()
}

// checkView proves the counts: text and gaps together are the stream.
func checkView(t testing.TB, v output.View, text string) {
	t.Helper()
	assert.EqualValues(t, len(text), v.Total)
	assert.Equal(t, v.Total, v.Shown+v.Omitted, "shown and omitted")
	assert.LessOrEqual(t, v.Shown, int64(len(v.Text)))
	var at, gone int64
	from := 0
	for _, g := range v.Gaps {
		piece := string(v.Text[from:g.At])
		if n := int(g.Offset - at); assert.LessOrEqual(t, n, len(piece)) {
			assert.Equal(t, text[at:g.Offset], piece[:n])
		}
		from, at = g.At, g.Offset+g.Bytes
		gone += g.Bytes
	}
	if assert.LessOrEqual(t, at, int64(len(text))) {
		assert.Equal(t, text[at:], string(v.Text[from:]), "after the last gap")
	}
	assert.Equal(t, v.Omitted, gone, "the gaps are what is omitted")
	if utf8.ValidString(text) {
		assert.False(t, v.Binary, "cut within a character")
	}
}

func TestBadBudgetsAreToldBeforeAnythingRuns(t *testing.T) {
	for want, b := range map[string]output.Budget{
		"output: head is -1":                      {Head: -1},
		"output: tail is -1":                      {Tail: -1},
		"context is -1":                           {Grep: "x", Context: -1},
		"context is 1001":                         {Grep: "x", Context: 1001},
		"needs a grep pattern":                    {Context: 1},
		"missing closing ]":                       {Grep: "[a"},
		"no look-around":                          {Grep: "(?=a)"},
		"invalid escape":                          {Grep: `(a)\1`},
		"expression nests too":                    {Grep: strings.Repeat("(", 2000) + strings.Repeat(")", 2000)},
		"output: the grep pattern cannot be used": {Grep: "a{1001}"},
	} {
		assert.ErrorContains(t, b.Validate(), want)
		_, err := b.Apply(spool(t, output.SpoolConfig{}, "x"))
		assert.ErrorContains(t, err, want)
	}
	assert.NoError(t, output.Budget{Head: 1, Tail: 1, Grep: "a|b", Context: 3, MaxBytes: -1}.Validate())
}

func FuzzApply(f *testing.F) {
	f.Add("line 1\nline 2\nline 3\n", 1, 1, "", 0, 10, 8)
	f.Add("日本語\n日本\n語\n", 1, 0, "本", 1, 7, 5)
	f.Add(strings.Repeat("ab\n", 3000), 0, 2, "b", 2, 100, 20)
	f.Add("\xff\xc3\n\xa9", 0, 0, "", 0, 2, 1000)
	f.Add("a\r\n\r\nb", 3, 3, "^$", 1, 3, 1000)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, head, tail int, grep string, context, maxBytes, limit int) {
		if maxBytes == math.MinInt || limit < 0 || limit > 1<<20 {
			t.Skip()
		}
		b := output.Budget{Head: head, Tail: tail, Grep: grep, Context: context, MaxBytes: maxBytes}
		s := spool(t, output.SpoolConfig{Dir: dir, Memory: 16, Limit: int64(limit)}, text)
		v, err := b.Apply(s)
		if b.Validate() != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		checkView(t, v, text)
		if maxBytes > 0 {
			assert.LessOrEqual(t, v.Shown, int64(maxBytes))
		}
		if (head > 0 || tail > 0 || grep != "") && !v.LineCut {
			for _, g := range v.Gaps {
				atStart := g.Offset == 0 || text[g.Offset-1] == '\n'
				end := g.Offset + g.Bytes
				atEnd := end == int64(len(text)) || text[end-1] == '\n'
				assert.True(t, atStart && atEnd, "cut within a line: %+v", g)
			}
		}
	})
}

func FuzzPagesLaidEndToEnd(f *testing.F) {
	f.Add("abc日本語é\xff\xc3", 2, 0)
	f.Add(strings.Repeat("日", 4000), 7, 100)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, size, limit int) {
		if limit < 0 {
			t.Skip()
		}
		s := spool(t, output.SpoolConfig{Dir: dir, Memory: 16, Limit: int64(limit)}, text)
		var b strings.Builder
		for off := int64(0); ; {
			p, err := s.Page(off, size)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(p.Text), max(size, utf8.UTFMax))
			require.Equal(t, off+p.Skipped, p.Offset)
			b.WriteString(text[off:p.Offset]) // as if it had been kept
			b.Write(p.Text)
			if p.Skipped == 0 && utf8.ValidString(text) && p.Next != s.Kept() && p.Offset == off && off < s.Kept() {
				assert.True(t, utf8.Valid(p.Text), "%q", p.Text)
			}
			if p.End {
				break
			}
			require.Greater(t, p.Next, off)
			off = p.Next
		}
		assert.Equal(t, text, b.String())
	})
}

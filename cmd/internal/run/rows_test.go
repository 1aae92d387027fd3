package run

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
)

func TestALineOfAHostIsShownAndNotObeyed(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain text":              {"größe 1", "größe 1"},
		"tab":                     {"a\tb", "a\tb"},
		"colours stay and end":    {"\x1b[1;38:5:3mred", "\x1b[1;38:5:3mred\x1b[0m"},
		"end of a CRLF line":      {"a\r", "a"},
		"carriage return":         {"50%\r100%", "50%^M100%"},
		"cursor movement":         {"\x1b[2Aover", "^[[2Aover"},
		"erase and forge":         {"x\x1b[2K\rweb9 | FORGED", "x^[[2K^Mweb9 | FORGED"},
		"window title":            {"\x1b]0;t\x07", "^[]0;t^G"},
		"clipboard":               {"\x1b]52;c;QUJD\x1b\\", "^[]52;c;QUJD^[\\"},
		"device control":          {"\x1bP$q\x1b\\", "^[P$q^[\\"},
		"another character set":   {"\x0e\x1b(0", "^N^[(0"},
		"reset":                   {"\x1bc", "^[c"},
		"an unfinished escape":    {"\x1b[31", "^[[31"},
		"private parameters":      {"\x1b[>4;1m\x1b[?4m", "^[[>4;1m^[[?4m"},
		"a long list of colours":  {"\x1b[" + strings.Repeat("1;", 40) + "m", "^[[" + strings.Repeat("1;", 40) + "m"},
		"C1 in UTF-8":             {"a\u009b2Kb", "a^[[2Kb"},
		"next line":               {"a\u0085b", "a^[Eb"},
		"C1 alone":                {"a\x9b2Kb\x85", `a\x9b2Kb\x85`},
		"C1 behind half a letter": {"\xe2\x9b2K", "\xe2" + `\x9b2K`},
		"line separators":         {"a\u2028b\u2029", `a\u2028b\u2029`},
		"other writing order":     {"\u202eab\u2066", `\u202eab\u2066`},
		"other text with \xc2":    {"\u00a7", "\u00a7"},
		"delete, bell, NUL":       {"\x7f\a\x00", "^?^G^@"},
		"a lone escape":           {"\x1b", "^["},
		"bytes that are not text": {"\xff\xc2", "\xff\xc2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rows{prefix: "h | ", cont: "h + ", width: 1000}
			assert.Equal(t, "h | "+tt.want+"\n", string(r.append(nil, []byte(tt.in), false)))
		})
	}
}

func TestLinesAreBrokenAtTheWidthOfTheTerminal(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"exactly":      {strings.Repeat("x", 16), "h | xxxxxxxxxxxxxxxx\n"},
		"one more":     {strings.Repeat("x", 17), "h | xxxxxxxxxxxxxxxx\nh + x\n"},
		"a forged row": {strings.Repeat(" ", 16) + "web2 | FORGED", "h | " + strings.Repeat(" ", 16) + "\nh + web2 | FORGED\n"},
		"wide":         {strings.Repeat("漢", 9), "h | 漢漢漢漢漢漢漢漢\nh + 漢\n"},
		"shown":        {strings.Repeat("x", 15) + "\a", "h | xxxxxxxxxxxxxxx\nh + ^G\n"},
		"tabs":         {"\t\t\tx", "h | \t\t\nh + \tx\n"},
		"colours":      {"\x1b[31m" + strings.Repeat("x", 17), "h | \x1b[31mxxxxxxxxxxxxxxxx\x1b[0m\nh + \x1b[31mx\x1b[0m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rows{prefix: "h | ", cont: "h + ", width: 20}
			assert.Equal(t, tt.want, string(r.append(nil, []byte(tt.in), false)))
		})
	}
	narrow := rows{prefix: "a-long-name | ", cont: "a-long-name + ", width: 3}
	assert.Equal(t, "a-long-name | xxxxxxxxxx\na-long-name + x\n", string(narrow.append(nil, []byte("xxxxxxxxxxx"), false)))
}

// Whatever a host prints, each row begins with its prefix, fits, and holds nothing that is obeyed but colours.
func FuzzRows(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x9b\u009b\xe2\x9b"), 20)
	f.Add([]byte("\t\t\t\u202e漢漢漢漢漢漢漢漢漢"), 15)
	f.Fuzz(func(t *testing.T, in []byte, width int) {
		width = 14 + max(0, width)%100
		in = bytes.ReplaceAll(in, []byte("\n"), nil)
		out := rows{prefix: "h | ", cont: "h + ", width: width}.append(nil, in, false)
		for i, row := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
			prefix := "h + "
			if i == 0 {
				prefix = "h | "
			}
			assert.True(t, strings.HasPrefix(row, prefix), "%q", row)
			left := row
			for at := strings.IndexByte(left, 0x1b); at >= 0; at = strings.IndexByte(left, 0x1b) {
				end := strings.IndexByte(left[at:], 'm')
				if end < 0 || strings.Trim(left[at+2:at+end], "0123456789;:") != "" || left[at+1] != '[' {
					t.Fatalf("a sequence that sets no colours: %q", left[at:])
				}
				left = left[:at] + left[at+end+1:]
			}
			for j := 0; j < len(left); {
				r, n := utf8.DecodeRuneInString(left[j:])
				if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 && left[j] < 0xa0 {
					t.Fatalf("%q is obeyed by a terminal", left)
				}
				j += n
			}
			if !strings.Contains(left, "\t") && utf8.ValidString(left) {
				assert.LessOrEqual(t, ansi.StringWidth(left), width)
			}
		}
	})
}

package printable_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

func TestNothingInACommandStaysUnseen(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		lines   []string
		escaped bool
	}{
		"a plain command":              {`grep '\.log' "x"`, []string{`grep '\.log' "x"`}, false},
		"several lines":                {"a\nb", []string{"a", "b"}, false},
		"a newline at the end":         {"a\n", []string{"a", ""}, false},
		"letters that are not ASCII":   {"echo ä→漢", []string{"echo ä→漢"}, false},
		"a tab":                        {"a\tb\\", []string{`a\tb\\`}, true},
		"an escape, which doubles \\":  {"\\n\n\x1b[2J", []string{`\\n`, `\x1b[2J`}, true},
		"a carriage return":            {"rm -rf x\rls      ", []string{`rm -rf x\rls\x20\x20\x20\x20\x20\x20`}, true},
		"a space at the end of a line": {"a \nb", []string{`a\x20`, "b"}, true},
		"NUL and DEL":                  {"\x00\x7f", []string{`\x00\x7f`}, true},
		"C1 controls":                  {"\u009b2J", []string{`\u009b2J`}, true},
		"bytes that are not UTF-8":     {"a\xff\u009b", []string{`a\xff\u009b`}, true},
		"a replacement character":      {"\ufffd", []string{`\ufffd`}, true},
		"a bidirectional override":     {"a\u202eb\u2066", []string{`a\u202eb\u2066`}, true},
		"zero-width characters":        {"a\u200bb\u200d\ufeff", []string{`a\u200bb\u200d\ufeff`}, true},
		"a space that is none":         {"a\u00a0b\u3000", []string{`a\u00a0b\u3000`}, true},
		"letters that show nothing":    {"a\u3164\u115f\uffa0\u2800", []string{`a\u3164\u115f\uffa0\u2800`}, true},
		"tags and selectors":           {"a\U000e0041\U000e0100\ufe0f", []string{`a\U000e0041\U000e0100\ufe0f`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			lines, escaped := printable.Script(tt.text)
			assert.Equal(t, tt.lines, lines)
			assert.Equal(t, tt.escaped, escaped)
		})
	}
}

func TestACommandIsEscapedAsAWhole(t *testing.T) {
	for name, tt := range map[string]struct{ text, shown string }{
		"plain":          {`echo "a\tb"`, `echo "a\tb"`},
		"lines and tabs": {"if x; then\n\ty\nfi", "if x; then\n\ty\nfi"},
		"letters":        {"echo 日本 ü", "echo 日本 ü"},
		"escape":         {"echo \x1b[2K '\\x1b'", `echo \x1b[2K '\\x1b'`},
		"bidi":           {"echo \u202e\"x\"\n#", "echo \\u202e\"x\"\n#"},
		"zero width":     {"ec\u200bho", `ec\u200bho`},
		"no text":        {"echo \xff", `echo \xff`},
		"return":         {"true\r\n", "true\\r\n"},
		"no-break space": {"echo\u00a0x", `echo\u00a0x`},
	} {
		t.Run(name, func(t *testing.T) {
			lines, escaped := printable.Script(tt.text, '\t')
			assert.Equal(t, tt.shown, strings.Join(lines, "\n"))
			assert.Equal(t, tt.text != tt.shown, escaped)
		})
	}
}

func TestALineStaysOne(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "agent/x": "agent/x", "two words": "two words", "a\nb": `"a\nb"`, " a": `" a"`, `say "x"`: `"say \"x\""`, "\u202e": `"\u202e"`,
	} {
		assert.Equal(t, want, printable.Quoted(text))
	}
}

// What is shown stands for one command only, and a terminal obeys none of it.
func FuzzScript(f *testing.F) {
	f.Add("echo one\n\x1b[2J\u202e\xff \\")
	f.Fuzz(func(t *testing.T, text string) {
		lines, escaped := printable.Script(text)
		for _, l := range append(lines, printable.Quoted(text)) {
			if strings.ContainsFunc(l, printable.Hidden) {
				t.Fatalf("%q is shown as %q", text, l)
			}
		}
		back := strings.Join(lines, "\n")
		if escaped {
			for i, l := range lines {
				plain, err := strconv.Unquote(`"` + strings.ReplaceAll(l, `"`, `\"`) + `"`)
				if err != nil {
					t.Fatalf("%q is shown as %q: %v", text, l, err)
				}
				lines[i] = plain
			}
			back = strings.Join(lines, "\n")
		}
		if back != text {
			t.Fatalf("%q is shown as %q", text, back)
		}
	})
}

package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// hostile are texts that a terminal would obey, or that show as something else.
var hostile = map[string]string{
	"erase and forge":          "x\x1b[2K\rweb9 | FORGED",
	"window title":             "\x1b]0;t\x07",
	"clipboard":                "\x1b]52;c;QUJD\x1b\\",
	"device control":           "\x1bP$q\x1b\\",
	"another character set":    "\x0e\x1b(0",
	"reset":                    "\x1bc",
	"C1 in UTF-8":              "a\u009b2Kb\u0085",
	"C1 alone":                 "a\x9b2Kb\x85",
	"line separators":          "a\u2028b\u2029",
	"the order of writing":     "\u202eab\u2066",
	"delete, bell, NUL":        "\x7f\a\x00",
	"lines":                    "a\nb\r\nc\vd\fe",
	"bytes that are not UTF-8": "\xff\xfe\xc2",
}

func TestNothingHostileIsLeft(t *testing.T) {
	obeyed := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			lines, _ := printable.Script(text)
			for how, shown := range map[string]string{
				"Text": strings.ToValidUTF8(printable.Text(text), "?"), "Line": printable.Line(text), "Cell": printable.Cell(text),
				"Heard": printable.Heard(text, 100), "Message": printable.Message(text), "Quoted": printable.Quoted(text),
				"Script": strings.Join(lines, "\n"),
			} {
				assert.False(t, strings.ContainsFunc(shown, obeyed), "%s: %q", how, shown)
				assert.True(t, utf8.ValidString(shown), "%s: %q", how, shown)
				if how != "Text" && how != "Script" {
					assert.NotContains(t, shown, "\n", how)
				}
			}
		})
	}
}

func TestTextsAreMadeFit(t *testing.T) {
	assert.Equal(t, "a^[[31m\n^Mb", printable.Text("a\x1b[31m\n\rb"), "no colours in messages")
	assert.Equal(t, "one; two", printable.Line("one\r\ntwo\n"))
	assert.Equal(t, "a b c", printable.Cell("a\tb\nc"))
	assert.Equal(t, "no such ? file", printable.Heard("  no such\n\x1b file ", 100))
	assert.Equal(t, "no s…", printable.Heard("no such file", 4))
	assert.Equal(t, `a\nb\x1bc`, printable.Message("a\nb\x1bc"))
}

func TestALongTextIsShortened(t *testing.T) {
	for text, want := range map[string]struct{ clip, fit string }{
		"":       {"", ""},
		"12345":  {"12345", "12345"},
		"123456": {"12345…", "12…"},
		"1234é6": {"1234…", "12…"},
		"1é3456": {"1é34…", "1…"},
	} {
		assert.Equal(t, want.clip, printable.Clip(text, 5), text)
		assert.Equal(t, want.fit, printable.Fit(text, 5), text)
	}
}

package screen_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestCleanLeavesWhatAReaderSees(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		removed    int
	}{
		"nothing":                       {},
		"plain lines":                   {text: "a\n\tb\n\nc", want: "a\n\tb\n\nc"},
		"other scripts":                 {text: "日本語 é e\u0301 🚀\n", want: "日本語 é e\u0301 🚀\n"},
		"DOS lines":                     {text: "a\r\nb\r\n", want: "a\nb\n", removed: 2},
		"other lines":                   {text: "a\vb\fc", want: "a\nb\nc", removed: 2},
		"colours":                       {text: "\x1b[1;31mred\x1b[0m", want: "red", removed: 2},
		"a title":                       {text: "\x1b]0;title\ax\x1b]2;t\x1b\\y", want: "xy", removed: 2},
		"a link":                        {text: "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", want: "text", removed: 2},
		"a progress bar":                {text: " 10%\r 50%\r100%\ndone\n", want: "100%\ndone\n", removed: 2},
		"a shorter overwrite":           {text: "12345\rab", want: "ab345", removed: 1},
		"an erased line":                {text: "12345\r\x1b[Kab", want: "ab", removed: 2},
		"a line erased whole":           {text: "12345\x1b[2K\rab", want: "ab", removed: 2},
		"overstrike":                    {text: "b\bbo\bol\bld", want: "bold", removed: 3},
		"backspace erases on overwrite": {text: "abd\bc\b\b", want: "abc", removed: 3},
		"column moves":                  {text: "a\x1b[5Gb\x1b[2Cc\x1b[3Dd", want: "a   bd c", removed: 3},
		"moves to other lines":          {text: "a\x1b[3;1Hb\x1b[Ac\x1b[H\x1b[2J", want: "a\nb\nc\n", removed: 4},
		"control characters":            {text: "a\x00\x07\x1c\x7fb", want: "ab", removed: 4},
		"eight-bit controls":            {text: "a\u009b31mb\u009d0;t\ac\u0085d", want: "abcd", removed: 3},
		"zero width":                    {text: "a\u200bb\u200dc\ufeffd\u2060", want: "abcd", removed: 4},
		"bidi":                          {text: "a\u202eb\u2066c\u200fd\u061c", want: "abcd", removed: 4},
		"tags":                          {text: "a\U000e0001\U000e0041\U000e007fb", want: "ab", removed: 3},
		"variation selectors":           {text: "a\ufe0f\U000e0100b", want: "ab", removed: 2},
		"not UTF-8":                     {text: "a\xff\xc3b", want: "a\ufffd\ufffdb"},
		"a string without an end":       {text: "a\x1b]0;all of\nthis stays", want: "a0;all of\nthis stays", removed: 1},
		"a string broken off":           {text: "a\x1b]0;stays\x1b[1mb", want: "a0;staysb", removed: 2},
		"device control":                {text: "a\x1bPq#0;1\nsix\x1b\\b", want: "ab", removed: 1},
		"a sequence at the end":         {text: "a\x1b[3", want: "a", removed: 1},
		"a lone escape":                 {text: "a\x1b", want: "a", removed: 1},
		"character sets":                {text: "\x1b(B\x1b)0a\x0f", want: "a", removed: 3},
		"a sequence broken off":         {text: "\x1b[3\nx", want: "\nx", removed: 1},
		"far to the right":              {text: "a\x1b[99999Cb", want: "a" + strings.Repeat(" ", 255) + "b", removed: 1},
		"many marks":                    {text: "a" + strings.Repeat("\u0301", 20), want: "a" + strings.Repeat("\u0301", 16), removed: 4},
		"a mark on nothing":             {text: "\u0301a", want: "a", removed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, removed := screen.Clean(c.text)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.removed, removed, "removed")
		})
	}
}

// Inputs made to be slow: each would take minutes if a piece of it were looked at again and again.
func TestCleanTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	size := 1 << 20
	if needs.Detector {
		size = 1 << 17
	}
	for _, unit := range []string{
		"\x1b]", "\u009d", "\x1b[", "\x1b[1", "\r\x1b[K", "\x1b[2Kx", "a\r", "\b", "\x1b[9999Cx", "\x1b[2K\x1b[9999Cx", "\u0301", "a\u0301", "\x1bP\n", "\x1b[K\x1b", "é\r",
	} {
		for _, before := range []string{"", strings.Repeat("x", size)} {
			got, _ := screen.Clean(before + strings.Repeat(unit, size/len(unit)))
			assert.LessOrEqual(t, len(got), 70<<20, "%q", unit)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\r\nb\x1b[Kc\x1b]0;x\a", "\u202e\x1b[5G\b\b日\u200b", "\x1b[2J\x1b[H\x1b", "\u009b1m\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, removed := screen.Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && unicode.IsControl(r) || r >= 0xe0000 && r < 0xe1000 || r == 0x200b || r >= 0x202a && r <= 0x202e {
				t.Errorf("%U is left in %q", r, got)
			}
		}
		if removed == 0 && utf8.ValidString(s) && got != s {
			t.Errorf("%q became %q, and nothing was removed", s, got)
		}
		if again, n := screen.Clean(got); again != got || n != 0 {
			t.Errorf("not clean after all: %q, %d", again, n)
		}
	})
}

package consent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatCannotBeSeenIsEscapedEverywhere(t *testing.T) {
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
			shown, escaped := show(tt.text)
			assert.Equal(t, tt.shown, shown)
			assert.Equal(t, tt.text != tt.shown, escaped)
		})
	}
}

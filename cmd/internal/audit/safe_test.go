package audit_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/audit"
)

func safe(t testing.TB, text string, piece int) string {
	t.Helper()
	var out bytes.Buffer
	w := audit.Safe(&out)
	for len(text) > 0 {
		n := min(piece, len(text))
		m, err := w.Write([]byte(text[:n]))
		require.NoError(t, err)
		require.Equal(t, n, m)
		text = text[n:]
	}
	return out.String()
}

func TestARecordingShowsAndDoesNothingElse(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"text", "héllo\r\n\tworld\b!", "héllo\r\n\tworld\b!"},
		{"colours and moves", "\x1b[1;31mred\x1b[0m\x1b[2J\x1b[5;7H\x1b[K", "\x1b[1;31mred\x1b[0m\x1b[2J\x1b[5;7H\x1b[K"},
		{"another screen, and back", "\x1b[?1049h\x1b[?25lx\x1b[?1049l", "\x1b[?1049h\x1b[?25lx\x1b[?1049l"},
		{"line drawing", "\x1b(0qq\x1b(B", "\x1b(0qq\x1b(B"},
		{"a title", "a\x1b]0;pwned\x07b\x1b]2;x\x1b\\c", "abc"},
		{"the clipboard", "a\x1b]52;c;aGk=\x07b", "ab"},
		{"a string of eight bits", "a\u009d52;c;aGk=\u009cb", "ab"},
		{"questions", "a\x1b[6n\x1b[c\x1b[>c\x1b[?1$p\x1b[18t\x1b[21t\x1bZ\x05b", "ab"},
		{"reports of mouse, focus and paste", "a\x1b[?1000h\x1b[?1006;1003h\x1b[?1004h\x1b[?2004h\x1b[?25;1000hb", "ab"},
		{"keyboard modes", "a\x1b[>1u\x1b[>4;2m\x1b=\x1b>b", "ab"},
		{"a device string", "a\x1bP+q544e\x1b\\b\x1b_Gx\x1b\\c", "abc"},
		{"a printer, and a reset", "a\x1b[5i\x1bcb", "ab"},
		{"a string that a new sequence ends", "a\x1b]0;x\x1b[31mb", "a\x1b[31mb"},
		{"a control sequence of eight bits", "a\u009b31mb\u009b6nc", "a\x1b[31mbc"},
		{"a newline inside a sequence", "\x1b[3\n1mx", "\n\x1b[31mx"},
		{"a sequence that is given up", "\x1b[3\x18x\x1b[3\x1b[1my", "x\x1b[1my"},
		{"a long sequence", "a\x1b[" + strings.Repeat("1;", 5000) + "mb", "ab"},
		{"a bell", "a\ab", "ab"},
		{"the end in a sequence", "a\x1b[3", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{len(tt.in), 1, 3} {
				assert.Equal(t, tt.want, safe(t, tt.in, piece), "in pieces of %d", piece)
			}
		})
	}
}

var allowed = regexp.MustCompile(`\A(?:[^\x00-\x1f\x7f-\x{9f}]|[\r\n\t\x08\x0e\x0f]|\x1b[78DEM]|\x1b[()][0AB]|\x1b\[[0-9:;]*[@A-MPSTXZ` + "`" + `abdefgmrsu]|\x1b\[4[hl]|\x1b\[\?[0-9;]*[hl])*\z`)

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b]0;pwned\x07b\x1b[6n\u009b6n\x1bP\x1b\\", 3)
	f.Add("\x1b[?1049h\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		whole := safe(t, text, max(len(text), 1))
		require.Regexp(t, allowed, whole)
		if piece > 0 {
			require.Equal(t, whole, safe(t, text, piece))
		}
	})
}

package mcpserver

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// shown is what a model sees of an output.
func shown(t testing.TB, text string, b output.Budget) (string, outputOut) {
	t.Helper()
	s := output.NewSpool(output.SpoolConfig{Memory: 1 << 20})
	defer s.Close()
	_, err := s.Write([]byte(text))
	require.NoError(t, err)
	s.Finish()
	v, err := b.Apply(s)
	require.NoError(t, err)
	view := registry.View{Stdout: v}
	view.Result.StdoutBytes = v.Total
	var o outputOut
	secrets := redact.New(redact.Config{})
	o.fill(&view, b, func(text string) (string, redact.Counts) { return secrets.String(text, redact.Guarded) })
	return o.Stdout, o
}

func TestWhereSomethingIsLeftOutIsSaidInTheText(t *testing.T) {
	text := strings.Repeat("line\n", 100)
	for name, tt := range map[string]struct {
		budget output.Budget
		want   string
	}{
		"in the middle":  {output.Budget{Head: 1, Tail: 1}, "line\n[… 490 bytes omitted, from offset 5 …]\nline\n"},
		"at the end":     {output.Budget{Head: 1}, "line\n[… 495 bytes omitted, from offset 5 …]\n"},
		"at the start":   {output.Budget{Tail: 1}, "[… 495 bytes omitted, from offset 0 …]\nline\n"},
		"nowhere":        {output.Budget{}, text},
		"between groups": {output.Budget{Grep: "nothing"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, o := shown(t, text, tt.budget)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, got != text, o.Omitted["stdout"] > 0)
		})
	}
}

// Whatever a host prints, a model sees text: nothing that acts on a terminal, and nothing hidden.
func FuzzShownText(f *testing.F) {
	f.Add("a\x1b[31mb\x1b[0m\r\nc\u200b\xff", 3, 1)
	f.Add(strings.Repeat("é\n", 50), 7, 0)
	f.Fuzz(func(t *testing.T, text string, most, head int) {
		got, _ := shown(t, text, output.Budget{MaxBytes: 1 + most&0xff, Head: head & 7})
		if !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0xad && r < 0x600) {
				t.Fatalf("%U in %q", r, got)
			}
		}
	})
}

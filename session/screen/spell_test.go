package screen_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

func TestSpellShowsWhatNobodySees(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"a\tb\nc é 日":                 "a\tb\nc é 日",
		"a\r\nb\x1b[1mc\x00\b\x7f":    "a␍\nb␛[1mc␀␈␡",
		"a\u200bb\u202ec\u0085\ufeff": "a<U+200B>b<U+202E>c<U+0085><U+FEFF>",
		"a\U000e0041":                 "a<U+E0041>",
		"a\xffb":                      "a\ufffdb",
		"a\xffb\x01":                  "a\ufffdb␁",
	} {
		got := screen.Spell(text)
		assert.Equal(t, want, got, "%q", text)
		again, removed := screen.Clean(got)
		assert.Equal(t, got, again)
		assert.Zero(t, removed)
	}
}

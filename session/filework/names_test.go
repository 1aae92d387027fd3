package filework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/filework"
)

func TestNamesComeBackAsTheyWere(t *testing.T) {
	all := []files.Name{
		{Name: " b\\n\nc ", Kind: files.Directory, Mode: 0o750},
		{Name: "a", Kind: files.Regular, Size: 3, Mode: 0o644, Changed: time.Unix(1700000000, 0).UTC()},
		{Name: "secret=\xff", Kind: files.Link, Size: 1},
	}
	text := filework.FormatNames(all)
	got, n := filework.ParseNames(text)
	assert.Equal(t, all, got)
	assert.Equal(t, len(text), n)
	got, n = filework.ParseNames(text[:len(text)-1])
	assert.Equal(t, all[:2], got, "a page ends anywhere")
	rest, m := filework.ParseNames(text[n:])
	assert.Equal(t, all[2:], rest)
	assert.Equal(t, len(text), n+m)
}

func FuzzParseNames(f *testing.F) {
	f.Add([]byte("file 0644 3 1700000000 a\ndirectory 0755 0 - b\\nc\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, n := filework.ParseNames(text)
		if n > len(text) {
			t.Fatal("more than there was")
		}
		again, _ := filework.ParseNames(filework.FormatNames(all))
		assert.ElementsMatch(t, all, again)
	})
}

func TestModesAreReadAndWrittenInOctal(t *testing.T) {
	for _, text := range []string{"0644", "4755", "1777", "0000"} {
		m, err := filework.ParseMode(text)
		if assert.NoError(t, err) {
			assert.Equal(t, text, filework.FormatMode(*m))
		}
	}
	for _, text := range []string{"rw", "8", "10000", "-1"} {
		_, err := filework.ParseMode(text)
		assert.Error(t, err, text)
	}
}

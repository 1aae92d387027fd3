package dialer

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForksAreCappedByOpenFiles(t *testing.T) {
	for _, tt := range []struct {
		want   int
		files  uint64
		forks  int
		capped bool
	}{
		{32, 1024, 32, false},
		{500, 1024, 160, true},
		{160, 1024, 160, false},
		{10, 40, 1, true},
		{1, 0, 1, false},
		{5000, 1 << 63, 5000, false},
	} {
		forks, capped := capForks(tt.want, tt.files)
		assert.Equal(t, tt.forks, forks, "%d of %d files", tt.want, tt.files)
		assert.Equal(t, tt.capped, capped)
	}
	forks, _ := CapForks(1)
	assert.Equal(t, 1, forks)
}

func TestASecretIsReadWithTheKeysThatEditALine(t *testing.T) {
	for name, tt := range map[string]struct{ typed, want string }{
		"return":                 {"secret\r", "secret"},
		"newline":                {"secret\n", "secret"},
		"nothing":                {"\r", ""},
		"backspace":              {"secrex\x7ft\r", "secret"},
		"backspace over umlaut":  {"größ\x7f\x7fün\r", "grün"},
		"backspace at the start": {"\x7f\x7fa\r", "a"},
		"start anew":             {"wrong\x15right\r", "right"},
		"spaces and controls":    {" a\tb \r", " a\tb "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(iotest.OneByteReader(strings.NewReader(tt.typed)))
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
	for name, typed := range map[string]io.Reader{
		"^C":       strings.NewReader("abc\x03"),
		"^D":       strings.NewReader("\x04"),
		"hangup":   strings.NewReader("abc"),
		"too long": strings.NewReader(strings.Repeat("x", maxSecret+1) + "\r"),
		"timeout":  iotest.ErrReader(os.ErrDeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(typed)
			assert.Error(t, err)
			assert.Empty(t, got)
		})
	}
}

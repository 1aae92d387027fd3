package question

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPassphraseIsAskedForWithoutEcho(t *testing.T) {
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer tty.Close()
	type answer struct {
		secret []byte
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		secret, err := readAt(t.Context(), tty, "Passphrase for k: ", false)
		got <- answer{secret, err}
	}()
	r := bufio.NewReader(master)
	prompt, err := r.ReadString(':')
	require.NoError(t, err)
	assert.Equal(t, "Passphrase for k:", prompt)
	_, err = master.WriteString("hush\r")
	require.NoError(t, err)
	a := <-got
	require.NoError(t, a.err)
	assert.Equal(t, "hush", string(a.secret))
	rest, err := r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, " ", strings.TrimRight(rest, "\r\n"), "nothing was echoed")
}

func TestAQuestionEndsWhenNobodyWaitsForTheAnswer(t *testing.T) {
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer tty.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	got := make(chan error, 1)
	if tty.SetReadDeadline(time.Time{}) != nil {
		t.Skip("this system cannot poll terminals")
	}
	go func() {
		_, err := readAt(ctx, tty, "Passphrase for k: ", false)
		got <- err
	}()
	_, err = bufio.NewReader(master).ReadString(':')
	require.NoError(t, err)
	gone := errors.New("gone")
	cancel(gone)
	assert.ErrorIs(t, <-got, gone)
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
			got, err := readLine(iotest.OneByteReader(strings.NewReader(tt.typed)), io.Discard)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
	for name, typed := range map[string]io.Reader{
		"^C":       strings.NewReader("abc\x03"),
		"^D":       strings.NewReader("\x04"),
		"hangup":   strings.NewReader("abc"),
		"too long": strings.NewReader(strings.Repeat("x", maxTyped+1) + "\r"),
		"timeout":  iotest.ErrReader(os.ErrDeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readLine(typed, io.Discard)
			assert.Error(t, err)
			assert.Empty(t, got)
		})
	}
}

package dialer

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
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
		secret, err := ask(t.Context(), tty, "Passphrase for k: ")
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
		_, err := ask(ctx, tty, "Passphrase for k: ")
		got <- err
	}()
	_, err = bufio.NewReader(master).ReadString(':')
	require.NoError(t, err)
	gone := errors.New("gone")
	cancel(gone)
	assert.ErrorIs(t, <-got, gone)
}

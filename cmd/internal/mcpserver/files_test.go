package mcpserver_test

import (
	"bufio"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fifo makes a FIFO, for a command to wait at or to tell through how far it is.
func fifo(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	return name
}

// open writes to a FIFO once somebody reads it.
func open(t testing.TB, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.WriteString(text)
	require.NoError(t, err)
}

// read returns a line that somebody writes to a FIFO.
func read(t testing.TB, name string) string {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.SetReadDeadline(time.Now().Add(time.Minute)))
	line, err := bufio.NewReader(f).ReadString('\n')
	require.NoError(t, err)
	return line
}

package iostreams_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestOutputThatNobodyTakesHoldsUpNoEnd(t *testing.T) { synctest.Test(t, outputThatNobodyTakes) }

func outputThatNobodyTakes(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	var said bytes.Buffer
	s := iostreams.New(nil, w, &said)
	ctx, end := context.WithCancel(t.Context())
	s.End(ctx, time.Second)

	wrote := make(chan error, 1)
	go func() { _, err := io.WriteString(s.Out, "one"); wrote <- err }()
	text := make([]byte, 3)
	_, err := io.ReadFull(r, text)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	assert.Equal(t, "one", string(text))

	go func() { _, err := io.WriteString(s.Out, "two"); wrote <- err }()
	_, err = io.ReadFull(r, text[:1])
	require.NoError(t, err, "the write has begun")
	end()
	require.ErrorContains(t, <-wrote, "a signal ends the program")
	_, err = io.WriteString(s.Out, "three")
	require.Error(t, err, "an error stays")
	require.Error(t, s.Out.Err())
	_, err = io.WriteString(s.Err, "why")
	require.NoError(t, err)
	assert.Equal(t, "why", said.String())
}

// Files take some of it at once, and the rest in a write that waits.
func TestWhatGoesToAFileArrivesWhole(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 64<<10)
	for name, open := range map[string]func(*testing.T) (w, r *os.File){
		"pipe": func(t *testing.T) (w, r *os.File) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			return w, r
		},
		"socket": func(t *testing.T) (w, r *os.File) {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			require.NoError(t, err)
			return os.NewFile(uintptr(fds[0]), "w"), os.NewFile(uintptr(fds[1]), "r")
		},
		"terminal": func(t *testing.T) (w, r *os.File) {
			r, w, err := pty.Open()
			require.NoError(t, err)
			_, err = term.MakeRaw(int(w.Fd()))
			require.NoError(t, err)
			return w, r
		},
		"regular": func(t *testing.T) (w, r *os.File) {
			w, err := os.Create(filepath.Join(t.TempDir(), "f"))
			require.NoError(t, err)
			r, err = os.Open(w.Name())
			require.NoError(t, err)
			_, err = w.Write(text)
			require.NoError(t, err)
			_, err = w.Seek(0, io.SeekStart)
			require.NoError(t, err)
			return w, r
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, r := open(t)
			defer func() { _, _ = w.Close(), r.Close() }()
			s := iostreams.New(nil, w, io.Discard)
			s.End(t.Context(), time.Minute)
			wrote := make(chan error, 1)
			go func() { _, err := s.Out.Write(text); wrote <- err }()
			got := make([]byte, len(text))
			_, err := io.ReadFull(r, got)
			require.NoError(t, err)
			require.NoError(t, <-wrote)
			assert.True(t, bytes.Equal(text, got))
		})
	}
}

// A pipe that is full is given up at the end, also where a part of the write went at once.
func TestAPipeThatIsFullHoldsUpNoEnd(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = w.Close(), r.Close() }()
	s := iostreams.New(nil, w, io.Discard)
	ctx, end := context.WithCancel(t.Context())
	end()
	s.End(ctx, 0)
	n, err := s.Out.Write(make([]byte, 1<<20))
	require.ErrorContains(t, err, "a signal ends the program")
	assert.Less(t, n, 1<<20)
}

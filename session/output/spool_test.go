package output_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// spool returns a finished spool that holds text.
func spool(t testing.TB, c output.SpoolConfig, text string) *output.Spool {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s := output.NewSpool(c)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	for len(text) > 0 {
		n := min(len(text), 1000)
		m, err := s.Write([]byte(text[:n]))
		require.NoError(t, err)
		require.Equal(t, n, m)
		text = text[n:]
	}
	s.Finish()
	return s
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	return append(names, hidden...)
}

func TestSmallOutputTouchesNoDisk(t *testing.T) {
	s := output.NewSpool(output.SpoolConfig{Dir: filepath.Join(t.TempDir(), "missing")})
	defer s.Close()
	_, err := s.Write(make([]byte, output.DefaultMemory))
	require.NoError(t, err)
	assert.NoError(t, s.Err())
	assert.EqualValues(t, output.DefaultMemory, s.Kept())

	_, err = s.Write([]byte("x"))
	require.NoError(t, err, "a disk that refuses fails nothing")
	assert.ErrorContains(t, s.Err(), "only the first 65536 and the last bytes are kept")
	assert.ErrorIs(t, s.Err(), os.ErrNotExist)
	assert.EqualValues(t, output.DefaultMemory, s.Kept())
	assert.EqualValues(t, output.DefaultMemory+1, s.Total())
}

func TestFileHasNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there it goes with the handle")
	}
	dir := t.TempDir()
	s := output.NewSpool(output.SpoolConfig{Dir: dir, Memory: 10})
	_, err := s.Write(make([]byte, 1000))
	require.NoError(t, err)
	require.NoError(t, s.Err())
	assert.Empty(t, files(t, dir))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	_, err = s.Write([]byte("x"))
	assert.ErrorIs(t, err, output.ErrClosed)
	_, err = s.ReadAt(make([]byte, 1), 0)
	assert.ErrorIs(t, err, output.ErrClosed)
	_, err = s.Page(0, 1)
	assert.ErrorIs(t, err, output.ErrClosed)
}

func TestReadAtGivesWhatWasWritten(t *testing.T) {
	want := make([]byte, 200_000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for name, c := range map[string]output.SpoolConfig{
		"in memory":                 {Memory: 1 << 20},
		"on disk":                   {Memory: 10},
		"on disk at once":           {Memory: -1},
		"the last bytes in the end": {Memory: 100_000, Limit: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := spool(t, c, string(want))
			got, err := io.ReadAll(io.NewSectionReader(s, 0, s.Total()))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, got))
			n, err := s.ReadAt(make([]byte, 10), s.Total()-3)
			assert.Equal(t, 3, n)
			assert.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestCapKeepsBothEndsAndCounts(t *testing.T) {
	s := spool(t, output.SpoolConfig{Memory: -1, Limit: 5000}, strings.Repeat("0123456789", 10_000))
	assert.EqualValues(t, 5000, s.Kept())
	assert.EqualValues(t, 100_000, s.Total())
	assert.NoError(t, s.Err(), "a cap is not a fault")

	_, err := s.ReadAt(make([]byte, 10), 4995)
	var gone *output.NotKeptError
	require.True(t, errors.As(err, &gone), "%v", err)
	assert.Equal(t, output.NotKeptError{From: 5000, To: 100_000 - 4096}, *gone)
	p := make([]byte, 4096)
	n, err := s.ReadAt(p, gone.To)
	require.NoError(t, err)
	assert.Equal(t, 4096, n)
	assert.True(t, strings.HasSuffix(string(p), "0123456789"))
}

func TestPagesOfAStreamStillWritten(t *testing.T) {
	s := output.NewSpool(output.SpoolConfig{})
	defer s.Close()
	_, err := s.Write([]byte("a\xc3"))
	require.NoError(t, err)
	p, err := s.Page(0, 100)
	require.NoError(t, err)
	assert.Equal(t, "a", string(p.Text), "half a character waits")
	assert.False(t, p.End)

	_, err = s.Write([]byte("\xa9"))
	require.NoError(t, err)
	p, err = s.Page(p.Next, 1)
	require.NoError(t, err)
	assert.Equal(t, "é", string(p.Text), "a character is never split")
	assert.False(t, p.End)
	s.Finish()
	p, err = s.Page(p.Next, 1)
	require.NoError(t, err)
	assert.Empty(t, p.Text)
	assert.True(t, p.End)
	_, err = s.Write([]byte("x"))
	assert.ErrorIs(t, err, output.ErrClosed)
}

func TestManyReadWhileOneWrites(t *testing.T) {
	s := output.NewSpool(output.SpoolConfig{Dir: t.TempDir(), Memory: 1 << 10, Limit: 300 << 10})
	defer s.Close()
	const total = 400 << 10
	at := func(i int64) byte { return 'a' + byte(i%23) }
	var wg sync.WaitGroup
	wg.Go(func() {
		defer s.Finish()
		for i := int64(0); i < total; {
			p := make([]byte, min(1+rand.Int64N(3000), total-i))
			for j := range p {
				p[j] = at(i + int64(j))
			}
			_, err := s.Write(p)
			assert.NoError(t, err)
			i += int64(len(p))
		}
	})
	for range 4 {
		wg.Go(func() {
			for off := int64(0); ; {
				p, err := s.Page(off, 4096)
				if !assert.NoError(t, err) {
					return
				}
				for i, c := range p.Text {
					if c != at(p.Offset+int64(i)) {
						t.Errorf("wrong byte at %d", p.Offset+int64(i))
						return
					}
				}
				if off = p.Next; p.End {
					return
				}
				_, err = output.Budget{Tail: 3, Grep: "a", MaxBytes: 100}.Apply(s)
				assert.NoError(t, err)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}

func TestCloseWhileOthersReadAndWrite(t *testing.T) {
	for range 50 {
		s := output.NewSpool(output.SpoolConfig{Dir: t.TempDir(), Memory: 100})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 20 {
				if _, err := s.Write(make([]byte, 90)); err != nil {
					assert.ErrorIs(t, err, output.ErrClosed)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				if _, err := s.Page(0, 1000); err != nil {
					assert.ErrorIs(t, err, output.ErrClosed)
				}
			}
		})
		assert.NoError(t, s.Close())
		wg.Wait()
	}
}

// 200 MB come in, and are looked at in every way, with the memory of a few.
func TestFloodLeavesMemoryFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("200 MB")
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	total := 200 << 20
	if needs.Detector {
		total = 20 << 20 // a hundred times slower
	}
	before := heap()
	s := output.NewSpool(output.SpoolConfig{Dir: t.TempDir(), Limit: int64(total) * 3 / 4})
	defer s.Close()
	chunk := bytes.Repeat([]byte("a line of the flood, and not a short one\n"), 800)
	chunk[len(chunk)-1] = '.' // long lines too
	for n := 0; n < total; n += len(chunk) {
		_, err := s.Write(chunk)
		require.NoError(t, err)
		if n/len(chunk)%1000 == 0 {
			assert.Less(t, heap(), before+8<<20)
		}
	}
	s.Finish()
	require.NoError(t, s.Err())
	assert.EqualValues(t, total*3/4, s.Kept())
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	for _, b := range []output.Budget{{}, {Head: 10, Tail: 10}, {Grep: "short"}, {Grep: "nothing", Context: 3}} {
		v, err := b.Apply(s)
		require.NoError(t, err)
		assert.Equal(t, v.Total, v.Shown+v.Omitted)
		assert.LessOrEqual(t, v.Shown, int64(output.DefaultMaxBytes))
	}
	runtime.ReadMemStats(&end)
	assert.Less(t, end.HeapSys, start.HeapSys+64<<20, "no view takes the whole")
	assert.Less(t, heap(), before+8<<20)
}

// A line without an end is no reason to hold it.
func TestOneLineOfManyMegabytes(t *testing.T) {
	s := spool(t, output.SpoolConfig{}, strings.Repeat("é", 8<<20)+"needle\nneedle\n")
	for _, b := range []output.Budget{{Grep: "needle"}, {Grep: "é$"}, {Head: 1}, {Tail: 2}} {
		v, err := b.Apply(s)
		require.NoError(t, err)
		assert.Equal(t, v.Total, v.Shown+v.Omitted)
		assert.LessOrEqual(t, len(v.Text), output.DefaultMaxBytes+1)
		assert.False(t, v.Binary, "%+v", b)
	}
	v, err := output.Budget{Grep: "needle"}.Apply(s)
	require.NoError(t, err)
	assert.Equal(t, "needle\n", string(v.Text), "what is past the bound of a line is not searched")
}

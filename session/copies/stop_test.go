package copies_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// halting gives the beginning of a stream, calls then, and gives no more until it is closed.
type halting struct {
	r     io.Reader
	then  func()
	once  sync.Once
	ended chan struct{}
}

func (h *halting) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if err == nil {
		return n, nil
	}
	h.then()
	<-h.ended
	return 0, errors.New("closed")
}

func (h *halting) Close() error {
	h.once.Do(func() { close(h.ended) })
	return nil
}

// A copy that is stopped in the middle of a file leaves neither a part of it nor a temporary file.
func TestACopyThatIsStoppedLeavesNothing(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "a"), []byte("small"), 0o644)
		write(t, filepath.Join(src, "b"), bytes.Repeat([]byte("large"), 1<<20), 0o644)
		write(t, filepath.Join(dir, "src/b"), []byte("old"), 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		for _, at := range []int64{1, 100, 300 << 10, 4 << 20} {
			ctx, cancel := context.WithCancel(t.Context())
			c := &copies.Copy{
				Plan: copies.Plan{Op: copies.Upload, Path: dir, Entries: local.Entries},
				Source: func(hosts.Host) io.Reader {
					return &halting{r: io.LimitReader(local.Reader(), at), then: cancel, ended: make(chan struct{})}
				},
			}
			cmd, err := c.Command()
			require.NoError(t, err)
			for _, r := range s.pool.Each(ctx, []hosts.Host{s.host}, cmd) {
				assert.Equal(t, session.StatusCanceled, r.Status, "%d: %v", at, r.Err)
				require.ErrorIs(t, r.Err, context.Canceled)
				assert.ErrorContains(t, r.Err, "no other file has changed", "src/a may be there")
			}
			cancel()
			assert.Equal(t, "old", read(t, filepath.Join(dir, "src/b")))
			noLeftovers(t, dir)
		}
	})
}

// What a program's own stream says of itself is in the error.
func TestTheErrorOfAStreamIsTold(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		mine := errors.New("the disk is gone")
		write(t, filepath.Join(dir, "here"), []byte("content"), 0o644)
		up := copies.Plan{Op: copies.Upload, Path: filepath.Join(dir, "new"), Entries: []copies.Entry{{Name: "f", Mode: 0o644, Size: 9}}}
		for _, c := range []*copies.Copy{
			{Plan: up, Source: func(hosts.Host) io.Reader { return iotest.ErrReader(mine) }},
			{Plan: copies.Plan{Op: copies.Download, Path: filepath.Join(dir, "here")}, Sink: func(hosts.Host) io.Writer { return brokenSink{mine} }},
		} {
			cmd, err := c.Command()
			require.NoError(t, err)
			_, err = s.pool.Run(t.Context(), s.host, cmd)
			assert.ErrorIs(t, err, mine, c.Plan.Op)
			assert.ErrorContains(t, err, mine.Error())
		}
	})
}

type brokenSink struct{ err error }

func (b brokenSink) Write([]byte) (int, error) { return 0, b.err }

// What has come of a large file stays where that is asked for, and is continued; what is not its beginning is not.
func TestAnInterruptedCopyIsContinued(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		content := make([]byte, 48<<20)
		_, _ = rand.NewChaCha8([32]byte{3}).Read(content)
		write(t, src, content, 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		plan := copies.Plan{Op: copies.Upload, Path: dir + "/to", Entries: local.Entries, Resume: true}
		interrupt := func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd, err := (&copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader {
				return &halting{r: io.LimitReader(local.Reader(), 44<<20), then: cancel, ended: make(chan struct{})}
			}}).Command()
			require.NoError(t, err)
			for _, r := range s.pool.Each(ctx, []hosts.Host{s.host}, cmd) {
				assert.Equal(t, session.StatusCanceled, r.Status)
			}
			assert.NoFileExists(t, dir+"/to")
		}
		partial := func() string {
			names, err := filepath.Glob(dir + "/.fairlead-*")
			require.NoError(t, err)
			require.Len(t, names, 1)
			return names[0]
		}
		again := func() error {
			res, _ := s.run(&copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return local.Reader() }})
			return errOf(res)
		}
		interrupt()
		st, err := os.Stat(partial())
		require.NoError(t, err)
		assert.Greater(t, st.Size(), int64(32<<20))
		require.NoError(t, again())
		assert.Equal(t, hash(content), hash([]byte(read(t, dir+"/to"))))
		noLeftovers(t, dir)

		require.NoError(t, os.Remove(dir+"/to"))
		interrupt()
		f, err := os.OpenFile(partial(), os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("something else"), 100)
		require.NoError(t, errors.Join(err, f.Close()))
		require.Error(t, again())
		assert.NoFileExists(t, dir+"/to")
		noLeftovers(t, dir)
		require.NoError(t, again())
		assert.Equal(t, hash(content), hash([]byte(read(t, dir+"/to"))))
	})
}

// A stream that ends early, or lies about what it holds, gives no file.
func TestABrokenStreamGivesNoFile(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, src, bytes.Repeat([]byte("x"), 1<<20), 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		whole, err := io.ReadAll(local.Reader())
		require.NoError(t, err)
		flipped := bytes.Clone(whole)
		flipped[len(whole)/2] ^= 1
		longer := append([]byte{'D', 0, 0, 0, 1, 'x'}, whole...)
		for name, stream := range map[string][]byte{"short": whole[:len(whole)-1], "half": whole[:len(whole)/2], "none": nil, "flipped": flipped, "longer": longer, "noise": []byte("0123456789")} {
			c := &copies.Copy{
				Plan:   copies.Plan{Op: copies.Upload, Path: dir + "/to", Entries: local.Entries},
				Source: func(hosts.Host) io.Reader { return bytes.NewReader(stream) },
			}
			res, _ := s.run(c)
			assert.Error(t, errOf(res), name)
			assert.NoFileExists(t, dir+"/to", name)
			noLeftovers(t, dir)
		}
	})
}

// What a host sends cannot leave the directory that it is for.
func TestAHostCannotWriteElsewhere(t *testing.T) {
	for _, name := range []string{"../out", "/etc/out", "a/../../out", "..", ".", "", "a//b", "link/out"} {
		dir := tempDir(t)
		inside := filepath.Join(dir, "in")
		write(t, filepath.Join(inside, "there"), nil, 0o644)
		require.NoError(t, symlink(dir, filepath.Join(inside, "link")))
		text := []byte(`{"name":"` + name + `","mode":420}`)
		stream := append([]byte{'E', 0, 0, 0, byte(len(text))}, text...)
		stream = append(stream, 'D', 0, 0, 0, 1, 'x')
		tree := copies.Tree{Dir: inside}
		assert.Error(t, tree.Receive(t.Context(), bytes.NewReader(stream)), name)
		assert.NoFileExists(t, filepath.Join(dir, "out"), name)
		noLeftovers(t, dir)
	}
}

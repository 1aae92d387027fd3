package copies_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// readSoFar is how many bytes this process has read, whatever from.
func readSoFar(t *testing.T) (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	require.NoError(t, err)
	_, err = fmt.Sscanf(string(text[strings.Index(string(text), "rchar:"):]), "rchar: %d", &n)
	require.NoError(t, err)
	return n
}

// Thirty hosts get the same content, and the disk gives it once.
func TestTheSourceIsReadOnceForManyHosts(t *testing.T) {
	const size, many = 16 << 20, 30
	src := filepath.Join(t.TempDir(), "src")
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(content)
	write(t, src, content, 0o600)
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	before := readSoFar(t)
	sums := make([][sha256.Size]byte, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			r, h := local.Reader(), sha256.New()
			defer r.Close()
			_, err := io.Copy(h, r)
			assert.NoError(t, err)
			sums[i] = [sha256.Size]byte(h.Sum(nil))
		})
	}
	wg.Wait()
	for _, sum := range sums {
		assert.Equal(t, sums[0], sum, "each has the same stream")
	}
	read := readSoFar(t) - before
	assert.GreaterOrEqual(t, read, int64(size))
	assert.Less(t, read, int64(size+size/2))
}

// A host that does not keep pace has blocks read again: where they are not what the others have, it gets no file.
func TestASourceThatChangesForASlowHostIsSeen(t *testing.T) {
	s, dir := sshd(t), tempDir(t)
	src := filepath.Join(tempDir(t), "src")
	content := make([]byte, 48<<20) // more than is kept
	_, _ = rand.NewChaCha8([32]byte{4}).Read(content)
	write(t, src, content, 0o600)
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	fast := local.Reader()
	_, err = io.Copy(io.Discard, fast)
	require.NoError(t, err)
	require.NoError(t, fast.Close())
	content[100] ^= 1
	write(t, src, content, 0o600)
	plan := copies.Plan{Op: copies.Upload, Path: filepath.Join(dir, "to"), Entries: local.Entries}
	res, reports := s.run(&copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return local.Reader() }})
	require.Error(t, errOf(res))
	require.NotEmpty(t, reports)
	assert.Equal(t, "the source changed while it was read", reports[0].Why)
	assert.NoFileExists(t, filepath.Join(dir, "to"))
	noLeftovers(t, dir)
}

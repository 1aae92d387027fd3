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
	const size, hosts = 16 << 20, 30
	src := filepath.Join(t.TempDir(), "src")
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(content)
	write(t, src, content, 0o600)
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	before := readSoFar(t)
	sums := make([][sha256.Size]byte, hosts)
	var wg sync.WaitGroup
	for i := range hosts {
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

package knownhosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

func TestAppendRecordsAKeyThatIsKnownAfterwards(t *testing.T) {
	k := testKeys()
	for name, o := range map[string]knownhosts.AppendOptions{"clear": {}, "hashed": {Hash: true}} {
		t.Run(name, func(t *testing.T) {
			f := filepath.Join(t.TempDir(), "new", "known_hosts")
			q := knownhosts.Query{Host: "Web", Port: 2222}
			cert := certificate(t, k.ec, k.ca, nil, "web")
			require.NoError(t, knownhosts.Append(f, knownhosts.Name("Web", 2222), cert, o))
			require.NoError(t, knownhosts.Append(f, knownhosts.Name("Web", 2222), k.ec.PublicKey(), o), "again: no second line")
			db, err := knownhosts.Open(f)
			require.NoError(t, err)
			assert.NoError(t, db.Check(q, k.ec.PublicKey()))
			assert.Empty(t, db.Warnings())

			data, err := os.ReadFile(f)
			require.NoError(t, err)
			assert.Equal(t, 1, strings.Count(string(data), "\n"))
			assert.Equal(t, !o.Hash, strings.Contains(string(data), "web"))
			info, err := os.Stat(f)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			info, err = os.Stat(filepath.Dir(f))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		})
	}
}

func TestAppendEndsAnUnfinishedLastLineFirst(t *testing.T) {
	k := testKeys()
	f := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(f, []byte("a "+line(k.ed.PublicKey())), 0o644))
	require.NoError(t, knownhosts.Append(f, "b", k.ec.PublicKey(), knownhosts.AppendOptions{}))
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "a"}, k.ed.PublicKey()))
	assert.NoError(t, db.Check(knownhosts.Query{Host: "b"}, k.ec.PublicKey()))
}

func TestConcurrentAppendsLoseNothing(t *testing.T) {
	k := testKeys()
	f := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(f, []byte("# no end of line"), 0o600))
	const n = 40
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			assert.NoError(t, knownhosts.Append(f, fmt.Sprintf("h%d", i/2), k.rsa.PublicKey(), knownhosts.AppendOptions{Hash: i%4 < 2}))
		})
	}
	wg.Wait()
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	assert.Empty(t, db.Warnings())
	for i := range n / 2 {
		assert.NoError(t, db.Check(knownhosts.Query{Host: fmt.Sprintf("h%d", i)}, k.rsa.PublicKey()))
	}
	data, err := os.ReadFile(f)
	require.NoError(t, err)
	assert.Equal(t, n/2+1, strings.Count(string(data), "\n"), "each host once, whoever came first")
}

func TestAppendRefusesNamesThatWouldReadBackDifferently(t *testing.T) {
	f := filepath.Join(t.TempDir(), "known_hosts")
	for _, name := range []string{"", "a b", "a,b", "*", "web?", "!web", "|1|x", "#x", "@revoked", "a\nb", "a\tb", "\x7f", " a", "a\x7f", "\x01", "\x00"} {
		assert.Error(t, knownhosts.Append(f, name, testKeys().ed.PublicKey(), knownhosts.AppendOptions{}), name)
	}
	assert.NoFileExists(t, f)
}

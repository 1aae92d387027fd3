package knownhosts_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// fleet returns a file with a line for each of n hosts, whose names are hashed, and the key.
func fleet(t *testing.T, n int) (*knownhosts.DB, ssh.PublicKey) {
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewPublicKey(pub)
	require.NoError(t, err)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %s\n%s ssh-unknown AAAA\n", knownhosts.HashName(fmt.Sprintf("web%d", i)), line, knownhosts.HashName(fmt.Sprintf("web%d", i)))
	}
	file := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	db, err := knownhosts.Open(file)
	require.NoError(t, err)
	return db, key
}

// A name has to be hashed with the salt of each line, once, and not again for each question about it.
func TestAHashedNameIsHashedOncePerLine(t *testing.T) {
	const n = 1000
	db, key := fleet(t, n)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range n {
				q := knownhosts.Query{Host: fmt.Sprintf("web%d", i)}
				assert.NotEmpty(t, db.Algorithms(q))
				assert.NoError(t, db.Check(q, key))
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, knownhosts.Hashed(db), int64(n*(n+1)/2), "lines whose name is known need no more hashes")
	was := knownhosts.Hashed(db)
	assert.GreaterOrEqual(t, was, int64(n), "each at least once")
	for i := range n {
		assert.NoError(t, db.Check(knownhosts.Query{Host: fmt.Sprintf("web%d", i)}, key))
	}
	assert.Equal(t, was, knownhosts.Hashed(db))

	var unknown *knownhosts.UnknownError
	q := knownhosts.Query{Host: "other", Port: 2222}
	require.ErrorAs(t, db.Check(q, key), &unknown)
	first := knownhosts.Hashed(db) - was
	require.ErrorAs(t, db.Check(q, key), &unknown)
	assert.Equal(t, first, knownhosts.Hashed(db)-was)
}

func TestLinesOfAllKindsAreFoundInOrder(t *testing.T) {
	_, key := fleet(t, 0)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	file := filepath.Join(t.TempDir(), "known_hosts")
	text := "@revoked *,!web1 " + line + "\nweb1,web1 " + line + "\n" + knownhosts.HashName("web2") + " " + line + "\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	db, err := knownhosts.Open(file)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "WEB1"}, key))
	for range 2 {
		var revoked *knownhosts.RevokedError
		require.ErrorAs(t, db.Check(knownhosts.Query{Host: "web2"}, key), &revoked)
		assert.Equal(t, 1, revoked.Known.Line)
	}
}

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

const someKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMBKWG5Dd0BoNGTdMFvGqB9p5pzIrjTEM7LvxPjRzv2p"

func TestANameIsRemovedAndNothingElse(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		removed       int
		err           string
	}{
		"alone":               {"web1 K\n", "", 1, ""},
		"upper case":          {"WEB1 K\n", "", 1, ""},
		"several keys":        {"web1 K\nweb2 K\nweb1 K\n", "web2 K\n", 2, ""},
		"among others":        {"web0,web1,10.0.0.1 K\n", "web0,10.0.0.1 K\n", 1, ""},
		"with a negation":     {"!x,web1 K\n", "", 1, ""},
		"another port":        {"[web1]:2222 K\n", "[web1]:2222 K\n", 0, ""},
		"a pattern":           {"web* K\nweb1 K\n", "web* K\n", 1, "f:1 has a key for a pattern that covers web1: edit the line yourself"},
		"a name and pattern":  {"web1,web* K\n", "web* K\n", 1, "f:1 has a key for a pattern"},
		"an authority":        {"@cert-authority web1 K\n@revoked web1 K\n", "@cert-authority web1 K\n@revoked web1 K\n", 0, ""},
		"comments, no end":    {"# web1\n\nweb1 K\n junk\nx K", "# web1\n\n junk\nx K", 1, ""},
		"broken key":          {"web1 ssh-new AAAA\n", "", 1, ""},
		"nothing":             {"", "", 0, ""},
		"carriage returns":    {"web1 K\r\nweb2 K\r\n", "web2 K\r\n", 1, ""},
		"not this one at all": {"!web1,web* K\n", "!web1,web* K\n", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(tt.before, "K", someKey)), 0o640))
			n, err := knownhosts.Remove(file, "web1")
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.err)
			}
			assert.Equal(t, tt.removed, n)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, strings.ReplaceAll(tt.after, "K", someKey), string(text))
			st, err := os.Stat(file)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o640), st.Mode().Perm())
		})
	}
	n, err := knownhosts.Remove(filepath.Join(t.TempDir(), "none"), "web1")
	assert.NoError(t, err)
	assert.Zero(t, n)
	_, err = knownhosts.Remove("f", "web*")
	assert.Error(t, err)
}

func TestAHashedNameIsRemovedThroughALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(file, link))
	for _, name := range []string{"web1", "web2"} {
		require.NoError(t, knownhosts.Append(file, name, testKeys().ec.PublicKey(), knownhosts.AppendOptions{Hash: true}))
	}
	n, err := knownhosts.Remove(link, "WEB1")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	_, err = os.Readlink(link)
	assert.NoError(t, err, "the link is still one")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), "\n"))
}

// Whoever records and removes at the same time loses nothing of the other's.
func TestRemovingAndRecordingDoNotLoseEachOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	key := testKeys().ec.PublicKey()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			assert.NoError(t, knownhosts.Append(file, fmt.Sprintf("keep%d", i), key, knownhosts.AppendOptions{}))
		})
		wg.Go(func() {
			name := fmt.Sprintf("go%d", i)
			assert.NoError(t, knownhosts.Append(file, name, key, knownhosts.AppendOptions{}))
			n, err := knownhosts.Remove(file, name)
			assert.NoError(t, err)
			assert.Equal(t, 1, n)
		})
	}
	wg.Wait()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 20, strings.Count(string(text), "keep"))
	assert.NotContains(t, "\n"+string(text), "\ngo") // a key may hold the letters
}

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
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

func publicKey(t *testing.T) ssh.PublicKey {
	t.Helper()
	k, err := sshserver.NewKey()
	require.NoError(t, err)
	return k.PublicKey()
}

func written(name string, key ssh.PublicKey) string {
	return name + " " + string(ssh.MarshalAuthorizedKey(key))
}

func TestRotateKeepsEverythingElse(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	kept, old, fresh, other := publicKey(t), publicKey(t), publicKey(t), publicKey(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real"), []byte("# mine\r\nweb1 junk\n"+written("web2", other)+written("WEB1", kept)+"@revoked "+written("web1", other)), 0o640))
	require.NoError(t, os.Symlink("real", first))
	require.NoError(t, os.WriteFile(second, []byte(written("web1", old)+written("[web1]:22", old)), 0o600))
	plan, err := knownhosts.PlanRotation([]string{first, second}, nil, "web1", []ssh.PublicKey{kept, fresh})
	require.NoError(t, err)
	assert.Contains(t, plan.Not, ":5 has a marker")
	require.Len(t, plan.New, 1)
	require.Len(t, plan.Old, 1)
	assert.Equal(t, second, plan.Old[0].File)

	require.NoError(t, knownhosts.Rotate([]string{first, second, filepath.Join(dir, "none")}, "web1", []ssh.PublicKey{kept, fresh}, knownhosts.AppendOptions{}))
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	assert.Equal(t, "# mine\r\nweb1 junk\n"+written("web2", other)+written("WEB1", kept)+"@revoked "+written("web1", other)+written("web1", fresh), string(text))
	st, err := os.Lstat(first)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeSymlink, "the link stays")
	st, err = os.Stat(first)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), st.Mode().Perm())
	text, err = os.ReadFile(second)
	require.NoError(t, err)
	assert.Equal(t, written("[web1]:22", old), string(text))
	assert.NoFileExists(t, filepath.Join(dir, "none"))

	before, err := os.Stat(first)
	require.NoError(t, err)
	require.NoError(t, knownhosts.Rotate([]string{first}, "web1", []ssh.PublicKey{kept, fresh}, knownhosts.AppendOptions{}))
	after, err := os.Stat(first)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "what need not change is not touched")
	assert.Error(t, knownhosts.Rotate([]string{first}, "web1,web2", []ssh.PublicKey{kept}, knownhosts.AppendOptions{}))
}

// As OpenSSH has it: what speaks of more than the host, or of its keys elsewhere, is for a person to change.
func TestRotationStaysAwayFromLinesThatSpeakOfOthers(t *testing.T) {
	kept, old, fresh := publicKey(t), publicKey(t), publicKey(t)
	for name, tt := range map[string]struct {
		lines, others string
		not           string
		old, fresh    int
	}{
		"the host alone":                  {lines: written("web1", kept) + written("web1", old), old: 1, fresh: 1},
		"the host and its address":        {lines: written("web1,10.0.0.1", kept) + written("web1,10.0.0.1", old), old: 1, fresh: 1},
		"two other names":                 {lines: written("web1,web2,web3", old), not: ":1 is about other hosts, too", fresh: 2},
		"a pattern":                       {lines: written("web?", old), not: ":1 is about other hosts, too", fresh: 2},
		"a name that is left out":         {lines: written("web1,!web2", old), not: ":1 is about other hosts, too", fresh: 2},
		"an authority":                    {lines: "@cert-authority " + written("web1", old), not: ":1 has a marker", fresh: 2},
		"a key that stays, elsewhere":     {lines: written("web1", kept) + written("web2", kept), not: ":2 has a key of the host for another name", fresh: 1},
		"a key that is new, elsewhere":    {lines: written("web2", fresh), not: ":1 has a key of the host for another name", fresh: 2},
		"a key that goes, elsewhere":      {lines: written("web1", old) + written("web2", old), not: ":2 has a key of the host for another name", old: 1, fresh: 2},
		"a key of a file that is not his": {lines: written("web2", old), others: written("web1", old), fresh: 2},
		"the first reason":                {lines: written("web*", old) + written("web2", kept), not: ":1 is about other hosts, too", fresh: 2},
	} {
		file, other := filepath.Join(t.TempDir(), "known_hosts"), filepath.Join(t.TempDir(), "others")
		require.NoError(t, os.WriteFile(file, []byte(tt.lines), 0o600))
		require.NoError(t, os.WriteFile(other, []byte(tt.others), 0o600))
		plan, err := knownhosts.PlanRotation([]string{file}, []string{other}, "web1", []ssh.PublicKey{kept, fresh, kept, fresh})
		require.NoError(t, err)
		if tt.not != "" {
			tt.not = file + tt.not
		}
		assert.Equal(t, tt.not, plan.Not, name)
		assert.Len(t, plan.Old, tt.old, name)
		assert.Len(t, plan.New, tt.fresh, "%s: each key once", name)
	}
}

// Others record keys meanwhile.
func TestRotateLosesNoLineOfOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known_hosts")
	old := publicKey(t)
	require.NoError(t, os.WriteFile(file, []byte(written("web0", old)), 0o600))
	var wg sync.WaitGroup
	for i := range 20 {
		key := publicKey(t)
		wg.Go(func() {
			assert.NoError(t, knownhosts.Append(file, fmt.Sprintf("web%d", i+1), key, knownhosts.AppendOptions{Hash: i%2 == 0}))
		})
		wg.Go(func() {
			assert.NoError(t, knownhosts.Rotate([]string{file}, "web0", []ssh.PublicKey{key}, knownhosts.AppendOptions{}))
		})
	}
	wg.Wait()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 21, strings.Count(string(text), "\n"))
	assert.NotContains(t, string(text), written("web0", old))
}

func TestWithAddsLinesAndLeavesTheRestAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known_hosts")
	one, two := publicKey(t), publicKey(t)
	require.NoError(t, os.WriteFile(file, []byte(written("web1", one)), 0o600))
	db, err := knownhosts.Open(file)
	require.NoError(t, err)
	more := db.With("program", []byte(written("web2", two)+"@revoked "+written("web1", one)+"junk\n"))
	q1, q2 := knownhosts.Query{Host: "web1"}, knownhosts.Query{Host: "web2"}
	assert.NoError(t, db.Check(q1, one))
	assert.Error(t, db.Check(q2, two))
	assert.NoError(t, more.Check(q2, two))
	var revoked *knownhosts.RevokedError
	require.ErrorAs(t, more.Check(q1, one), &revoked)
	assert.Equal(t, "program", revoked.Known.File)
	assert.Empty(t, db.Warnings())
	assert.Len(t, more.Warnings(), 1)
	assert.False(t, more.Stale())
}

package knownhosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// A file of the largest size counts to its last byte; a larger one counts for nothing, since a revocation may stand in the
// part that was not read.
func TestFilesHaveALimitOfSize(t *testing.T) {
	k := testKeys()
	name := file(t)
	f, err := os.Create(name)
	require.NoError(t, err)
	last := "\nweb " + line(k.ed.PublicKey()) + "\n"
	require.NoError(t, f.Truncate(knownhosts.MaxFileSize)) // takes no room on the disk
	_, err = f.WriteAt([]byte(last), knownhosts.MaxFileSize-int64(len(last)))
	require.NoError(t, err)
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey()))
	assert.NoError(t, knownhosts.Append(name, "web", k.ed.PublicKey(), knownhosts.AppendOptions{}), "it is there")

	require.NoError(t, f.Truncate(knownhosts.MaxFileSize+1))
	require.NoError(t, f.Close())
	_, err = knownhosts.Open(name)
	assert.ErrorContains(t, err, "it is larger than 64 MiB")
	assert.ErrorContains(t, knownhosts.Append(name, "web", k.ed.PublicKey(), knownhosts.AppendOptions{}), "is larger than 64 MiB")
	_, err = knownhosts.Remove(name, "web")
	assert.ErrorContains(t, err, "is larger than 64 MiB", "what cannot be read whole is not written")
}

func TestNamesLookedForAreForgottenBeyondALimit(t *testing.T) {
	k := testKeys()
	db := open(t, knownhosts.HashName("web")+" "+line(k.ed.PublicKey()), knownhosts.HashName("db")+" "+line(k.ed.PublicKey()))
	web := knownhosts.Query{Host: "web"}
	require.NoError(t, db.Check(web, k.ed.PublicKey()))
	most := 0
	for i := range knownhosts.MaxLooked + 1 {
		_ = db.Check(knownhosts.Query{Host: fmt.Sprintf("h%d", i)}, k.ed.PublicKey())
		most = max(most, knownhosts.Looked(db))
	}
	assert.Equal(t, knownhosts.MaxLooked, most)
	assert.Less(t, knownhosts.Looked(db), most)
	assert.NoError(t, db.Check(web, k.ed.PublicKey()), "what was found stays")
	assert.NoError(t, db.Check(knownhosts.Query{Host: "db"}, k.ed.PublicKey()))
}

func TestWithoutHashedNamesNothingIsKeptOfWhatWasLookedFor(t *testing.T) {
	k := testKeys()
	db := open(t, "web "+line(k.ed.PublicKey()))
	require.NoError(t, db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey()))
	assert.Zero(t, knownhosts.Looked(db))
}

func TestWarningsOfSeveralFilesAreCountedTogether(t *testing.T) {
	a, b := file(t, strings.Repeat("junk\n", 99)), file(t, strings.Repeat("junk\n", 60))
	db, err := knownhosts.Open(a, b, a)
	require.NoError(t, err)
	all := db.Warnings()
	require.Len(t, all, 100)
	assert.Equal(t, knownhosts.Warning{File: a, Line: 99, Reason: "has no key"}, all[98])
	assert.Equal(t, knownhosts.Warning{File: a, Line: 99, Reason: "has no key, and so do 158 lines before it"}, all[99])
}

func TestEveryFileThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	circle := filepath.Join(dir, "circle")
	require.NoError(t, os.Symlink(circle, circle))
	_, err := knownhosts.Open(dir, filepath.Join(dir, "missing"), circle)
	assert.ErrorContains(t, err, dir+" cannot be read: it is not a regular file")
	assert.ErrorContains(t, err, circle+" cannot be read: too many levels of symbolic links")
	assert.NotContains(t, err.Error(), "missing")

	if runtime.GOOS == "linux" { // its first page can be opened and not be read
		_, err = knownhosts.Open("/proc/self/mem")
		assert.ErrorContains(t, err, "/proc/self/mem cannot be read")
	}
}

func TestDevNullKnowsNothingAndTakesEverything(t *testing.T) {
	k := testKeys()
	require.NoError(t, knownhosts.Append(os.DevNull, "web", k.ed.PublicKey(), knownhosts.AppendOptions{}))
	db, err := knownhosts.Open(os.DevNull)
	require.NoError(t, err)
	assert.Equal(t, unknown, verdict(db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey())))
}

func TestAppendSaysWhichFileCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(file(t), "below-a-file", "known_hosts")
	for _, name := range []string{dir, below} {
		err := knownhosts.Append(name, "web", testKeys().ed.PublicKey(), knownhosts.AppendOptions{})
		assert.ErrorContains(t, err, name+" cannot be written")
		assert.Equal(t, 1, strings.Count(err.Error(), name), "%v", err)
	}
}

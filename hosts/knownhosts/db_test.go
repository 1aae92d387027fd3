package knownhosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

func TestSkippedLinesAreNamedOnce(t *testing.T) {
	k := testKeys()
	name := file(t, "junk", "web "+line(k.ed.PublicKey()), "web ssh-future AAAA", "", "# comment", "web 1024 35 1", "@odd web x y",
		"|2|a|b "+line(k.ed.PublicKey()), "|1|xx|yy "+line(k.ed.PublicKey()), "web ssh-ed25519 !!!")
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	var lines []int
	for _, w := range db.Warnings() {
		assert.Equal(t, name, w.File)
		assert.Contains(t, w.String(), fmt.Sprintf("%s:%d", name, w.Line))
		lines = append(lines, w.Line)
	}
	assert.Equal(t, []int{1, 3, 6, 7, 8, 9, 10}, lines)
}

func TestWarningsAreBounded(t *testing.T) {
	db := open(t, strings.Repeat("junk\n", 5000))
	assert.Len(t, db.Warnings(), 100)
	assert.Contains(t, db.Warnings()[99].Reason, "4900")
}

func TestSeveralFilesCountAndMissingOnesAreFine(t *testing.T) {
	k := testKeys()
	a, b := file(t, "web "+line(k.ed.PublicKey())), file(t, "db "+line(k.ec.PublicKey()), "@revoked web "+line(k.ed2.PublicKey()))
	db, err := knownhosts.Open(filepath.Join(t.TempDir(), "none"), a, a+"/below-a-file", b)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey()))
	assert.NoError(t, db.Check(knownhosts.Query{Host: "db"}, k.ec.PublicKey()))
	assert.Equal(t, revoked, verdict(db.Check(knownhosts.Query{Host: "web"}, k.ed2.PublicKey())))

	_, err = knownhosts.Open(a, t.TempDir())
	assert.ErrorContains(t, err, "not a regular file")
}

func TestTheZeroDBKnowsNothing(t *testing.T) {
	var db knownhosts.DB
	assert.Equal(t, unknown, verdict(db.Check(knownhosts.Query{Host: "web"}, testKeys().ed.PublicKey())))
	assert.Equal(t, knownhosts.DefaultAlgorithms(), db.Algorithms(knownhosts.Query{Host: "web"}))
	assert.False(t, db.Stale())
}

func TestStaticKeys(t *testing.T) {
	k := testKeys()
	db, err := knownhosts.Static(
		knownhosts.StaticKey{Host: "web,[web]:2222", Key: k.ed.PublicKey()},
		knownhosts.StaticKey{Host: "*.example.com", Key: k.ca.PublicKey(), Authority: true},
		knownhosts.StaticKey{Host: "*", Key: k.rsa.PublicKey(), Revoked: true})
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web", Port: 2222}, k.ed.PublicKey()))
	assert.NoError(t, db.Check(knownhosts.Query{Host: "a.example.com"}, certificate(t, k.ec, k.ca, nil, "a.example.com")))
	assert.Equal(t, revoked, verdict(db.Check(knownhosts.Query{Host: "x"}, k.rsa.PublicKey())))
	err = db.Check(knownhosts.Query{Host: "web"}, k.ed2.PublicKey())
	assert.Equal(t, changed, verdict(err))
	assert.NotContains(t, err.Error(), "ssh-keygen", "there is no file to edit")
	var c *knownhosts.ChangedError
	require.ErrorAs(t, err, &c)
	assert.Equal(t, 1, c.Known[0].Line, "the first key that was given")
	assert.False(t, db.Stale())

	for _, bad := range []knownhosts.StaticKey{{Key: k.ed.PublicKey()}, {Host: "a b", Key: k.ed.PublicKey()}, {Host: "a"},
		{Host: "a", Key: k.ed.PublicKey(), Authority: true, Revoked: true}, {Host: "|1|x", Key: k.ed.PublicKey()}} {
		_, err := knownhosts.Static(bad)
		assert.Error(t, err)
	}
}

func TestAlgorithmsAreReorderedAndNeverNarrowed(t *testing.T) {
	k := testKeys()
	def := knownhosts.DefaultAlgorithms()
	for _, c := range []struct {
		name  string
		lines []string
		q     knownhosts.Query
		first []string
	}{
		{"nothing known", nil, knownhosts.Query{Host: "web"}, def},
		{"ed25519", []string{"web " + line(k.ed.PublicKey())}, knownhosts.Query{Host: "web"},
			[]string{ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519}},
		{"RSA stands for its signature algorithms", []string{"web " + line(k.rsa.PublicKey())}, knownhosts.Query{Host: "web"},
			[]string{ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}},
		{"an authority prefers every certificate", []string{"@cert-authority * " + line(k.ca.PublicKey())}, knownhosts.Query{Host: "web"},
			[]string{ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
				ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01}},
		{"an authority and a plain key", []string{"@cert-authority * " + line(k.ca.PublicKey()), "web " + line(k.rsa.PublicKey())},
			knownhosts.Query{Host: "web"}, []string{ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01,
				ssh.CertAlgoECDSA521v01, ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.KeyAlgoRSASHA512,
				ssh.KeyAlgoRSASHA256}},
		{"the bare name stands in for other ports", []string{"web " + line(k.ec.PublicKey())}, knownhosts.Query{Host: "web", Port: 2222},
			[]string{ssh.CertAlgoECDSA256v01, ssh.KeyAlgoECDSA256}},
		{"the port's own key goes before the bare name's", []string{"web " + line(k.ec.PublicKey()), "[web]:2222 " + line(k.ed.PublicKey())},
			knownhosts.Query{Host: "web", Port: 2222}, []string{ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519}},
		{"keys of other hosts and revoked keys do not count", []string{"db " + line(k.rsa.PublicKey()), "@revoked * " + line(k.ec.PublicKey())},
			knownhosts.Query{Host: "web"}, def},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := open(t, c.lines...).Algorithms(c.q)
			assert.Equal(t, c.first, got[:len(c.first)])
			assert.ElementsMatch(t, def, got, "none may be left out or added")
		})
	}
	given := []string{ssh.KeyAlgoRSASHA256, ssh.KeyAlgoED25519}
	got := open(t, "web "+line(k.ed.PublicKey())).Algorithms(knownhosts.Query{Host: "web", Algorithms: given})
	assert.Equal(t, []string{ssh.KeyAlgoED25519, ssh.KeyAlgoRSASHA256}, got)
	assert.Equal(t, ssh.KeyAlgoRSASHA256, given[0], "the caller's list is left alone")
	for _, a := range ssh.SupportedAlgorithms().HostKeys {
		assert.True(t, slices.Contains(def, a), a)
	}
}

func TestChangesOfFilesAreNoticed(t *testing.T) {
	k := testKeys()
	old := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(t *testing.T, name string){
		"appended": func(t *testing.T, name string) {
			require.NoError(t, knownhosts.Append(name, "new", k.ed.PublicKey(), knownhosts.AppendOptions{}))
		},
		"removed": func(t *testing.T, name string) { require.NoError(t, os.Remove(name)) },
		"replaced by one of the same size and time": func(t *testing.T, name string) {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name+"2", data, 0o600))
			require.NoError(t, os.Chtimes(name+"2", old, old))
			require.NoError(t, os.Rename(name+"2", name))
		},
		"touched": func(t *testing.T, name string) { require.NoError(t, os.Chtimes(name, time.Now(), time.Now())) },
	} {
		t.Run(name, func(t *testing.T) {
			f := file(t, "web "+line(k.ed.PublicKey()))
			require.NoError(t, os.Chtimes(f, old, old))
			db, err := knownhosts.Open(f)
			require.NoError(t, err)
			require.False(t, db.Stale())
			same, err := db.Reload()
			require.NoError(t, err)
			assert.Same(t, db, same)
			change(t, f)
			assert.True(t, db.Stale())
			fresh, err := db.Reload()
			require.NoError(t, err)
			assert.False(t, fresh.Stale())
		})
	}
}

func TestAChangeInTheSameInstantAndOfTheSameSizeIsNoticed(t *testing.T) {
	k := testKeys()
	f := file(t, "web "+line(k.ed.PublicKey()))
	now := time.Now()
	require.NoError(t, os.Chtimes(f, now, now))
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	require.False(t, db.Stale())
	data, err := os.ReadFile(f)
	require.NoError(t, err)
	w, err := os.OpenFile(f, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = w.Write([]byte(strings.Replace(string(data), "web", "wEb", 1)))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.Chtimes(f, now, now))
	assert.True(t, db.Stale())
}

func TestAFileThatAppearsIsNoticed(t *testing.T) {
	f := filepath.Join(t.TempDir(), "sub", "known_hosts")
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	require.False(t, db.Stale())
	key := testKeys().ed.PublicKey()
	require.NoError(t, knownhosts.Append(f, "web", key, knownhosts.AppendOptions{}))
	require.True(t, db.Stale())
	db, err = db.Reload()
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web"}, key))
}

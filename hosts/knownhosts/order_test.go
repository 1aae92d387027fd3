package knownhosts_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

func knownLines(t *testing.T, err error) []int {
	t.Helper()
	var c *knownhosts.ChangedError
	require.ErrorAs(t, err, &c)
	var out []int
	for _, k := range c.Known {
		out = append(out, k.Line)
	}
	return out
}

func TestRecordedKeysComeInTheOrderOfTheirLinesEachOnce(t *testing.T) {
	k := testKeys()
	db := open(t, knownhosts.HashName("web")+" "+line(k.ec.PublicKey()), "web,web "+line(k.rsa.PublicKey()), "w* "+line(k.ec.PublicKey()),
		"web,x "+line(k.rsa.PublicKey()), "w?b "+line(k.ed2.PublicKey()), "*,!x "+line(k.rsa.PublicKey()), "web "+line(k.ca.PublicKey()))
	err := db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey())
	assert.Equal(t, []int{5, 7, 1, 2, 3, 4, 6}, knownLines(t, err), "those of the type that the host shows first")
}

func TestSkippedLinesAboutAHostComeInOrderEachOnce(t *testing.T) {
	k := testKeys()
	db := open(t, "web ssh-future AAAA", "web,[web]:2222 ssh-future AAAA", "@revoked web ssh-future AAAA", "[web]:2222 ssh-future AAAA",
		"@cert-authority * ssh-future AAAA", "db ssh-future AAAA")
	var u *knownhosts.UnknownError
	require.ErrorAs(t, db.Check(knownhosts.Query{Host: "web", Port: 2222}, k.ed.PublicKey()), &u)
	var lines []int
	for _, w := range u.Skipped {
		lines = append(lines, w.Line)
	}
	assert.Equal(t, []int{1, 2, 4}, lines)
}

// With an alias there is no second name, and no line is about that.
func TestAnAliasIsTheOnlyNameThatIsLookedUp(t *testing.T) {
	k := testKeys()
	q := knownhosts.Query{Host: "10.0.0.1", Port: 2222, Alias: "pet"}
	db := open(t, "*,!pet "+line(k.rsa.PublicKey()), "*,!pet ssh-future AAAA")
	assert.Equal(t, knownhosts.DefaultAlgorithms(), db.Algorithms(q))
	var u *knownhosts.UnknownError
	require.ErrorAs(t, db.Check(q, k.ed.PublicKey()), &u)
	assert.Empty(t, u.Skipped)
	assert.Empty(t, u.Near)
	assert.Equal(t, "pet", u.Host)
}

func TestAnAuthorityForThePortComesBeforeKeysOfTheBareName(t *testing.T) {
	k := testKeys()
	db := open(t, "@cert-authority [web]:2222 "+line(k.ca.PublicKey()), "web "+line(k.rsa.PublicKey()))
	got := db.Algorithms(knownhosts.Query{Host: "web", Port: 2222})
	assert.Equal(t, knownhosts.DefaultAlgorithms(), got, "certificates stand first there")
}

func TestKeysOfSecurityKeysComeFirstWithTheirCertificates(t *testing.T) {
	const sk, skCert = "sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519-cert-v01@openssh.com"
	blob := ssh.Marshal(struct {
		Type string
		Key  []byte
		App  string
	}{sk, bytes.Repeat([]byte{7}, 32), "ssh:"})
	db := open(t, "web "+sk+" "+base64.StdEncoding.EncodeToString(blob))
	require.Empty(t, db.Warnings())
	q := knownhosts.Query{Host: "web", Algorithms: []string{ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519, skCert, sk}}
	assert.Equal(t, []string{skCert, sk, ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519}, db.Algorithms(q))
}

func TestAlgorithmsThatOpenSSHDoesNotNameComeLast(t *testing.T) {
	got := knownhosts.InOrder([]string{"new-2", ssh.KeyAlgoRSASHA256, "new-1", ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519})
	assert.Equal(t, []string{ssh.CertAlgoED25519v01, ssh.KeyAlgoED25519, ssh.KeyAlgoRSASHA256, "new-2", "new-1"}, got)
}

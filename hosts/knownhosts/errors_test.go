package knownhosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// at returns a DB of lines in a file whose name a shell has to be given in quotes.
func at(t *testing.T, lines ...string) (*knownhosts.DB, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "it's")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600))
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	return db, name
}

func shown(k ssh.PublicKey) string { return k.Type() + " " + ssh.FingerprintSHA256(k) }

func TestWholeTextsOfErrors(t *testing.T) {
	k := testKeys()
	ed, ed2, ec, rsa, ca := k.ed.PublicKey(), k.ed2.PublicKey(), k.ec.PublicKey(), k.rsa.PublicKey(), k.ca.PublicKey()
	const ask = "; someone may be listening in, or the host was set up anew: ask who runs it, and only when the new fingerprint is" +
		" confirmed remove the old key"
	const compare = "; compare the fingerprint with one you got in another way, then record the key"
	web := knownhosts.Query{Host: "web"}

	db, name := at(t, "web "+line(ed2))
	with := " with: ssh-keygen -f '" + strings.ReplaceAll(name, "'", `'\''`) + "' -R web"
	assert.EqualError(t, db.Check(web, ed), "knownhosts: the key of web HAS CHANGED: it shows "+shown(ed)+", but "+name+":1 has "+shown(ed2)+ask+with)
	assert.EqualError(t, db.Check(knownhosts.Query{Host: "db"}, ed), "knownhosts: the key of db is not known: it shows "+shown(ed)+compare)

	db, name = at(t, "web "+line(rsa), "web "+line(ed2), "@cert-authority web "+line(ca))
	with = " with: ssh-keygen -f '" + strings.ReplaceAll(name, "'", `'\''`) + "' -R web"
	cert := certificate(t, k.ed, k.ca, nil, "db")
	why := `; its certificate does not count, because it is for "db" and not for web`
	assert.EqualError(t, db.Check(web, cert), "knownhosts: the key of web HAS CHANGED: it shows "+shown(ed)+", but "+name+":2 has "+shown(ed2)+
		" and 1 more"+why+ask+with)

	db, name = at(t, "web "+line(ed2), "[web]:2222 ssh-future AAAA", "@cert-authority web "+line(ca))
	assert.EqualError(t, db.Check(knownhosts.Query{Host: "web", Port: 2222}, cert), "knownhosts: the key of [web]:2222 is not known: it shows "+
		shown(ed)+why+"; for port 22 "+name+":1 has "+shown(ed2)+"; "+name+":2 is about this host but holds a key of an unknown type"+compare)

	db, name = at(t, "@revoked web "+line(ca), "@revoked * "+line(ec))
	var r *knownhosts.RevokedError
	err := db.Check(web, cert)
	assert.EqualError(t, err, "knownhosts: the authority that certified web is revoked by "+name+":1 ("+shown(ca)+
		"); give the host a new key before you connect")
	require.ErrorAs(t, err, &r)
	assert.True(t, r.Authority)
	err = db.Check(web, certificate(t, k.ec, k.ca2, nil, "web"))
	assert.EqualError(t, err, "knownhosts: the key of web is revoked by "+name+":2 ("+shown(ec)+
		"); give the host a new key before you connect")
	require.ErrorAs(t, err, &r)
	assert.False(t, r.Authority, "the line is about the key in the certificate")

	db, err = knownhosts.Static(knownhosts.StaticKey{Host: "*", Key: ed2})
	require.NoError(t, err)
	assert.EqualError(t, db.Check(web, ed), "knownhosts: the key of web HAS CHANGED: it shows "+shown(ed)+", but the program's own list has "+shown(ed2)+ask)

	db, _ = at(t, "* "+line(ed2))
	assert.ErrorContains(t, db.Check(knownhosts.Query{}, ed), " -R ''", "an empty word is a word")
}

func TestWhatACertificateSaysIsQuotedAndBounded(t *testing.T) {
	k := testKeys()
	db := open(t, "@cert-authority * "+line(k.ca.PublicKey()))
	why := func(edit func(*ssh.Certificate), names ...string) string {
		t.Helper()
		var u *knownhosts.UnknownError
		require.ErrorAs(t, db.Check(knownhosts.Query{Host: "web"}, certificate(t, k.ec, k.ca, edit, names...)), &u)
		return u.Certificate.Error()
	}
	x100, x101 := strings.Repeat("x", 100), strings.Repeat("x", 101)
	assert.Equal(t, `it is for "a", "b", "c", "d", "e" and not for web`, why(nil, "a", "b", "c", "d", "e"))
	assert.Equal(t, `it is for "a", "b", "c", "d", "e", 1 more and not for web`, why(nil, "a", "b", "c", "d", "e", "f"))
	assert.Equal(t, `it is for "a", "b", "c", "d", "e", 3 more and not for web`, why(nil, "a", "b", "c", "d", "e", "f", "g", "h"))
	assert.Equal(t, fmt.Sprintf(`it is for "%s", "%s…", "\x1b[2J" and not for web`, x100, x100), why(nil, x100, x101, "\x1b[2J"))

	const last = 253402300799
	after := func(t uint64) func(*ssh.Certificate) { return func(c *ssh.Certificate) { c.ValidAfter = t } }
	assert.Equal(t, "it is not valid before 9999-12-31T23:59:59Z", why(after(last)))
	assert.Equal(t, "it is not valid before a time far ahead", why(after(last+1)))
}

func TestCertificatesThatAreNotSignedAsTheyMustBeDoNotCount(t *testing.T) {
	k := testKeys()
	db := open(t, "@cert-authority * "+line(k.ca.PublicKey()))
	web := knownhosts.Query{Host: "web"}
	for why, edit := range map[string]func(*ssh.Certificate){
		"it is not signed":                      func(c *ssh.Certificate) { c.Signature = nil },
		"it is signed with SHA-1 (ssh-rsa)":     func(c *ssh.Certificate) { c.Signature.Format = "ssh-rsa" },
		"it is signed with SHA-1 (ssh-dss)":     func(c *ssh.Certificate) { c.Signature.Format = "ssh-dss" },
		"certificate signature does not verify": func(c *ssh.Certificate) { c.Signature.Blob[0] ^= 1 },
	} {
		cert := certificate(t, k.ec, k.ca, nil, "web")
		require.NoError(t, db.Check(web, cert))
		edit(cert)
		var u *knownhosts.UnknownError
		if assert.ErrorAs(t, db.Check(web, cert), &u, why) {
			assert.EqualError(t, u.Certificate, why)
		}
	}
}

func TestACertificateIsValidFromItsFirstSecondOn(t *testing.T) {
	k := testKeys()
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	cert := certificate(t, k.ec, k.ca, func(c *ssh.Certificate) { c.ValidAfter = uint64(start.Unix()) }, "web")
	db := open(t, "@cert-authority web "+line(k.ca.PublicKey()))
	q := knownhosts.Query{Host: "web"}
	assert.NoError(t, db.At(start).Check(q, cert))
	assert.ErrorContains(t, db.At(start.Add(-time.Second)).Check(q, cert), "it is not valid before 2030-01-01T00:00:00Z")
	assert.Error(t, db.At(time.Unix(-1, 0)).Check(q, certificate(t, k.ec, k.ca, nil, "web")), "a clock before all time")
}

func TestAPortThatIsNoneIsPartOfTheName(t *testing.T) {
	k := testKeys()
	db := open(t, "[web]:4464 "+line(k.ed.PublicKey()), "web:70000 "+line(k.ed2.PublicKey()))
	ask := db.Callback(knownhosts.Query{})
	assert.NoError(t, ask("web:4464", nil, k.ed.PublicKey()))
	assert.Error(t, ask("web:70000", nil, k.ed.PublicKey()), "70000 is 4464 in sixteen bits")
	assert.NoError(t, ask("web:70000", nil, k.ed2.PublicKey()))
}

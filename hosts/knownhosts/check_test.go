package knownhosts_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

const (
	good    = "accepted"
	unknown = "unknown"
	changed = "changed"
	revoked = "revoked"
)

func verdict(err error) string {
	var u *knownhosts.UnknownError
	var c *knownhosts.ChangedError
	var r *knownhosts.RevokedError
	switch {
	case err == nil:
		return good
	case errors.As(err, &u):
		return unknown
	case errors.As(err, &c):
		return changed
	case errors.As(err, &r):
		return revoked
	}
	return err.Error()
}

func TestKeysAreDecidedAsOpenSSHDecidesThem(t *testing.T) {
	k := testKeys()
	ed, ed2, ec, rsa := line(k.ed.PublicKey()), line(k.ed2.PublicKey()), line(k.ec.PublicKey()), line(k.rsa.PublicKey())
	ca, ca2 := line(k.ca.PublicKey()), line(k.ca2.PublicKey())
	cert := certificate(t, k.ec, k.ca, nil, "localhost")
	host := knownhosts.Query{Host: "localhost"}
	high := knownhosts.Query{Host: "localhost", Port: 42222}
	for _, c := range []struct {
		name  string
		lines []string
		q     knownhosts.Query
		key   ssh.PublicKey
		want  string
	}{
		{"only one of the host's keys is known, and it is shown", []string{"localhost " + ed}, host, k.ed.PublicKey(), good},
		{"a plain key is known and comes with a certificate of an unknown authority", []string{"localhost " + ec}, host, cert, good},
		{"nothing is known and a certificate of an unknown authority is shown", nil, host, cert, unknown},
		{"an authority of another key type than the host's", []string{"@cert-authority localhost " + ca}, host, cert, good},
		{"an authority for any host, on another port", []string{"@cert-authority * " + ca}, high, cert, good},
		{"an authority for the bare name, on another port", []string{"@cert-authority localhost " + ca}, high, cert, good},
		{"an authority for name and port", []string{"@cert-authority [localhost]:42222 " + ca}, high, cert, good},
		{"a key known for the bare name, on another port", []string{"localhost " + ed}, high, k.ed.PublicKey(), good},
		{"another key known for the bare name, on another port", []string{"localhost " + ed2}, high, k.ed.PublicKey(), unknown},
		{"the right key for the bare name, a wrong one for the port", []string{"localhost " + ed, "[localhost]:42222 " + rsa},
			high, k.ed.PublicKey(), changed},
		{"a key for the port does not count for the bare name", []string{"[localhost]:42222 " + ed}, host, k.ed.PublicKey(), unknown},
		{"a wrong key of the same type", []string{"localhost " + ed2}, host, k.ed.PublicKey(), changed},
		{"a wrong key because the known type vanished from the host", []string{"localhost " + rsa}, host, k.ed.PublicKey(), changed},
		{"a wrong plain key behind a certificate of an unknown authority", []string{"localhost " + ed}, host, cert, changed},
		{"one of several keys", []string{"localhost " + ed2, "localhost " + rsa, "localhost " + ed}, host, k.ed.PublicKey(), good},
		{"junk before the good line", []string{"%%junk", "localhost", "x y", "localhost ssh-ed25519 AAAA", "localhost " + ed},
			host, k.ed.PublicKey(), good},
		{"an unknown key type elsewhere", []string{"other ssh-new AAAA", "localhost " + ed}, host, k.ed.PublicKey(), good},
		{"an RSA1 line elsewhere", []string{"other 1024 35 123456789", "localhost " + ed}, host, k.ed.PublicKey(), good},
		{"an unknown marker", []string{"@magic localhost " + ed}, host, k.ed.PublicKey(), unknown},
		{"two markers", []string{"@revoked @cert-authority localhost " + ed, "localhost " + ed}, host, k.ed.PublicKey(), good},
		{"upper case in the query", []string{"localhost " + ed}, knownhosts.Query{Host: "LocalHost"}, k.ed.PublicKey(), good},
		{"upper case in the file", []string{"LocalHost " + ed}, host, k.ed.PublicKey(), good},
		{"RSA", []string{"localhost " + rsa}, host, k.rsa.PublicKey(), good},
		{"a list of names", []string{"a,localhost,b " + ed}, host, k.ed.PublicKey(), good},
		{"wildcards", []string{"local*t?,x " + ed}, host, k.ed.PublicKey(), unknown},
		{"a star", []string{"*local* " + ed}, high, k.ed.PublicKey(), good},
		{"a star for the host and a port", []string{"[*]:42222 " + ed}, high, k.ed.PublicKey(), good},
		{"a question mark", []string{"localhos? " + ed}, host, k.ed.PublicKey(), good},
		{"negation", []string{"*,!localhost " + ed}, host, k.ed.PublicKey(), unknown},
		{"a hashed name", []string{knownhosts.HashName("localhost") + " " + ed}, host, k.ed.PublicKey(), good},
		{"a hashed name with port", []string{knownhosts.HashName("[localhost]:42222") + " " + ed}, high, k.ed.PublicKey(), good},
		{"another hashed name", []string{knownhosts.HashName("other") + " " + ed}, host, k.ed.PublicKey(), unknown},
		{"a revoked key", []string{"localhost " + ed, "@revoked * " + ed}, host, k.ed.PublicKey(), revoked},
		{"a revoked key of another host", []string{"localhost " + ed, "@revoked other " + ed}, host, k.ed.PublicKey(), good},
		{"a revoked authority", []string{"@cert-authority * " + ca, "@revoked * " + ca}, host, cert, revoked},
		{"a revoked authority although the plain key is known", []string{"localhost " + ec, "@revoked * " + ca}, host, cert, revoked},
		{"a revoked key behind a good certificate", []string{"@cert-authority * " + ca, "@revoked * " + ec}, host, cert, revoked},
		{"a key revoked for the bare name, on another port", []string{"@revoked localhost " + ed}, high, k.ed.PublicKey(), revoked},
		{"an authority's own key shown as a host key", []string{"@cert-authority * " + ca}, host, k.ca.PublicKey(), unknown},
		{"an authority line does not vouch for plain keys", []string{"@cert-authority * " + ca}, host, k.ec.PublicKey(), unknown},
		{"another authority", []string{"@cert-authority * " + ca2}, host, cert, unknown},
		{"a host key alias", []string{"pet " + ed}, knownhosts.Query{Host: "10.0.0.1", Port: 42222, Alias: "Pet"}, k.ed.PublicKey(), good},
		{"a host key alias has no port", []string{"[pet]:42222 " + ed},
			knownhosts.Query{Host: "10.0.0.1", Port: 42222, Alias: "pet"}, k.ed.PublicKey(), unknown},
		{"a host key alias hides the name", []string{"localhost " + ed}, knownhosts.Query{Host: "localhost", Alias: "pet"},
			k.ed.PublicKey(), unknown},
		{"an IPv6 address with port", []string{"[fe80::a]:42222 " + ed}, knownhosts.Query{Host: "FE80::A", Port: 42222},
			k.ed.PublicKey(), good},
		{"CRLF, leading blanks and no comment", []string{" \tlocalhost\t" + ed + "\r"}, host, k.ed.PublicKey(), good},
		{"a byte order mark", []string{"\xef\xbb\xbflocalhost " + ed}, host, k.ed.PublicKey(), good},
		{"a comment line", []string{"# localhost " + ed}, host, k.ed.PublicKey(), unknown},
		{"a certificate where a key belongs", []string{"localhost " + line(cert)}, host, k.ec.PublicKey(), changed},
		{"a type that does not fit the key", []string{"localhost ssh-rsa " + ed[len("ssh-ed25519 "):]}, host, k.ed.PublicKey(), unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := open(t, c.lines...).Check(c.q, c.key)
			assert.Equal(t, c.want, verdict(err), "%v", err)
		})
	}
}

func TestCertificatesMustFitTheHostAndTheTime(t *testing.T) {
	k := testKeys()
	now := time.Now()
	user := func(c *ssh.Certificate) { c.CertType = ssh.UserCert }
	later := func(c *ssh.Certificate) { c.ValidAfter = uint64(now.Add(time.Hour).Unix()) }
	option := func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{"verify-moon": "full"} }
	forged := certificate(t, k.ec, k.ca, nil, "web")
	forged.ValidPrincipals = []string{"db"}
	for _, c := range []struct {
		name string
		cert *ssh.Certificate
		host string
		why  string // "" means accepted
	}{
		{"right name", certificate(t, k.ec, k.ca, nil, "web"), "web", ""},
		{"name in another case", certificate(t, k.ec, k.ca, nil, "web"), "WEB", ""},
		{"one of several names", certificate(t, k.ec, k.ca, nil, "a", "web"), "web", ""},
		{"no names cover every host", certificate(t, k.ec, k.ca, nil), "web", ""},
		{"other name", certificate(t, k.ec, k.ca, nil, "db"), "web", `it is for "db" and not for web`},
		{"upper-case principal", certificate(t, k.ec, k.ca, nil, "WEB"), "web", "not for web"},
		{"wildcards are literal", certificate(t, k.ec, k.ca, nil, "w*"), "web", "not for web"},
		{"expired", certificate(t, k.ec, k.ca, until(now.Add(-time.Hour)), "web"), "web", "it expired at"},
		{"not valid for longer than a time can say", certificate(t, k.ec, k.ca, func(c *ssh.Certificate) { c.ValidAfter, c.ValidBefore = 1<<62, 1<<63 }, "web"), "web", "it is not valid before a time far ahead"},
		{"not yet valid", certificate(t, k.ec, k.ca, later, "web"), "web", "it is not valid before"},
		{"user certificate", certificate(t, k.ec, k.ca, user, "web"), "web", "it is not a host certificate"},
		{"critical option", certificate(t, k.ec, k.ca, option, "web"), "web", "verify-moon"},
		{"changed after signing", forged, "db", "signature does not verify"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, "@cert-authority * "+line(k.ca.PublicKey()))
			q := knownhosts.Query{Host: c.host, Port: 2222}
			err := db.Check(q, c.cert)
			if c.why == "" {
				require.NoError(t, err)
				return
			}
			var u *knownhosts.UnknownError
			require.ErrorAs(t, err, &u)
			assert.ErrorContains(t, u.Certificate, c.why)
			assert.ErrorContains(t, err, c.why)
			assert.Equal(t, ssh.KeyAlgoECDSA256, u.Type, "what would be recorded is the plain key")

			plain := open(t, "@cert-authority * "+line(k.ca.PublicKey()), "["+c.host+"]:2222 "+line(k.ec.PublicKey()))
			assert.NoError(t, plain.Check(q, c.cert), "the plain key is known, so it counts by itself")
		})
	}
}

func TestTimeOfCertificatesIsThatOfTheCheck(t *testing.T) {
	k := testKeys()
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	cert := certificate(t, k.ec, k.ca, until(end), "web")
	db := open(t, "@cert-authority web "+line(k.ca.PublicKey()))
	q := knownhosts.Query{Host: "web"}
	assert.NoError(t, db.At(end.Add(-time.Second)).Check(q, cert))
	assert.ErrorContains(t, db.At(end).Check(q, cert), "it expired at 2030-01-01T00:00:00Z")
}

func TestACertificateIsForTheNameThatIsLookedUp(t *testing.T) {
	k := testKeys()
	db := open(t, "@cert-authority * "+line(k.ca.PublicKey()))
	q := knownhosts.Query{Host: "10.0.0.7", Alias: "Web"}
	assert.NoError(t, db.Check(q, certificate(t, k.ec, k.ca, nil, "web")))
	assert.ErrorContains(t, db.Check(q, certificate(t, k.ec, k.ca, nil, "10.0.0.7")), "not for web")
}

func TestTheRecordedKeysOfTheServersTypeComeFirst(t *testing.T) {
	k := testKeys()
	db := open(t, "web "+line(k.ec.PublicKey()), "web "+line(k.ed2.PublicKey()), "web "+line(k.rsa.PublicKey()))
	var c *knownhosts.ChangedError
	require.ErrorAs(t, db.Check(knownhosts.Query{Host: "web"}, k.ed.PublicKey()), &c)
	var lines []int
	for _, known := range c.Known {
		lines = append(lines, known.Line)
	}
	assert.Equal(t, []int{2, 1, 3}, lines)
}

func TestACertificateSignedWithSHA1DoesNotCount(t *testing.T) {
	k := testKeys()
	sha1only, err := ssh.NewSignerWithAlgorithms(k.rsa.(ssh.AlgorithmSigner), []string{ssh.KeyAlgoRSA})
	require.NoError(t, err)
	cert := certificate(t, k.ec, sha1only, nil, "web")
	err = open(t, "@cert-authority * "+line(k.rsa.PublicKey())).Check(knownhosts.Query{Host: "web"}, cert)
	assert.ErrorContains(t, err, "SHA-1")
}

func TestErrorsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	k := testKeys()
	name := file(t, "# old", "[web]:2222 "+line(k.rsa.PublicKey()), "[web]:2222 "+line(k.ed2.PublicKey()))
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	q := knownhosts.Query{Host: "Web", Port: 2222}

	err = db.Check(q, k.ed.PublicKey())
	var c *knownhosts.ChangedError
	require.ErrorAs(t, err, &c)
	assert.Equal(t, knownhosts.Known{File: name, Line: 3, Type: "ssh-ed25519", Fingerprint: ssh.FingerprintSHA256(k.ed2.PublicKey())},
		c.Known[0], "the recorded key of the same type comes first")
	assert.Equal(t, 2, c.Known[1].Line)
	for _, want := range []string{"HAS CHANGED", name + ":3", ssh.FingerprintSHA256(k.ed.PublicKey()),
		ssh.FingerprintSHA256(k.ed2.PublicKey()), "ssh-keygen -f " + name + " -R '[web]:2222'"} {
		assert.ErrorContains(t, err, want)
	}

	err = db.Check(knownhosts.Query{Host: "new"}, k.ed.PublicKey())
	var u *knownhosts.UnknownError
	require.ErrorAs(t, err, &u)
	assert.Equal(t, []string{name}, u.Files)
	assert.ErrorContains(t, err, ssh.FingerprintSHA256(k.ed.PublicKey()))
	assert.ErrorContains(t, err, "compare the fingerprint")

	name = file(t, "@revoked * "+line(k.ed.PublicKey()))
	db, err = knownhosts.Open(name)
	require.NoError(t, err)
	err = db.Check(q, k.ed.PublicKey())
	var r *knownhosts.RevokedError
	require.ErrorAs(t, err, &r)
	assert.ErrorContains(t, err, name+":1")
	assert.False(t, r.Authority)
}

func TestUnknownTellsOfLinesThatMightHaveBeenTheKey(t *testing.T) {
	k := testKeys()
	db := open(t, "web ssh-future AAAAB3Nz", "other ssh-future AAAA", "web 1024 35 12345")
	var u *knownhosts.UnknownError
	require.ErrorAs(t, db.Check(knownhosts.Query{Host: "web", Port: 22}, k.ed.PublicKey()), &u)
	require.Len(t, u.Skipped, 1)
	assert.Equal(t, 1, u.Skipped[0].Line)
	assert.ErrorContains(t, u, "unknown type")
}

func TestUnknownOnAnotherPortTellsWhatPort22Has(t *testing.T) {
	k := testKeys()
	var u *knownhosts.UnknownError
	err := open(t, "web "+line(k.ed2.PublicKey())).Check(knownhosts.Query{Host: "web", Port: 2222}, k.ed.PublicKey())
	require.ErrorAs(t, err, &u)
	require.Len(t, u.Near, 1)
	assert.ErrorContains(t, err, ssh.FingerprintSHA256(k.ed2.PublicKey()))
}

func TestTheCallbackNeedsNoNetworkAddress(t *testing.T) {
	k := testKeys()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	db := open(t, "[web]:2222 "+line(k.ed.PublicKey()))
	assert.NoError(t, db.Callback(knownhosts.Query{Host: "web", Port: 2222})("pipe", a.RemoteAddr(), k.ed.PublicKey()))
	assert.NoError(t, db.Callback(knownhosts.Query{})("web:2222", nil, k.ed.PublicKey()))
	assert.Error(t, db.Callback(knownhosts.Query{})("web", nil, k.ed.PublicKey()))
}

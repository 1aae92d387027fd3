package knownhosts_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// keys are made once: RSA takes a while.
type keys struct{ ed, ed2, ec, rsa, ca, ca2 ssh.Signer }

var testKeys = sync.OnceValue(func() keys {
	sign := func(k any, err error) ssh.Signer {
		if err != nil {
			panic(err)
		}
		s, err := ssh.NewSignerFromKey(k)
		if err != nil {
			panic(err)
		}
		return s
	}
	ed := func() ssh.Signer {
		_, k, err := ed25519.GenerateKey(rand.Reader)
		return sign(k, err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ecs := sign(ec, err)
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	return keys{ed: ed(), ed2: ed(), ec: ecs, rsa: sign(r, err), ca: ed(), ca2: ed()}
})

// line is a key as a file holds it.
func line(k ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k))) }

func file(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return name
}

func open(t *testing.T, lines ...string) *knownhosts.DB {
	t.Helper()
	db, err := knownhosts.Open(file(t, lines...))
	require.NoError(t, err)
	return db
}

// certificate is a host certificate for key, signed by ca, changed by edit before signing.
func certificate(t *testing.T, key, ca ssh.Signer, edit func(*ssh.Certificate), names ...string) *ssh.Certificate {
	t.Helper()
	c := &ssh.Certificate{Key: key.PublicKey(), CertType: ssh.HostCert, KeyId: "test", ValidPrincipals: names,
		ValidAfter: 0, ValidBefore: ssh.CertTimeInfinity}
	if edit != nil {
		edit(c)
	}
	require.NoError(t, c.SignCert(rand.Reader, ca))
	return c
}

func until(end time.Time) func(*ssh.Certificate) {
	return func(c *ssh.Certificate) { c.ValidBefore = uint64(end.Unix()) }
}

// tool returns a program of OpenSSH; without it the test is skipped, except in CI.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI must compare with it", name)
	}
	if err != nil {
		t.Skipf("%s is not installed: nothing to compare with", name)
	}
	return path
}

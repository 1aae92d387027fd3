package knownhosts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// Whatever else a file holds, a good line in it is found, and nothing makes an unknown key known.
func FuzzFile(f *testing.F) {
	k := testKeys()
	for _, s := range []string{"junk", "@revoked", "|1|a|b c d", "web ssh-ed25519", "* 1024 35 1", "@cert-authority * " + line(k.ca.PublicKey()),
		"\xff\xfe\x00", "a,b,!c ssh-rsa AAAA", "* " + line(k.ec.PublicKey())} {
		f.Add(s)
	}
	name := filepath.Join(f.TempDir(), "known_hosts")
	q := knownhosts.Query{Host: "web.example.com"}
	f.Fuzz(func(t *testing.T, s string) {
		for part := range strings.FieldsSeq(line(k.ed2.PublicKey())) {
			if strings.Contains(s, part) && part != "ssh-ed25519" {
				return
			}
		}
		if err := os.WriteFile(name, []byte(s+"\nweb.example.com "+line(k.ed.PublicKey())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := knownhosts.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Check(q, k.ed.PublicKey()); err != nil && verdict(err) != revoked {
			t.Fatalf("the good line is not seen: %v", err)
		}
		if v := verdict(db.Check(q, k.ed2.PublicKey())); v != changed {
			t.Fatalf("another key is %s", v)
		}
		if len(db.Algorithms(q)) != len(knownhosts.DefaultAlgorithms()) {
			t.Fatal("algorithms were narrowed")
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add("web " + line(testKeys().ed.PublicKey()))
	f.Add("@revoked * ssh-rsa AAAA comment")
	f.Add("|1|AAAA|BBBB ssh-ed25519 x")
	f.Fuzz(func(t *testing.T, s string) {
		if why, ok := knownhosts.ParseLine(s); ok && why != "" {
			t.Fatalf("used and skipped: %s", why)
		}
	})
}

func FuzzHashedNames(f *testing.F) {
	f.Add("web", "db")
	f.Add("[web]:2222", "web")
	f.Fuzz(func(t *testing.T, a, b string) {
		hashed := knownhosts.HashName(a)
		if ok, _ := knownhosts.MatchNames(hashed, a); !ok {
			t.Fatalf("%q does not match its own hash", a)
		}
		if ok, _ := knownhosts.MatchNames(hashed, b); ok != (a == b) {
			t.Fatalf("%q matches the hash of %q: %v", b, a, ok)
		}
		if a != "" {
			_, _ = knownhosts.MatchNames(a, b)
		}
	})
}

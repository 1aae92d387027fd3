package approval_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// newKey returns a new key of the usual kind.
func newKey(t testing.TB) ssh.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	s, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return s
}

// skKey returns the public key of a security key.
func skKey(t testing.TB) ssh.PublicKey { return sshsigtest.New(t, ssh.KeyAlgoSKED25519).PublicKey() }

func authorized(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// weakRSA is a key of 1024 bits.
const weakRSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDgR47WH8obGu0PGXAR/GqObw+kKMpxBvWqrMjjNhqzX7KzRNi1MT1ZbS4rCnZDR4RunMdDYxqpKXPXW8cJeTJ8mJf3NSU0UZwzf4X33ILT15Xfp0Ain6+8NsIH4tb1dBn/QRbPl5S9nXU3E1P/t3fw0zAUgQ0KWxXTQYhbUsqOgw=="

const ns = ` namespaces="approve@fairlead" `

func TestAFileOfApproversIsRead(t *testing.T) {
	one, two, three, four := newKey(t).PublicKey(), newKey(t).PublicKey(), skKey(t), newKey(t).PublicKey()
	text := "# who may approve\n\n" +
		"ada" + ns + authorized(one) + " proof=passphrase key=/home/ada/my keys/approver\n" +
		"\tada   namespaces=\"approve@fairlead\",valid-after=\"20260101\",valid-before=\"20270131235959Z\"\t" + authorized(two) + " ada@laptop, proof=touch\n" +
		"bob@example.com" + ns + authorized(three) + "\n" +
		"eve" + ns + authorized(four) + " proof=unproven"
	got, err := approval.ParseApprovers([]byte(text), "a")
	require.NoError(t, err)
	require.Len(t, got, 4)
	assert.Equal(t, approval.Approver{Name: "ada", Key: one, Proof: approval.Passphrase, File: "/home/ada/my keys/approver", Line: 3}, got[0])
	assert.Equal(t, approval.Unproven, got[1].Proof, "a comment says nothing")
	assert.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local), got[1].After)
	assert.Equal(t, time.Date(2027, 1, 31, 23, 59, 59, 0, time.UTC), got[1].Before)
	assert.Equal(t, "bob@example.com", got[2].Name)
	assert.Equal(t, approval.Touch, got[2].Proof)
	assert.Equal(t, approval.Unproven, got[3].Proof)
	assert.Equal(t, ssh.FingerprintSHA256(four), got[3].Fingerprint())
	assert.Equal(t, 6, got[3].Line)

	none, err := approval.ParseApprovers(nil, "a")
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestEveryMistakeAboutApproversIsToldWithItsLine(t *testing.T) {
	key, sk := authorized(newKey(t).PublicKey()), authorized(skKey(t))
	p224, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ec, err := ssh.NewPublicKey(&p224.PublicKey)
	require.NoError(t, err)
	for name, tt := range map[string]struct{ line, want string }{
		"a name alone":                 {"ada", "options"},
		"no options":                   {"ada " + key, "options"},
		"no namespace":                 {`ada valid-after="20260101" ` + key, "namespaces"},
		"another namespace":            {`ada namespaces="git" ` + key, "the namespace must be"},
		"a namespace more":             {`ada namespaces="git,approve@fairlead" ` + key, "options"},
		"any namespace":                {`ada namespaces="*" ` + key, "the namespace must be"},
		"a namespace without quotes":   {"ada namespaces=approve@fairlead " + key, "options"},
		"a namespace twice":            {`ada namespaces="approve@fairlead",namespaces="approve@fairlead" ` + key, "options"},
		"an authority of certificates": {`ada cert-authority,namespaces="approve@fairlead" ` + key, "options"},
		"an unknown option":            {`ada namespaces="approve@fairlead",x="y" ` + key, "is not one of"},
		"a time that is none":          {`ada namespaces="approve@fairlead",valid-before="20270231" ` + key, "is no time"},
		"a time that is cut":           {`ada namespaces="approve@fairlead",valid-after="2026010112000" ` + key, "is no time"},
		"a year alone":                 {`ada namespaces="approve@fairlead",valid-after="2026" ` + key, "is no time"},
		"a part of a second":           {`ada namespaces="approve@fairlead",valid-before="20270131235959.5Z" ` + key, "is no time"},
		"no time":                      {`ada namespaces="approve@fairlead",valid-before="" ` + key, "is no time"},
		"a zone alone":                 {`ada namespaces="approve@fairlead",valid-before="Z" ` + key, "is no time"},
		"a name that matches all":      {"*" + ns + key, "the name"},
		"several names":                {"ada,bob" + ns + key, "the name"},
		"a name that excludes":         {"!ada" + ns + key, "the name"},
		"a name that is an option":     {"-ada" + ns + key, "the name"},
		"a name that is too long":      {strings.Repeat("a", 65) + ns + key, "the name"},
		"no key":                       {"ada" + ns, "the key is missing"},
		"a key that is not base64":     {"ada" + ns + "ssh-ed25519 x", "base64"},
		"a key that is torn":           {"ada" + ns + "ssh-ed25519 AAAA", "cannot be read"},
		"a key of another type":        {"ada" + ns + "ssh-rsa " + strings.Fields(key)[1], "the key is of type ssh-ed25519"},
		"an RSA key that is weak":      {"ada" + ns + weakRSA, "the RSA key has 1024 bits and needs at least 2048: make another with ssh-keygen -t ed25519"},
		"a proof that nobody knows":    {"ada" + ns + key + " proof=oath", "proof=oath is not one of"},
		"a touch of a plain key":       {"ada" + ns + key + " proof=touch", "does not fit"},
		"a passphrase of hardware":     {"ada" + ns + sk + " proof=passphrase", "does not fit"},
		"a file that is not absolute":  {"ada" + ns + key + " proof=passphrase key=approver", "absolute path"},
		"more after the proof":         {"ada" + ns + key + " proof=passphrase for now", "absolute path"},
		"what cannot be seen":          {"ada\u200b" + ns + key, "cannot be seen"},
		"a carriage return":            {"ada" + ns + key + "\r", "cannot be seen"},
		"not UTF-8":                    {"ada" + ns + key + " \xff", "not UTF-8"},
		"a key that is there twice":    {"eve" + ns + authorized(ec), "the key is that of line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := approval.ParseApprovers([]byte("bob"+ns+authorized(ec)+"\n# next\n"+tt.line+"\n"), "approvers")
			require.ErrorContains(t, err, "approval: approvers:3: ")
			assert.ErrorContains(t, err, tt.want)
		})
	}
	_, err = approval.ParseApprovers([]byte("x\ny\n"), "a")
	assert.ErrorContains(t, err, "a:1: ")
	assert.ErrorContains(t, err, "a:2: ")
	_, err = approval.ParseApprovers(make([]byte, 1<<20), "a")
	assert.ErrorContains(t, err, "more than")
}

func TestApproversAreEnrolledAndWithdrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fairlead", "approvers")
	none, err := approval.ReadApprovers(file)
	require.NoError(t, err)
	assert.Empty(t, none)
	ada := approval.Approver{Name: "ada", Key: newKey(t).PublicKey(), Proof: approval.Passphrase, File: "/k"}
	bob := approval.Approver{Name: "bob", Key: skKey(t), Proof: approval.Touch, Before: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	require.NoError(t, approval.Enroll(file, ada))
	st, err := os.Stat(file)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, st.Mode().Perm())
	st, err = os.Stat(filepath.Dir(file))
	require.NoError(t, err)
	assert.EqualValues(t, 0o700, st.Mode().Perm())

	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("# a comment without an end")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, approval.Enroll(file, bob))
	require.ErrorContains(t, approval.Enroll(file, approval.Approver{Name: "eve", Key: bob.Key, Proof: approval.Touch}), "the key is that of line 3")
	all, err := approval.ReadApprovers(file)
	require.NoError(t, err)
	ada.Line, bob.Line = 1, 3
	assert.Equal(t, []approval.Approver{ada, bob}, all)

	gone, err := approval.Withdraw(file, func(a approval.Approver) bool { return a.Name == "ada" })
	require.NoError(t, err)
	assert.Equal(t, []approval.Approver{ada}, gone)
	gone, err = approval.Withdraw(file, func(a approval.Approver) bool { return a.Name == "ada" })
	require.NoError(t, err)
	assert.Empty(t, gone)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "# a comment without an end\n"+bob.String()+"\n", string(text))

	require.NoError(t, os.WriteFile(file, append(text, "x\n"...), 0o600))
	require.Error(t, approval.Enroll(file, ada))
	_, err = approval.Withdraw(file, func(approval.Approver) bool { return true })
	require.ErrorContains(t, err, ":3: ")
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing lies about")
}

func TestAFileThatOthersCanWriteEnrollsNobody(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, file string){
		"others may write the file":      func(t *testing.T, file string) { require.NoError(t, os.Chmod(file, 0o602)) },
		"others may write the directory": func(t *testing.T, file string) { require.NoError(t, os.Chmod(filepath.Dir(file), 0o770)) },
		"a directory": func(t *testing.T, file string) {
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Mkdir(file, 0o700))
		},
		"a pipe": func(t *testing.T, file string) {
			require.NoError(t, os.Remove(file))
			require.NoError(t, syscall.Mkfifo(file, 0o600))
		},
		"another's": func(t *testing.T, file string) {
			if os.Getuid() != 0 {
				needs.Part(t, "only root can give files away")
			}
			require.NoError(t, os.Chown(file, 12345, -1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "fairlead", "approvers")
			require.NoError(t, approval.Enroll(file, approval.Approver{Name: "ada", Key: newKey(t).PublicKey(), Proof: approval.Passphrase}))
			prepare(t, file)
			_, err := approval.ReadApprovers(file)
			require.ErrorContains(t, err, "approval: ")
		})
	}
}

// What is read is written so that it is read again as the same, and never for another namespace.
func FuzzParseApprovers(f *testing.F) {
	f.Add([]byte("# x\nada" + ns + authorized(newKey(f).PublicKey()) + " proof=passphrase key=/x\n"))
	f.Add([]byte(`b namespaces="approve@fairlead",valid-after="20260101Z",valid-before="202701012359" ` + authorized(skKey(f)) + " c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := approval.ParseApprovers(data, "a")
		if err != nil {
			return
		}
		var text strings.Builder
		for _, a := range all {
			text.WriteString(a.String() + "\n")
		}
		again, err := approval.ParseApprovers([]byte(text.String()), "b")
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q is written as %q: %v", data, text.String(), err)
		}
		for i, a := range all {
			if a.String() != again[i].String() {
				t.Fatalf("%q became %q", a, again[i])
			}
		}
	})
}

func TestAKeyCountsFromItsBeginningToItsEnd(t *testing.T) {
	at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	before, after := at.Add(-time.Second), at.Add(time.Second)
	for _, tt := range []struct {
		from, to time.Time
		want     string
	}{
		{},
		{from: before},
		{from: at},
		{from: after, want: "the key of ada counts from 2026-06-01T00:00:01Z on"},
		{to: after},
		{to: at},
		{to: before, want: "the key of ada has counted until 2026-05-31T23:59:59Z: enroll a new one"},
		{from: before, to: after},
		{from: at, to: at},
		{from: after, to: before, want: "counts from"},
	} {
		err := approval.ValidAt(approval.Approver{Name: "ada", After: tt.from, Before: tt.to}, at)
		if tt.want == "" {
			assert.NoError(t, err, "%+v", tt)
			continue
		}
		assert.ErrorContains(t, err, tt.want, "%+v", tt)
	}
}

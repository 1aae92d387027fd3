package ssh_test

import (
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// Whatever begins through a keeper that has a connection already is refused once the host's key is not trusted any more.
func TestAKeeperBeginsNothingOnAHostThatIsNotTrustedAnyMore(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		known, err := os.ReadFile(a.sshd.KnownHosts)
		require.NoError(t, err)
		file, ran := filepath.Join(a.dir, "file"), filepath.Join(a.dir, "ran")
		require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
		ways := [][]string{
			{a.fairlead(), "run", "sshd", "--", "touch " + ran},
			{a.fairlead(), "exec", "sshd", "--", "touch " + ran},
			{a.ssh, "sshd", "touch " + ran},
			{a.fairlead(), "cp", file, "sshd:" + ran},
			{a.fairlead(), "fetch", "sshd:" + file, ran},
			{a.fairlead(), "jobs", "start", "sshd", "--", "touch " + ran},
		}
		if slices.Contains(a.env, "FAIRLEAD_KEEPER=require") { // which keeps sessions
			ways = append(ways, []string{a.fairlead(), "exec", "-s", "named", "sshd", "--", "touch " + ran})
		}
		warm := ways[len(ways)-1]
		require.Zero(t, a.run("", warm[0], append(warm[1:len(warm)-1:len(warm)-1], "true")...).Code)
		a.ok(a.fairlead(), "run", "sshd", "--", "true")
		other, err := sshserver.NewKey()
		require.NoError(t, err)
		for what, text := range map[string]string{
			"revoked": string(known) + "@revoked * " + string(ssh.MarshalAuthorizedKey(a.sshd.HostKey)),
			"changed": "* " + string(ssh.MarshalAuthorizedKey(other.PublicKey())),
			"removed": "",
		} {
			require.NoError(t, os.WriteFile(a.sshd.KnownHosts, []byte(text), 0o600))
			for _, words := range ways {
				r := a.run("", words[0], words[1:]...)
				assert.NotZero(t, r.Code, "%s: %q: %s", what, words, r.Out)
				assert.Regexp(t, map[string]string{"revoked": "is revoked", "changed": "(?i)has changed", "removed": "(?i)(unknown|not known)"}[what], r.Err, "%q", words)
			}
			assert.NoFileExists(t, ran, what)
			require.NoError(t, os.WriteFile(a.sshd.KnownHosts, known, 0o600))
			a.ok(a.fairlead(), "run", "sshd", "--", "true")
		}
	})
}

// A connection through an open forward is new work: it is refused once the host's key is not trusted any more, and what passes
// already goes on.
func TestAForwardTakesNoConnectionOnAHostThatIsNotTrustedAnyMore(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		known, err := os.ReadFile(a.sshd.KnownHosts)
		require.NoError(t, err)
		service := greeter(t)
		host, port, _ := net.SplitHostPort(service)
		n, _ := strconv.Atoi(port)
		socks := "\x05\x01\x00\x05\x01\x00\x03" + string(rune(len(host))) + host + string([]byte{byte(n >> 8), byte(n)})
		f := a.forward(4, "-L", "0:"+service, "-D", "0", "-R", "127.0.0.1:0:"+service, "-R", "127.0.0.1:0")
		firsts := []string{"", socks, "", socks}
		passing := make([]net.Conn, len(firsts))
		for i, first := range firsts {
			assert.Contains(t, through(f.open[i].Listen, first), "hello X")
			c, err := net.Dial("tcp", f.open[i].Listen)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
			_, err = io.WriteString(c, first+"ab")
			require.NoError(t, err)
			greeted := make([]byte, len("hello "))
			if first != "" {
				greeted = make([]byte, 12+len("hello "))
			}
			_, err = io.ReadFull(c, greeted)
			require.NoError(t, err)
			passing[i] = c
		}
		require.NoError(t, os.WriteFile(a.sshd.KnownHosts, []byte(string(known)+"@revoked * "+string(ssh.MarshalAuthorizedKey(a.sshd.HostKey))), 0o600))
		for i, first := range firsts {
			assert.NotContains(t, through(f.open[i].Listen, first), "hello", "%+v", f.open[i])
		}
		for i, c := range passing {
			_, err := io.WriteString(c, "c")
			require.NoError(t, err)
			require.NoError(t, c.(*net.TCPConn).CloseWrite())
			rest, err := io.ReadAll(c)
			assert.NoError(t, err)
			assert.Equal(t, "ABC", string(rest), "%+v", f.open[i])
		}
		faults := f.said.String
		if a.keeps() {
			faults = func() string { return a.ok(a.fairlead(), "forward", "list") }
		}
		for _, one := range f.open {
			assert.Regexp(t, "(?m)"+regexp.QuoteMeta(one.Listen)+".*is revoked", faults())
		}
		require.NoError(t, os.WriteFile(a.sshd.KnownHosts, known, 0o600))
		for i, first := range firsts {
			assert.Contains(t, through(f.open[i].Listen, first), "hello X", "it is trusted again: %+v", f.open[i])
		}
		f.end()
	})
}

// With a certificate that has expired nothing new begins; with the next one another connection takes the place, and the port of the
// host stays the same.
func TestAForwardGoesOnWithTheNextCertificate(t *testing.T) {
	authority, err := sshserver.NewKey()
	require.NoError(t, err)
	trusted := filepath.Join(t.TempDir(), "ca.pub")
	require.NoError(t, os.WriteFile(trusted, ssh.MarshalAuthorizedKey(authority.PublicKey()), 0o600))
	inPlaceOfSSH(t, func(a *asSSH) {
		certify := func(until time.Time) {
			c := &ssh.Certificate{Key: a.sshd.ClientKey.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{a.sshd.User}, ValidBefore: uint64(until.Unix()),
				Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": "", "permit-port-forwarding": ""}}}
			require.NoError(t, c.SignCert(rand.Reader, authority))
			require.NoError(t, os.WriteFile(a.sshd.KeyFile+"-cert.pub", ssh.MarshalAuthorizedKey(c), 0o600))
		}
		service := greeter(t)
		require.NoError(t, os.WriteFile(a.sshd.Authorized, nil, 0o600)) // the key alone does not log in
		until := time.Now().Add(15 * time.Second)
		certify(until)
		f := a.forward(2, "-L", "0:"+service, "-R", "127.0.0.1:0:"+service)
		var passing []net.Conn
		for _, one := range f.open {
			assert.Contains(t, through(one.Listen, ""), "hello X")
			c, err := net.Dial("tcp", one.Listen)
			require.NoError(t, err)
			defer c.Close()
			passing = append(passing, c)
		}
		require.Eventually(t, func() bool { return time.Now().After(until) }, time.Minute, 20*time.Millisecond)
		certify(time.Now().Add(time.Hour))
		assert.Contains(t, through(f.open[0].Listen, ""), "hello X")
		// The one that it comes with has come through the old connection.
		assert.NotContains(t, through(f.open[1].Listen, ""), "hello")
		require.Eventually(t, func() bool { return through(f.open[1].Listen, "") == "hello X" }, time.Minute, 20*time.Millisecond)
		for i, c := range passing {
			require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
			_, err := io.WriteString(c, "abc")
			require.NoError(t, err)
			require.NoError(t, c.(*net.TCPConn).CloseWrite())
			rest, err := io.ReadAll(c)
			assert.NoError(t, err)
			assert.Equal(t, "hello ABC", string(rest), "%+v", f.open[i])
		}
		f.end()
	}, "TrustedUserCAKeys "+trusted)
}

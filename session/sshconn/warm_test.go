package sshconn_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// reaches makes web1 OpenSSH's server for the account.
func (a *account) reaches(sshd *sessiontest.SSHD, more string) {
	a.t.Helper()
	h := sessiontest.Host(a.t, "", sshd.Addr)
	a.write("config", fmt.Sprintf("Host web1\n\tHostName %s\n\tPort %d\n\tUser %s\n\tIdentityFile %s\n%s\n", h.Addr, h.Port, sshd.User, sshd.KeyFile, more))
	text, err := knownHostsOf(sshd)
	require.NoError(a.t, err)
	a.write("known_hosts", text)
}

// warmth is a pool of connections to web1, and the one that was dialed last.
type warmth struct {
	*session.Pool
	last *sshconn.Conn
}

func (a *account) pool() *warmth {
	a.t.Helper()
	d := a.dialer()
	w := &warmth{}
	p, err := session.NewPool(session.PoolConfig{
		Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
			c, err := d.DialConn(ctx, h)
			if err != nil {
				return nil, err
			}
			w.last = c
			return c, nil
		},
		Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 500 * time.Millisecond},
	})
	require.NoError(a.t, err)
	a.t.Cleanup(func() { p.Close() })
	w.Pool = p
	return w
}

func (w *warmth) open(t *testing.T) *session.Session {
	t.Helper()
	s, err := w.Open(web1)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Run runs cmd by itself.
func (w *warmth) Run(ctx context.Context, cmd session.Command) (session.Result, error) {
	return w.Pool.Run(ctx, web1, cmd)
}

type runner interface {
	Run(context.Context, session.Command) (session.Result, error)
}

func ran(t *testing.T, s runner, script string) session.Result {
	t.Helper()
	r, err := s.Run(t.Context(), session.Command{Script: script})
	require.NoError(t, err)
	return r
}

func TestAWarmConnectionTakesNoNewWorkOnceItsHostIsNotTrustedAnyMore(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	line, err := knownHostsOf(sshd)
	require.NoError(t, err)
	name, bad := strings.Fields(line)[0], string(ssh.MarshalAuthorizedKey(sshd.HostKey))
	for what, tt := range map[string]struct {
		file, text string
		want       any
	}{
		"removed":            {"known_hosts", "", new(*knownhosts.UnknownError)},
		"replaced":           {"known_hosts", name + " " + string(ssh.MarshalAuthorizedKey(newKey(t).PublicKey())), new(*knownhosts.ChangedError)},
		"revoked":            {"known_hosts", line + "@revoked * " + bad, new(*knownhosts.RevokedError)},
		"in RevokedHostKeys": {"revoked", bad, new(*knownhosts.RevokedError)},
		"not to be told":     {"revoked", "junk\n", new(*sshconn.HostKeyError)},
	} {
		t.Run(what, func(t *testing.T) {
			a := newAccount(t)
			a.reaches(sshd, "RevokedHostKeys ~/.ssh/revoked")
			a.write("revoked", "")
			require.NoError(t, syscall.Mkfifo(a.path("fifo"), 0o600))
			p := a.pool()
			s := p.open(t)
			ran(t, s, "state=kept; cd /")
			x, err := p.open(t).Start(t.Context(), session.Command{Script: "cat " + a.path("fifo")})
			require.NoError(t, err)
			ran(t, p, "true")
			require.EqualValues(t, 1, p.Stats().Dialed)

			a.write(tt.file, tt.text)
			for i, other := range []runner{p, s, p.open(t)} {
				r, err := other.Run(t.Context(), session.Command{Script: "true"})
				require.ErrorIs(t, err, session.ErrHostKey, "%d", i)
				require.ErrorAs(t, err, tt.want, "%d", i)
				assert.Equal(t, session.StatusHostKey, r.Status)
			}
			assert.Equal(t, session.Running, x.Result().State)
			require.NoError(t, os.WriteFile(a.path("fifo"), []byte("still\n"), 0o600))
			<-x.Done()
			assert.Equal(t, "still\n", string(x.Result().Stdout), "what runs goes on")

			a.write("known_hosts", line)
			a.write("revoked", "")
			assert.Equal(t, "kept /\n", string(ran(t, s, "echo $state $PWD").Stdout), "nothing is lost while there is no other connection")
			ran(t, p, "true")
		})
	}
}

func TestAWarmConnectionGoesOnWhereKnownHostsChangesAndItsKeyDoesNot(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.reaches(sshd, "")
	line, err := knownHostsOf(sshd)
	require.NoError(t, err)
	p := a.pool()
	ran(t, p, "true")
	a.write("known_hosts", "other "+string(ssh.MarshalAuthorizedKey(newKey(t).PublicKey()))+line)
	ran(t, p, "true")
	a.write("known_hosts", "* "+string(ssh.MarshalAuthorizedKey(sshd.HostKey)))
	ran(t, p, "true")
	assert.EqualValues(t, 1, p.Stats().Dialed)
}

func TestAWarmConnectionWhoseKeyIsRecordedNowhereIsKept(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.new = true
	a.reaches(sshd, "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null")
	p := a.pool()
	ran(t, p, "true")
	ran(t, p, "true")
	assert.EqualValues(t, 1, p.Stats().Dialed)
}

// certify writes a certificate for the key of sshd's account, next to the key.
func certify(t *testing.T, sshd *sessiontest.SSHD, authority ssh.Signer, until time.Time) {
	t.Helper()
	cert := &ssh.Certificate{Key: sshd.ClientKey.PublicKey(), CertType: ssh.UserCert, KeyId: "ada", ValidPrincipals: []string{sshd.User},
		ValidBefore: uint64(until.Unix()), Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": ""}}}
	require.NoError(t, cert.SignCert(rand.Reader, authority))
	require.NoError(t, os.WriteFile(sshd.KeyFile+"-cert.pub", ssh.MarshalAuthorizedKey(cert), 0o600))
}

func TestAWarmConnectionTakesNoNewWorkOnceItsCertificateHasExpired(t *testing.T) {
	authority := newKey(t)
	file := filepath.Join(t.TempDir(), "authority")
	require.NoError(t, os.WriteFile(file, ssh.MarshalAuthorizedKey(authority.PublicKey()), 0o600))
	sshd := sessiontest.OpenSSHD(t, "TrustedUserCAKeys "+file)
	require.NoError(t, os.WriteFile(sshd.Authorized, nil, 0o600))
	certify(t, sshd, authority, time.Now().Add(time.Hour))
	a := newAccount(t)
	a.reaches(sshd, "CertificateFile "+sshd.KeyFile+"-cert.pub")
	p := a.pool()
	s := p.open(t)
	ran(t, s, "export STATE=kept; cd /")
	ran(t, p, "true")
	require.EqualValues(t, 1, p.Stats().Dialed)

	p.last.Expire()
	certify(t, sshd, authority, time.Now().Add(-time.Hour))
	for i, other := range []runner{p, s, p.open(t)} {
		r, err := other.Run(t.Context(), session.Command{Script: "true"})
		require.ErrorIs(t, err, session.ErrAuth, "%d", i)
		assert.ErrorContains(t, err, "the certificate expired at ")
		assert.Equal(t, session.StatusAuth, r.Status)
	}
	certify(t, sshd, authority, time.Now().Add(time.Hour))
	r := ran(t, s, "echo $STATE $PWD")
	assert.Equal(t, "kept /\n", string(r.Stdout), "the new shell has what the old one had")
	assert.True(t, r.ShellRestarted)
	assert.True(t, r.Reconnected)
	ran(t, p, "true")
	assert.EqualValues(t, 2, p.Stats().Dialed)
	assert.Zero(t, p.Stats().ClosedDead)
	assert.EqualValues(t, 1, p.Stats().ClosedOld)
}

// As with OpenSSH's own connections: an agent decides what it signs, not how long a login lasts.
func TestAWarmConnectionOutlivesItsKeyInTheAgent(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	text, err := os.ReadFile(sshd.KeyFile)
	require.NoError(t, err)
	private, err := ssh.ParseRawPrivateKey(text)
	require.NoError(t, err)
	require.NoError(t, os.Remove(sshd.KeyFile))
	require.NoError(t, os.Remove(sshd.KeyFile+".pub"))
	ring := agent.NewKeyring()
	require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: private, LifetimeSecs: 3600}))
	a := newAccount(t)
	a.agent = serveAgent(t, func(c net.Conn) { _ = agent.ServeAgent(ring, c) })
	a.reaches(sshd, "")
	p := a.pool()
	s := p.open(t)
	ran(t, s, "true")
	require.NoError(t, ring.RemoveAll()) // as the end of the lifetime does
	ran(t, s, "true")
	ran(t, p, "true")
	assert.EqualValues(t, 1, p.Stats().Dialed)
	_, err = a.dialer().Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "there was no key to offer")
}

func TestAWarmJumpHostThatIsNotTrustedAnyMoreEndsWhatGoesThroughIt(t *testing.T) {
	gate, target := sessiontest.OpenSSHD(t), sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.reaches(target, "ProxyJump gate")
	h := sessiontest.Host(t, "", gate.Addr)
	config, err := os.ReadFile(a.path("config"))
	require.NoError(t, err)
	a.write("config", string(config)+fmt.Sprintf("Host gate\n\tHostName %s\n\tPort %d\n\tUser %s\n\tIdentityFile %s\n", h.Addr, h.Port, gate.User, gate.KeyFile))
	of := func(s *sessiontest.SSHD) string {
		line, err := knownHostsOf(s)
		require.NoError(t, err)
		return line
	}
	a.write("known_hosts", of(gate)+of(target))
	p := a.pool()
	s := p.open(t)
	ran(t, s, "true")
	a.write("known_hosts", of(target))
	for _, other := range []runner{s, p} {
		_, err := other.Run(t.Context(), session.Command{Script: "true"})
		var unknown *knownhosts.UnknownError
		require.ErrorAs(t, err, &unknown)
		assert.ErrorContains(t, err, "through gate")
	}
	a.write("known_hosts", of(gate)+of(target))
	ran(t, s, "true")
}

package sshconn_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// account is a home directory and an environment, and nothing of the machine's own.
type account struct {
	t     *testing.T
	home  string
	agent string
	ask   func(ctx context.Context, file string) ([]byte, error)
	new   bool
}

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{t: t, home: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(a.home, ".ssh"), 0o700))
	return a
}

func (a *account) path(name string) string { return filepath.Join(a.home, ".ssh", name) }

func (a *account) write(name, text string) string {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(a.path(name), []byte(text), 0o600))
	return a.path(name)
}

// key writes a fresh key, encrypted if there is a passphrase.
func (a *account) key(name, passphrase string) ssh.PublicKey {
	a.t.Helper()
	private, signer := freshKey(a.t)
	var block *pem.Block
	var err error
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, name)
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, name, []byte(passphrase))
	}
	require.NoError(a.t, err)
	a.write(name, string(pem.EncodeToMemory(block)))
	return signer.PublicKey()
}

// knows writes the servers' host keys to known_hosts.
func (a *account) knows(servers ...*sshserver.Server) {
	a.t.Helper()
	for _, s := range servers {
		h := sessiontest.Host(a.t, "", s.Addr())
		require.NoError(a.t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name(h.Addr, h.Port), s.HostKey(), knownhosts.AppendOptions{}))
	}
}

// config writes ssh_config: host names for servers, and then more.
func (a *account) config(more string, servers ...*sshserver.Server) {
	a.t.Helper()
	var b strings.Builder
	for i, s := range servers {
		h := sessiontest.Host(a.t, "", s.Addr())
		fmt.Fprintf(&b, "Host web%d\n\tHostName %s\n\tPort %d\n", i+1, h.Addr, h.Port)
	}
	a.write("config", b.String()+"Host *\n"+more+"\n")
}

func (a *account) dialer() *sshconn.Dialer {
	a.t.Helper()
	d, err := sshconn.Default(a.defaults())
	require.NoError(a.t, err)
	return d
}

func (a *account) defaults() sshconn.DefaultConfig {
	return sshconn.DefaultConfig{
		Passphrase: a.ask,
		AcceptNew:  a.new,
		Loader: sshconfig.Loader{
			Home: a.home, User: "tester", UID: "1000", Hostname: "controller", SystemDir: a.path("none"),
			LookupEnv: func(name string) (string, bool) {
				return a.agent, name == "SSH_AUTH_SOCK" && a.agent != ""
			},
		},
	}
}

func accepting(t *testing.T, keys ...ssh.PublicKey) *sshserver.Server {
	t.Helper()
	return sessiontest.Server(t, sshserver.Config{ClientKeys: keys, Program: echo})
}

func TestDefaultConnectsAsSSHWould(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.knows(server)
	a.config("User somebody", server)
	tr := dial(t, a.dialer(), hosts.Host{Name: "web1"})
	assert.Equal(t, "somebody", tr.Peer().User)
	assert.Equal(t, server.Addr(), tr.Peer().Addr)
	h := hosts.Host{Name: "web1", User: "me"}
	assert.Equal(t, "me", dial(t, a.dialer(), h).Peer().User, "what the host says wins")
}

func TestDefaultNeedsNoConfiguration(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.knows(server)
	h := sessiontest.Host(t, "web1", server.Addr())
	h.User = ""
	assert.Equal(t, "tester", dial(t, a.dialer(), h).Peer().User)
	a.write("config", "Host *\n\tUser from-config\n")
	h.SSHConfig = "none"
	assert.Equal(t, "tester", dial(t, a.dialer(), h).Peer().User, "none is none")
}

func TestDefaultJumpsAsConfigured(t *testing.T) {
	a := newAccount(t)
	key := a.key("id_ed25519", "")
	bastion, target := accepting(t, key), accepting(t, key)
	a.knows(bastion, target)
	a.config("User u", target, bastion)
	text, err := os.ReadFile(a.path("config"))
	require.NoError(t, err)
	a.write("config", "Host web1\n\tProxyJump ops@web2\n"+string(text))
	tr := dial(t, a.dialer(), hosts.Host{Name: "web1"})
	assert.Equal(t, []string{"web2"}, tr.Peer().Via)
	assert.Equal(t, 1, bastion.Accepted())
	require.NoError(t, tr.Close())

	tr = dial(t, a.dialer(), hosts.Host{Name: "web1", Via: []string{"web2"}})
	assert.Equal(t, []string{"web2"}, tr.Peer().Via)
	require.NoError(t, tr.Close())
	gone(t, bastion, target)
}

func TestConfigurationAndHostKeysAreReadAgainWhenTheyChange(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.config("User one", server)
	d := a.dialer()
	_, err := d.Dial(t.Context(), hosts.Host{Name: "web1"})
	require.ErrorIs(t, err, session.ErrHostKey)
	a.knows(server)
	assert.Equal(t, "one", dial(t, d, hosts.Host{Name: "web1"}).Peer().User)
	a.config("User another", server)
	c, err := d.DialConn(t.Context(), hosts.Host{Name: "web1"})
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, "another", c.Peer().User)

	require.NoError(t, c.CheckHostKey())
	a.write("known_hosts", "@revoked * "+string(ssh.MarshalAuthorizedKey(server.HostKey())))
	var revoked *knownhosts.RevokedError
	require.ErrorAs(t, c.CheckHostKey(), &revoked)
	assert.ErrorIs(t, c.CheckHostKey(), session.ErrHostKey)
}

func TestAnUnknownHostKeyIsRecordedOnlyWhereThatWasAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		strict string
		opt    bool
		want   bool
	}{
		"asked for twice":          {"accept-new", true, true},
		"only in ssh_config":       {"accept-new", false, false},
		"switched off altogether":  {"no", true, true},
		"switched off, not opted":  {"no", false, false},
		"only by the program":      {"yes", true, false},
		"nowhere, which means ask": {"ask", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			a.new = c.opt
			server := accepting(t, a.key("id_ed25519", ""))
			a.config("StrictHostKeyChecking "+c.strict, server)
			d := a.dialer()
			conn, err := d.Dial(t.Context(), hosts.Host{Name: "web1"})
			if !c.want {
				require.ErrorIs(t, err, session.ErrHostKey)
				assert.NoFileExists(t, a.path("known_hosts"))
				return
			}
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			assert.FileExists(t, a.path("known_hosts"))
			server.SetFaults(sshserver.Faults{HostKey: newKey(t)})
			_, err = d.Dial(t.Context(), hosts.Host{Name: "web1"})
			var changed *knownhosts.ChangedError
			assert.ErrorAs(t, err, &changed, "another key is never taken")
		})
	}
}

func TestAPassphraseIsAskedForOnceAndOnlyWhenTheKeyIsAccepted(t *testing.T) {
	a := newAccount(t)
	a.key("id_rsa_other", "never asked for")
	good := a.key("id_good", "secret")
	server := accepting(t, good)
	a.knows(server)
	a.config("IdentityFile ~/.ssh/id_rsa_other\n\tIdentityFile ~/.ssh/id_good", server)
	var asked atomic.Int32
	a.ask = func(_ context.Context, file string) ([]byte, error) {
		assert.Equal(t, a.path("id_good"), file)
		if asked.Add(1) == 1 {
			return []byte("mistyped"), nil
		}
		return []byte("secret"), nil
	}
	d := a.dialer()
	errs := make(chan error, 5)
	for range cap(errs) {
		go func() {
			c, err := d.Dial(t.Context(), hosts.Host{Name: "web1"})
			if err == nil {
				err = c.Close()
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		assert.NoError(t, <-errs)
	}
	assert.EqualValues(t, 2, asked.Load(), "one mistake, one success, and then it is kept")
}

func TestWhoGivesUpDoesNotWaitForAnothersPassphrase(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", "secret"))
	a.knows(server)
	a.config("", server)
	asked, release := make(chan struct{}), make(chan struct{})
	a.ask = func(context.Context, string) ([]byte, error) {
		close(asked)
		<-release
		return []byte("secret"), nil
	}
	d := a.dialer()
	first := make(chan error, 1)
	go func() {
		c, err := d.Dial(t.Context(), hosts.Host{Name: "web1"})
		if err == nil {
			err = c.Close()
		}
		first <- err
	}()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := d.Dial(ctx, hosts.Host{Name: "web1"})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	close(release)
	assert.NoError(t, <-first)
}

func TestAPersonMayTakeLongerThanTheTimeout(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", "secret"))
	a.knows(server)
	a.config("", server)
	timeout := 2 * time.Second
	a.ask = func(ctx context.Context, _ string) ([]byte, error) {
		timer := time.NewTimer(timeout + timeout/4)
		defer timer.Stop()
		select {
		case <-timer.C:
			return []byte("secret"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	dial(t, a.dialer(), hosts.Host{Name: "web1", ConnectTimeout: timeout})
}

func TestTheErrorSaysWhichKeysWereOfferedAndWhichWereNotAndWhy(t *testing.T) {
	a := newAccount(t)
	offered := a.key("offered", "")
	a.key("open", "")
	require.NoError(t, os.Chmod(a.path("open"), 0o644))
	a.write("junk", "not a key")
	a.key("locked", "secret")
	server := accepting(t, newKey(t).PublicKey())
	a.knows(server)
	a.config("IdentitiesOnly yes\n\tIdentityFile ~/.ssh/missing\n\tIdentityFile ~/.ssh/open\n\tIdentityFile ~/.ssh/junk\n"+
		"\tIdentityFile ~/.ssh/offered\n\tIdentityFile ~/.ssh/locked", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	require.ErrorIs(t, err, session.ErrAuth)
	var refused *sshconn.AuthError
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Offered, 2)
	assert.Equal(t, sshconn.Offered{From: a.path("offered"), Type: "ssh-ed25519", Fingerprint: ssh.FingerprintSHA256(offered)}, refused.Offered[0])
	assert.Equal(t, a.path("locked"), refused.Offered[1].From)
	assert.Equal(t, []string{a.path("missing"), a.path("open"), a.path("junk")}, from(refused.Skipped))
	assert.ErrorContains(t, err, "missing (there is no such file)")
	assert.ErrorContains(t, err, "other accounts may read it (mode 0644); chmod 600 it")
	assert.ErrorContains(t, err, "no private key in a format that is known")
}

func TestAnEncryptedKeyThatIsAcceptedSaysThatNobodyCouldOpenIt(t *testing.T) {
	a := newAccount(t)
	locked, plain := a.key("locked", "secret"), a.key("plain", "")
	server := accepting(t, locked)
	a.knows(server)
	a.config("IdentityFile ~/.ssh/locked\n\tIdentityFile ~/.ssh/plain", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "which was accepted, but there is no signature: the key is encrypted; add it to the agent with ssh-add")
	assert.ErrorContains(t, err, ssh.FingerprintSHA256(plain), "the next key is tried all the same")

	a.ask = func(context.Context, string) ([]byte, error) { return []byte("wrong"), nil }
	_, err = a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.ErrorContains(t, err, "the passphrase is wrong")
	assert.ErrorContains(t, err, "; try again, or add the key to the agent with ssh-add")
	assert.NotContains(t, err.Error(), "authorized_keys", "the server has it")
	assert.NotContains(t, err.Error(), "secret")
}

func TestNoMoreKeysAreOfferedThanAServerTakes(t *testing.T) {
	a := newAccount(t)
	var lines []string
	for i := range 8 {
		a.key(fmt.Sprintf("k%d", i), "")
		lines = append(lines, fmt.Sprintf("IdentityFile ~/.ssh/k%d", i))
	}
	server := accepting(t, newKey(t).PublicKey())
	a.knows(server)
	a.config(strings.Join(lines, "\n"), server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	require.ErrorIs(t, err, session.ErrAuth)
	var refused *sshconn.AuthError
	require.ErrorAs(t, err, &refused)
	assert.Len(t, refused.Offered, 6) // then this server hangs up
	assert.Equal(t, []string{a.path("k6"), a.path("k7")}, from(refused.Skipped))
	assert.ErrorContains(t, err, "hang up after 6 tries")
}

func TestTheHostsOwnKeysComeFirst(t *testing.T) {
	a := newAccount(t)
	a.key("id_ed25519", "")
	a.key("configured", "")
	a.key("own", "")
	server := accepting(t, newKey(t).PublicKey())
	a.knows(server)
	a.config("IdentityFile ~/.ssh/configured", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", Identity: []string{"~/.ssh/own"}})
	var refused *sshconn.AuthError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []string{a.path("own"), a.path("configured")}, offeredFrom(refused.Offered))
}

func from(skipped []sshconn.Skipped) (out []string) {
	for _, s := range skipped {
		out = append(out, s.From)
	}
	return out
}

func offeredFrom(offered []sshconn.Offered) (out []string) {
	for _, o := range offered {
		out = append(out, o.From)
	}
	return out
}

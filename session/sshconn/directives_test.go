package sshconn_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// said returns what a command on web1 prints.
func said(t *testing.T, a *account, line string) string {
	t.Helper()
	s, err := dial(t, a.dialer(), hosts.Host{Name: "web1"}).Open(t.Context(), session.Program{Line: line})
	require.NoError(t, err)
	out, err := io.ReadAll(s)
	require.NoError(t, err)
	return string(out)
}

// with returns an account that reaches web1, a server with a shell, and has more in its ssh_config.
func with(t *testing.T, more string) *account {
	t.Helper()
	a := newAccount(t)
	server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{a.key("id_ed25519", "")}})
	a.knows(server)
	a.config(more, server)
	return a
}

func TestTheAddressToConnectFrom(t *testing.T) {
	from := `printf %s "${SSH_CONNECTION%% *}"`
	assert.Equal(t, "127.0.0.1", said(t, with(t, ""), from))
	assert.Equal(t, "127.0.0.9", said(t, with(t, "BindAddress 127.0.0.9"), from))
	assert.Equal(t, "127.0.0.9", said(t, with(t, "BindInterface no-such-interface\nBindAddress 127.0.0.9"), from), "as with ssh the address goes first")
	lo, err := net.InterfaceByName("lo")
	if err == nil {
		assert.Equal(t, "127.0.0.1", said(t, with(t, "BindInterface "+lo.Name), from))
	}
	for more, want := range map[string]string{
		"BindInterface no-such-interface":                "BindInterface no-such-interface: ",
		"AddressFamily inet6\nBindAddress 127.0.0.1":     "BindAddress 127.0.0.1: it has no address to connect from",
		"BindAddress ::1":                                "web1",
		"AddressFamily inet6":                            "config:5: AddressFamily inet6: 127.0.0.1 has no such address",
		"BindAddress 192.0.2.1":                          "config:5: BindAddress 192.0.2.1: ",
		"AddressFamily inet6\nBindInterface no-such-one": "no-such-one",
	} {
		_, err := with(t, more).dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
		assert.ErrorContains(t, err, want, more)
	}
	assert.Equal(t, "127.0.0.1", said(t, with(t, "AddressFamily inet"), from))

	cfg := with(t, "BindAddress 127.0.0.9").defaults()
	cfg.DialContext = new(net.Dialer).DialContext
	d, err := sshconn.Default(cfg)
	require.NoError(t, err)
	_, err = d.Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.ErrorContains(t, err, "BindAddress 127.0.0.9 cannot be obeyed with a DialContext of your own")
}

func TestConnectionAttempts(t *testing.T) {
	for more, want := range map[string]int{"": 1, "ConnectionAttempts 3": 3} {
		a := newAccount(t)
		a.write("config", "Host web1\n"+more+"\n")
		synctest.Test(t, func(t *testing.T) {
			cfg, tries, begin := a.defaults(), 0, time.Now()
			cfg.DialContext = func(context.Context, string, string) (net.Conn, error) {
				tries++
				return nil, errors.New("not yet")
			}
			d, err := sshconn.Default(cfg)
			require.NoError(t, err)
			_, err = d.Dial(t.Context(), hosts.Host{Name: "web1"})
			assert.ErrorContains(t, err, "not yet")
			assert.Equal(t, want, tries)
			assert.Equal(t, time.Duration(want-1)*time.Second, time.Since(begin))
		})
	}
}

// silentAtFirst is a network whose host does not answer the first n attempts.
func silentAtFirst(n int, tries *int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if *tries++; *tries > n {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

func TestConnectTimeoutIsForEachOfTheConnectionAttempts(t *testing.T) {
	a := newAccount(t)
	a.write("config", "Host web1\nConnectTimeout 5\nConnectionAttempts 3\n")
	synctest.Test(t, func(t *testing.T) {
		cfg, tries, began := a.defaults(), 0, time.Now()
		cfg.DialContext = silentAtFirst(10, &tries)
		d, err := sshconn.Default(cfg)
		require.NoError(t, err)
		_, err = d.Dial(t.Context(), web1)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "no answer within 5s")
		assert.Equal(t, 3, tries)
		assert.Equal(t, 17*time.Second, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		began = time.Now()
		_, err = d.Dial(ctx, web1)
		assert.Error(t, err)
		assert.Equal(t, 7*time.Second, time.Since(began), "the caller's time ends all of them")
	})

	sshd := sessiontest.OpenSSHD(t)
	a = newAccount(t)
	a.reaches(sshd, "ConnectionAttempts 3")
	cfg, tries := a.defaults(), 0
	cfg.DialContext, cfg.ConnectTimeout = silentAtFirst(1, &tries), 2*time.Second
	d, err := sshconn.Default(cfg)
	require.NoError(t, err)
	out, _, _ := through(t, dial(t, d, web1), sshconn.Piped{Line: "echo in"}, "")
	assert.Equal(t, "in\n", out)
	assert.Equal(t, 2, tries)
}

func TestAlgorithmsAreThoseOfTheConfiguration(t *testing.T) {
	for more, check := range map[string]func(ssh.NegotiatedAlgorithms) string{
		"Ciphers aes256-ctr":                       func(n ssh.NegotiatedAlgorithms) string { return n.Write.Cipher },
		"MACs hmac-sha2-512\nCiphers -*gcm*,cha*":  func(n ssh.NegotiatedAlgorithms) string { return n.Read.MAC },
		"KexAlgorithms ecdh-sha2-nistp521,sntrup*": func(n ssh.NegotiatedAlgorithms) string { return n.KeyExchange },
		"HostKeyAlgorithms ssh-ed25519":            func(n ssh.NegotiatedAlgorithms) string { return n.HostKey },
	} {
		c, err := with(t, more).dialer().DialConn(t.Context(), hosts.Host{Name: "web1"})
		require.NoError(t, err, more)
		t.Cleanup(func() { c.Close() })
		want := strings.FieldsFunc(more, func(r rune) bool { return r == ' ' || r == '\n' || r == ',' })[1]
		assert.Equal(t, want, check(sshconn.Negotiated(c)))
	}
}

func TestListsOfAlgorithms(t *testing.T) {
	settings := func(t *testing.T, more string) (*ssh.ClientConfig, error) {
		a := newAccount(t)
		a.write("config", "Host *\n"+more+"\n")
		return sshconn.Settings(a.dialer(), hosts.Host{Name: "web1"})
	}
	usual, err := settings(t, "")
	require.NoError(t, err)
	assert.NotContains(t, usual.KeyExchanges, "diffie-hellman-group1-sha1")
	assert.EqualValues(t, 1<<40, usual.RekeyThreshold, "the server begins")
	s, err := settings(t, "KexAlgorithms +diffie-hellman-group1-sha1,sntrup761x25519-sha512@openssh.com\nCiphers ^aes256-ctr\nMACs -hmac-sha1,*-etm@openssh.com\n"+
		"HostKeyAlgorithms +ssh-rsa\nRekeyLimit 1M 1h")
	require.NoError(t, err)
	assert.Equal(t, append(usual.KeyExchanges, "diffie-hellman-group1-sha1"), s.KeyExchanges)
	assert.Equal(t, "aes256-ctr", s.Ciphers[0])
	assert.Len(t, s.Ciphers, len(usual.Ciphers))
	assert.Equal(t, []string{"hmac-sha2-256", "hmac-sha2-512"}, s.MACs)
	assert.Equal(t, append(usual.HostKeyAlgorithms, "ssh-rsa"), s.HostKeyAlgorithms)
	assert.EqualValues(t, 1<<20, s.RekeyThreshold)
	for more, want := range map[string]string{
		"Ciphers +aes256-cbc":                  `config:2: Ciphers +aes256-cbc: "aes256-cbc" is not supported; remove it`,
		"KexAlgorithms sntrup761x25519-sha512": "config:2: KexAlgorithms sntrup761x25519-sha512: none of these is supported; add one of ",
		"MACs -*":                              "config:2: MACs -*: none of these is supported",
		"HostKeyAlgorithms ssh-new":            "config:2: HostKeyAlgorithms ssh-new: none of these",
		"PubkeyAcceptedAlgorithms +ssh-dss":    "config:2: PubkeyAcceptedAlgorithms +ssh-dss: ",
		"CASignatureAlgorithms none@at.all":    "config:2: CASignatureAlgorithms none@at.all: none of these",
		// With a matcher that tries each * everywhere this takes longer than the universe is old.
		"HostKeyAlgorithms " + strings.Repeat("*?", 14) + strings.Repeat("*", 20) + "x": "none of these is supported",
		"PreferredAuthentications hostbased":                                            "config:2: PreferredAuthentications hostbased, and no other way to log in is allowed: change it for this host",
		"PubkeyAuthentication no\nBatchMode yes":                                        "config:2: PubkeyAuthentication no, and no other way to log in is allowed",
		"PreferredAuthentications password\nBatchMode yes":                              "config:2: PreferredAuthentications password, and no other way",
	} {
		_, err := settings(t, more)
		assert.ErrorContains(t, err, want)
	}
	_, err = settings(t, "PreferredAuthentications password,publickey")
	assert.NoError(t, err)
}

func TestKeysThatTheConfigurationDoesNotAllowAreNotOffered(t *testing.T) {
	a := newAccount(t)
	good := a.key("id_good", "")
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	a.write("id_rsa", string(pem.EncodeToMemory(block)))
	server := accepting(t, newKey(t).PublicKey())
	a.knows(server)
	keys := "IdentityFile ~/.ssh/id_rsa\n\tIdentityFile ~/.ssh/id_good\n\t"
	for more, want := range map[string]string{
		"":                                       "",
		"RequiredRSASize 2048":                   "",
		"RequiredRSASize 3072":                   "id_rsa (it has 2048 bits, and RequiredRSASize is 3072 (",
		"PubkeyAcceptedAlgorithms ssh-ed25519":   "id_rsa (PubkeyAcceptedAlgorithms (",
		"PubkeyAcceptedAlgorithms rsa-sha2-*":    "id_good (PubkeyAcceptedAlgorithms (",
		"PubkeyAcceptedAlgorithms -ssh-ed25519*": "id_good (PubkeyAcceptedAlgorithms (",
	} {
		a.config(keys+more, server)
		_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
		var refused *sshconn.AuthError
		require.ErrorAs(t, err, &refused, more)
		if want == "" {
			assert.Len(t, refused.Offered, 2)
			assert.Empty(t, refused.Skipped)
			continue
		}
		assert.Len(t, refused.Offered, 1)
		assert.ErrorContains(t, err, want)
	}
	a.config("IdentityFile ~/.ssh/id_good\n\tPubkeyAcceptedAlgorithms rsa-sha2-256", accepting(t, good))
	_, err = a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.Error(t, err)
}

// SHA-1 is used where ssh_config says so, and only there.
func TestAnOldServerThatOnlyKnowsSHA1(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "PubkeyAcceptedAlgorithms ssh-rsa")
	a := newAccount(t)
	keygen(t, a.path("id_rsa"), "rsa")
	authorize(t, sshd, a.path("id_rsa.pub"))
	h := sshd.Host(t, "web1")
	known, err := knownHostsOf(sshd)
	require.NoError(t, err)
	a.write("known_hosts", known)
	for more, ok := range map[string]bool{"": false, "PubkeyAcceptedAlgorithms ssh-rsa": true} {
		a.write("config", "Host *\n"+more+"\n")
		c, err := a.dialer().Dial(t.Context(), h)
		if !ok {
			require.ErrorIs(t, err, session.ErrAuth)
			continue
		}
		require.NoError(t, err, more)
		require.NoError(t, c.Close())
	}
}

func TestHostKeysThatTheConfigurationDoesNotAllow(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	key, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	authority := newKey(t)
	for name, c := range map[string]struct {
		key        ssh.Signer
		more, want string
	}{
		"a key that is long enough":          {key, "RequiredRSASize 2048", ""},
		"a short key":                        {key, "RequiredRSASize 4096", "the host's key has 2048 bits, and RequiredRSASize is 4096 ("},
		"an authority of the allowed kind":   {nil, "CASignatureAlgorithms ssh-ed25519", ""},
		"an authority of a kind not allowed": {nil, "CASignatureAlgorithms rsa-sha2-512", "its certificate does not count, because it is signed with ssh-ed25519, which CASignatureAlgorithms ("},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			client := a.key("id_ed25519", "")
			hostKey, line := c.key, ""
			if hostKey == nil {
				plain := newKey(t)
				cert := &ssh.Certificate{Key: plain.PublicKey(), CertType: ssh.HostCert, ValidBefore: ssh.CertTimeInfinity}
				require.NoError(t, cert.SignCert(rand.Reader, authority))
				hostKey, err = ssh.NewCertSigner(cert, plain)
				require.NoError(t, err)
				line = "@cert-authority * " + string(ssh.MarshalAuthorizedKey(authority.PublicKey()))
			} else {
				line = "* " + string(ssh.MarshalAuthorizedKey(hostKey.PublicKey()))
			}
			server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{client}, HostKey: hostKey, Program: echo})
			a.write("known_hosts", line)
			a.config(c.more, server)
			conn, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
			if c.want == "" {
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				return
			}
			require.ErrorIs(t, err, session.ErrHostKey)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// As with ssh, the list is about authorities that are known. Where none is, or it is not allowed, the certificate's plain key counts.
func TestCASignatureAlgorithmsLeaveAPlainKeyThatIsKnown(t *testing.T) {
	dir := t.TempDir()
	host, ca := filepath.Join(dir, "host"), filepath.Join(dir, "ca")
	keygen(t, host, "ed25519")
	keygen(t, ca, "ecdsa")
	out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "host", "-h", host+".pub").CombinedOutput()
	require.NoError(t, err, "%s", out)
	sshd := sessiontest.OpenSSHD(t, "HostKey "+host, "HostCertificate "+host+"-cert.pub")
	plain, err := os.ReadFile(host + ".pub")
	require.NoError(t, err)
	authority, err := os.ReadFile(ca + ".pub")
	require.NoError(t, err)
	const other = "CASignatureAlgorithms ssh-ed25519,rsa-sha2-512"
	for _, c := range []struct {
		known, more string
		ok          bool
	}{
		{"* " + string(plain), other, true},
		{"* " + string(plain) + "@cert-authority * " + string(authority), other, true},
		{"@cert-authority * " + string(authority), other, false},
		{"@cert-authority * " + string(authority), "CASignatureAlgorithms ecdsa-sha2-*", true},
	} {
		a := newAccount(t)
		a.reaches(sshd, "GlobalKnownHostsFile none\nStrictHostKeyChecking yes\n"+c.more)
		a.write("known_hosts", c.known)
		code, _, text := a.asSSH(t, "web1", "true")
		assert.Equal(t, c.ok, code == 0, "ssh: %q %q: %s", c.known, c.more, text)
		conn, err := a.dialer().Dial(t.Context(), web1)
		if c.ok {
			if assert.NoError(t, err, "%q %q", c.known, c.more) {
				conn.Close()
			}
			continue
		}
		require.ErrorIs(t, err, session.ErrHostKey)
		assert.ErrorContains(t, err, "it is signed with ecdsa-sha2-nistp256, which CASignatureAlgorithms (")
	}
}

func TestBatchModeAsksNoPerson(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", "secret"))
	a.knows(server)
	a.ask = func(context.Context, string) ([]byte, error) { return []byte("secret"), nil }
	a.config("BatchMode yes", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.ErrorContains(t, err, "the key is encrypted; add it to the agent with ssh-add")
	a.config("BatchMode no", server)
	dial(t, a.dialer(), hosts.Host{Name: "web1"})
}

func TestSetEnvIsSentWithEveryProgram(t *testing.T) {
	assert.Equal(t, "a b|c", said(t, with(t, `SetEnv ONE="a b" TWO=c`), `printf %s "$ONE|$TWO"`))
}

// What a virtual machine's ssh_config often says: keys are kept nowhere.
func TestAKeyIsTakenWhereKnownHostsIsTheNullDevice(t *testing.T) {
	a := newAccount(t)
	a.new = true
	server := accepting(t, a.key("id_ed25519", ""))
	a.config("StrictHostKeyChecking no\n\tUserKnownHostsFile /dev/null", server)
	dial(t, a.dialer(), hosts.Host{Name: "web1"})
	info, err := os.Stat("/dev/null")
	require.NoError(t, err)
	assert.Equal(t, os.ModeDevice|os.ModeCharDevice, info.Mode().Type())
}

package sshconn_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// What ssh_config(5) says that people with many hosts have, against OpenSSH's server, and next to its client.

// asSSH runs the real ssh with the account's configuration.
func (a *account) asSSH(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-F", a.path("config"), "-oUserKnownHostsFile=" + a.path("known_hosts"),
		"-oGlobalKnownHostsFile=none", "-oBatchMode=yes", "-oControlPath=none"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "SSH_AUTH_SOCK=" + a.agent}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// oldServer gives what OpenSSH gives only where it is asked to, with an RSA key beside the usual one.
func oldServer(t *testing.T, more ...string) *sessiontest.SSHD {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rsa")
	keygen(t, file, "rsa")
	sshd := sessiontest.OpenSSHD(t, append(more, "HostKey "+file)...)
	line, err := knownHostsOf(sshd)
	require.NoError(t, err)
	key, err := os.ReadFile(file + ".pub")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sshd.KnownHosts, []byte(line+strings.Fields(line)[0]+" "+string(key)), 0o600))
	return sshd
}

// negotiated are the algorithms that ssh -v tells, as Fairlead has them.
func negotiated(said string) (n ssh.NegotiatedAlgorithms) {
	word := func(after string) string {
		_, rest, _ := strings.Cut(said, after)
		rest, _, _ = strings.Cut(rest, " ")
		rest, _, _ = strings.Cut(rest, "\n")
		return strings.TrimSpace(rest)
	}
	n.KeyExchange, n.HostKey = word("kex: algorithm: "), word("kex: host key algorithm: ")
	mac := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "<implicit>"), "\r") }
	in, out := "kex: server->client cipher: ", "kex: client->server cipher: "
	n.Read.Cipher, n.Write.Cipher = word(in), word(out)
	n.Read.MAC, n.Write.MAC = mac(word(in+n.Read.Cipher+" MAC: ")), mac(word(out+n.Write.Cipher+" MAC: "))
	return n
}

func TestOpenSSHAgreesOnTheAlgorithmsThatTheRealSSHWould(t *testing.T) {
	sshd := oldServer(t, "Ciphers +aes128-cbc,3des-cbc", "MACs +hmac-sha1-96", "KexAlgorithms +diffie-hellman-group14-sha1,diffie-hellman-group1-sha1", "HostKeyAlgorithms +ssh-rsa")
	for _, more := range []string{
		"Ciphers aes256-ctr\nMACs hmac-sha2-512",
		"Ciphers -*gcm*,chacha20*\nMACs -*etm*,umac*,hmac-sha1*",
		"Ciphers aes128-cbc\nMACs -umac*,hmac-sha2*,hmac-sha1-etm*\nKexAlgorithms ecdh-sha2-nistp384",
		"Ciphers 3des-cbc\nMACs hmac-sha1-96\nKexAlgorithms diffie-hellman-group1-sha1",
		"KexAlgorithms ^diffie-hellman-group14-sha1\nMACs ^hmac-sha1\nCiphers aes128-ctr",
		"KexAlgorithms -sntrup*,curve*\nHostKeyAlgorithms ssh-ed25519",
		"KexAlgorithms diffie-hellman-group16-sha512,ecdh-sha2-nistp256",
		"HostKeyAlgorithms ssh-rsa",
		"HostKeyAlgorithms ^rsa-sha2-512",
		"HostKeyAlgorithms -ssh-ed25519*,ecdsa*,sk-*",
	} {
		t.Run(more, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			a.reaches(sshd, more)
			code, _, said := a.asSSH(t, "-v", "web1", "true")
			require.Zero(t, code, said)
			want := negotiated(said)
			require.NotEmpty(t, want.Write.Cipher, said)
			c, err := a.dialer().DialConn(t.Context(), web1)
			require.NoError(t, err)
			defer c.Close()
			got := sshconn.Negotiated(c)
			if strings.Contains(more, "KexAlgorithms") {
				assert.Equal(t, want.KeyExchange, got.KeyExchange)
			}
			if strings.Contains(more, "HostKey") {
				assert.Equal(t, want.HostKey, got.HostKey)
			}
			if strings.Contains(more, "Ciphers") {
				assert.Equal(t, want.Read.Cipher, got.Read.Cipher)
				assert.Equal(t, want.Write.Cipher, got.Write.Cipher)
				if want.Read.MAC != "" {
					assert.Equal(t, want.Read.MAC, got.Read.MAC)
				}
			}
		})
	}
}

// An old server is reached by the one host that ssh_config says so for, and no other.
func TestAnOldOpenSSHIsReachedOnlyWhereTheConfigurationSaysSo(t *testing.T) {
	sshd := oldServer(t, "Ciphers 3des-cbc", "MACs hmac-sha1-96", "KexAlgorithms diffie-hellman-group1-sha1", "HostKeyAlgorithms ssh-rsa")
	a := newAccount(t)
	a.new = true
	a.reaches(sshd, "")
	text, err := os.ReadFile(a.path("config"))
	require.NoError(t, err)
	lines := strings.Replace(string(text), "Host web1", "Host web*", 1)
	known := "StrictHostKeyChecking accept-new\nUserKnownHostsFile ~/.ssh/%n\n"
	for _, step := range []struct{ more, missing string }{
		{"", "KexAlgorithms"},
		{"KexAlgorithms +diffie-hellman-group1-sha1\n", "HostKeyAlgorithms"},
		{"KexAlgorithms +diffie-hellman-group1-sha1\nHostKeyAlgorithms +ssh-rsa\n", "Ciphers"},
		{"KexAlgorithms +diffie-hellman-group1-sha1\nHostKeyAlgorithms +ssh-rsa\nCiphers +3des-cbc\n", "MACs"},
		{"KexAlgorithms +diffie-hellman-group1-sha1\nHostKeyAlgorithms +ssh-rsa\nCiphers +3des-cbc\nMACs +hmac-sha1-96\n", ""},
	} {
		a.write("config", "Host web1\n"+step.more+lines+known)
		for name, missing := range map[string]string{"web1": step.missing, "web2": "KexAlgorithms"} {
			c, err := a.dialer().Dial(t.Context(), hosts.Host{Name: name})
			if missing == "" {
				require.NoError(t, err, step.more)
				require.NoError(t, c.Close())
				continue
			}
			require.Error(t, err)
			assert.ErrorContains(t, err, "no algorithm in common for ", "%s with %s", name, step.more)
			assert.ErrorContains(t, err, `write "`+missing+" +", "the error says what allows it")
		}
	}
}

// Keys are exchanged again many times, by either side, while much goes both ways.
func TestKeysAreExchangedAgainWhileMuchIsSentBothWays(t *testing.T) {
	for _, tt := range []struct{ name, client, server string }{
		{"by us", "RekeyLimit 256K", "RekeyLimit default none"},
		{"by the server", "", "RekeyLimit 256K"},
		{"by both", "RekeyLimit 300K 1h", "RekeyLimit 256K"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sshd := sessiontest.OpenSSHD(t, tt.server, "LogLevel DEBUG1")
			a := newAccount(t)
			a.reaches(sshd, tt.client)
			c := dial(t, a.dialer(), web1)
			text := bytes.Repeat([]byte("0123456789abcdef"), 5<<15) // 2.5 MiB, more than a window
			want := fmt.Sprintf("%x", sha256.Sum256(text))
			late := time.AfterFunc(time.Minute, func() { c.Close() }) // an exchange that never ends fails, and does not hang
			defer late.Stop()
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					p, err := c.(*sshconn.Conn).Pipe(t.Context(), sshconn.Piped{Line: "cat"})
					if !assert.NoError(t, err) {
						return
					}
					defer p.Close()
					go func() {
						_, _ = p.Write(text)
						_ = p.CloseWrite() // the server closes the channel while the other one is full
					}()
					sum := sha256.New()
					_, err = io.Copy(sum, p)
					assert.NoError(t, err)
					assert.Equal(t, want, fmt.Sprintf("%x", sum.Sum(nil)))
				})
			}
			wg.Wait()
			require.NoError(t, c.(session.Pinger).Ping(t.Context()))
			log, err := os.ReadFile(sshd.Log)
			require.NoError(t, err)
			assert.Greater(t, strings.Count(string(log), "SSH2_MSG_NEWKEYS received"), 3, "the first is that of the login")
		})
	}
}

// middle is a network between an account and a server, which loses what comes after some bytes of the server.
type middle struct {
	addr string
	mu   sync.Mutex
	last byte // the last kind of message of the server that arrives on each connection; 0 is no end, 255 lets nothing arrive
	cut  []net.Conn
	gate sync.RWMutex // held by whoever lets nothing of the server arrive
}

// pass is a writer to w that waits at the gate.
func (m *middle) pass(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		m.gate.RLock()
		defer m.gate.RUnlock()
		return w.Write(b)
	})
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func between(t *testing.T, sshd *sessiontest.SSHD) *middle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &middle{addr: l.Addr().String()}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", sshd.Addr)
			if err != nil {
				c.Close()
				continue
			}
			m.mu.Lock()
			last := m.last
			m.cut = append(m.cut, c, to)
			m.mu.Unlock()
			wg.Go(func() { _, _ = io.Copy(to, c); to.Close() })
			wg.Go(func() {
				if last != 0 {
					begin(c, to, last)
					_, _ = io.Copy(io.Discard, to)
					return
				}
				_, _ = io.Copy(m.pass(c), to)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		m.end()
		wg.Wait()
	})
	return m
}

// begin copies what a server says before anything is encrypted, up to the first message of a kind.
func begin(to io.Writer, from io.Reader, last byte) {
	if last == 255 {
		return
	}
	for b := make([]byte, 1); b[0] != '\n'; { // the greeting
		if _, err := io.ReadFull(from, b); err != nil {
			return
		}
		_, _ = to.Write(b)
	}
	for kind := byte(0); kind != last; {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(from, packet); err != nil {
			return
		}
		kind = packet[1]
		_, _ = to.Write(append(head, packet...))
	}
}

// end cuts every connection, as a server does that starts again.
func (m *middle) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cut {
		c.Close()
	}
	m.cut = nil
}

// upTo has the server fall silent after a kind of message, see middle.last.
func (m *middle) upTo(last byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = last
}

// reachesBy is reaches through m.
func (a *account) reachesBy(m *middle, sshd *sessiontest.SSHD, more string) {
	a.t.Helper()
	a.reaches(sshd, more)
	from, to := sessiontest.Host(a.t, "", sshd.Addr), sessiontest.Host(a.t, "", m.addr)
	text, err := os.ReadFile(a.path("config"))
	require.NoError(a.t, err)
	a.write("config", strings.Replace(string(text), fmt.Sprintf("Port %d\n", from.Port), fmt.Sprintf("Port %d\n", to.Port), 1))
	a.write("known_hosts", knownhosts.Name(to.Addr, to.Port)+" "+string(ssh.MarshalAuthorizedKey(sshd.HostKey)))
}

func TestConnectTimeoutEndsAnOpenSSHThatGoesSilentAnywhere(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	for stage, tt := range map[string]struct {
		last byte
		says string
	}{
		"banner":       {255, "takes connections there but does not speak"},
		"key exchange": {20, "during the key exchange"},
		"login":        {21, "while logging in"},
	} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			m := between(t, sshd)
			m.upTo(tt.last)
			a := newAccount(t)
			a.reachesBy(m, sshd, "ConnectTimeout 1")
			began := time.Now()
			_, err := a.dialer().Dial(t.Context(), web1)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorContains(t, err, tt.says)
			assert.GreaterOrEqual(t, time.Since(began), time.Second)
		})
	}
	t.Run("channel", func(t *testing.T) {
		t.Parallel()
		m := between(t, sshd)
		a := newAccount(t)
		a.reachesBy(m, sshd, "ConnectTimeout 1")
		c := dial(t, a.dialer(), web1)
		m.gate.Lock() // nothing of the server arrives
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := c.Open(ctx, session.Program{Line: "true"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		m.gate.Unlock()
		s, err := c.Open(t.Context(), session.Program{Line: "echo again"})
		require.NoError(t, err, "the connection is of use again once the server is")
		out, err := io.ReadAll(s)
		require.NoError(t, err)
		assert.Equal(t, "again\n", string(out))
	})
}

func TestOpenSSHIsReachedByTheFamilyAndFromTheAddressThatTheRealSSHTakes(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		needs.Part(t, "this machine has no IPv6")
	} else {
		l.Close()
	}
	sshd := sessiontest.OpenSSHD(t, "ListenAddress 127.0.0.1", "ListenAddress ::1")
	for _, tt := range []struct{ name, more, want string }{
		{"::1", "AddressFamily inet6", "::1 ::1"},
		{"::1", "AddressFamily any\nBindAddress ::1", "::1 ::1"},
		{"::1", "AddressFamily inet", ""},
		{"::1", "BindAddress 127.0.0.77", ""},
		{"localhost", "AddressFamily inet", "127.0.0.1 127.0.0.1"},
		{"127.0.0.1", "AddressFamily inet\nBindAddress 127.0.0.77", "127.0.0.77 127.0.0.1"},
		{"127.0.0.1", "BindAddress ::1", ""},
		{"127.0.0.1", "AddressFamily inet6", ""},
		{"127.0.0.1", "BindAddress 127.0.0.77", "127.0.0.77 127.0.0.1"},
	} {
		a := newAccount(t)
		a.reaches(sshd, tt.more)
		text, err := os.ReadFile(a.path("config"))
		require.NoError(t, err)
		a.write("config", strings.Replace(string(text), "HostName 127.0.0.1", "HostName "+tt.name, 1))
		a.write("known_hosts", "* "+string(ssh.MarshalAuthorizedKey(sshd.HostKey)))
		const line = `set -- $SSH_CONNECTION; printf '%s %s' "$1" "$3"`
		_, out, _ := a.asSSH(t, "web1", line)
		require.Equal(t, tt.want, out, "the real ssh: %s %s", tt.name, tt.more)
		c, err := a.dialer().Dial(t.Context(), web1)
		if tt.want == "" {
			require.Error(t, err, "%s %s", tt.name, tt.more)
			continue
		}
		require.NoError(t, err, "%s %s", tt.name, tt.more)
		got, _, _ := through(t, c, sshconn.Piped{Line: line}, "")
		assert.Equal(t, tt.want, got, "%s %s", tt.name, tt.more)
		require.NoError(t, c.Close())
	}
}

// An agent of many keys is offered as far as the server takes it, and no further than the real ssh goes.
func TestAnAgentOfManyKeysLogsInWhereTheRealSSHWould(t *testing.T) {
	servers := map[int]*sessiontest.SSHD{3: sessiontest.OpenSSHD(t, "MaxAuthTries 3"), 9: sessiontest.OpenSSHD(t, "MaxAuthTries 9")}
	for most, sshd := range servers {
		text, err := os.ReadFile(sshd.KeyFile)
		require.NoError(t, err)
		right, err := ssh.ParseRawPrivateKey(text)
		require.NoError(t, err)
		for _, before := range []int{most - 1, most, most + 3} {
			for _, more := range []string{"", "IdentitiesOnly yes\nIdentityFile %s.pub"} {
				if more != "" && before < most {
					continue
				}
				a := newAccount(t)
				ring := agent.NewKeyring()
				for range before {
					private, _ := freshKey(t)
					require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: private}))
				}
				require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: right}))
				a.agent = serveAgent(t, func(c net.Conn) { _ = agent.ServeAgent(ring, c) })
				a.reaches(sshd, "")
				config, err := os.ReadFile(a.path("config"))
				require.NoError(t, err)
				named := ""
				if more != "" {
					named = fmt.Sprintf(more, sshd.KeyFile)
				}
				a.write("config", strings.Replace(string(config), "IdentityFile "+sshd.KeyFile+"\n", "", 1)+named+"\n")
				code, _, said := a.asSSH(t, "web1", "true")
				c, err := a.dialer().Dial(t.Context(), web1)
				assert.Equal(t, code == 0, err == nil, "MaxAuthTries %d, %d keys before, %q: ssh ends with %d: %s; Fairlead: %v", most, before, more, code, said, err)
				if err == nil {
					c.Close()
				} else {
					assert.ErrorIs(t, err, session.ErrAuth)
					assert.ErrorContains(t, err, "name the right key with identity, or with IdentityFile and IdentitiesOnly")
				}
			}
		}
	}
}

// What a server prints of its own, and that it prints something else each time, is no part of what a command prints.
func TestWhatAnOpenSSHPrintsOfItsOwnIsNoOutput(t *testing.T) {
	banner := filepath.Join(t.TempDir(), "banner")
	require.NoError(t, os.WriteFile(banner, nil, 0o600))
	sshd := sessiontest.OpenSSHD(t, "Banner "+banner, `ForceCommand echo "noise of $$"; echo "more of $$" >&2; if [ -n "$SSH_ORIGINAL_COMMAND" ]; then eval "$SSH_ORIGINAL_COMMAND"; else exec sh -i; fi`)
	a := newAccount(t)
	a.reaches(sshd, "")
	for i := range 3 {
		require.NoError(t, os.WriteFile(banner, []byte(fmt.Sprintf("banner %d\n%s", i, strings.Repeat("=\x1b[2J\n", i*100))), 0o600))
		p := a.pool()
		s := p.open(t)
		for range 2 {
			r := ran(t, s, "echo out; echo err >&2")
			assert.Equal(t, "out\n", string(r.Stdout))
			assert.Equal(t, "err\n", string(r.Stderr))
			r = ran(t, p, "echo out; echo err >&2")
			assert.Equal(t, "out\n", string(r.Stdout))
			assert.Equal(t, "err\n", string(r.Stderr))
		}
		p.Close()
	}
}

// A server that starts again takes its connections along: the next command gets a new one, and a session what it had.
func TestAnOpenSSHThatStartsAgainIsConnectedToAgain(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	m := between(t, sshd)
	a := newAccount(t)
	a.reachesBy(m, sshd, "")
	p := a.pool()
	s := p.open(t)
	ran(t, s, "export STATE=kept; cd /")
	x, err := p.open(t).Start(t.Context(), session.Command{Script: "sleep 600"})
	require.NoError(t, err)
	m.end()
	<-x.Done()
	assert.Equal(t, session.StatusLost, x.Result().Status, "it is not known what became of what ran")
	require.ErrorIs(t, x.Result().Err, session.ErrUnknownOutcome)
	assert.NotErrorIs(t, x.Result().Err, session.ErrClosed, "the command may have run")
	assert.ErrorContains(t, x.Result().Err, "; the connection was lost: ", "and why")
	r := ran(t, s, "echo $STATE $PWD")
	assert.Equal(t, "kept /\n", string(r.Stdout))
	assert.True(t, r.Reconnected)
	ran(t, p, "true")
}

// The program that a server hands command lines to may be another one with each connection: sessions go on in it, and commands too.
func TestAnOpenSSHWhoseLoginShellIsAnotherOneWithEachConnection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shell")
	sshd := sessiontest.OpenSSHD(t, `ForceCommand exec "$(cat `+file+`)" -c "$SSH_ORIGINAL_COMMAND"`)
	m := between(t, sshd)
	a := newAccount(t)
	a.reachesBy(m, sshd, "")
	require.NoError(t, os.WriteFile(file, []byte("/bin/sh"), 0o600))
	p := a.pool()
	s := p.open(t)
	ran(t, s, "export STATE=kept; cd /")
	for _, name := range []string{"bash", "dash", "zsh", "mksh", "fish", "tcsh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // sh is one of them
		}
		x, err := p.open(t).Start(t.Context(), session.Command{Script: "sleep 600"})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(path), 0o600))
		m.end()
		<-x.Done()
		r := session.Result{Status: session.StatusLost}
		for r.Status == session.StatusLost { // the session may hear of the end later
			r, _ = s.Run(t.Context(), session.Command{Script: "echo $STATE $PWD"})
		}
		assert.Equal(t, "kept /\n", string(r.Stdout), name)
		assert.True(t, r.Reconnected, name)
		r = ran(t, p, "echo out; echo err >&2")
		assert.Equal(t, "out\nerr\n", string(r.Stdout)+string(r.Stderr), name)
	}
}

package sessiontest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// SSHD is OpenSSH's own server on loopback. It lets in the account of the test with one key.
type SSHD struct {
	Addr       string        // host:port
	User       string        // the account
	HostKey    ssh.PublicKey // ed25519
	ClientKey  ssh.Signer
	Dir        string // holds everything below
	KeyFile    string // the client's private key
	KnownHosts string // a file that trusts HostKey at Addr
	Config     string // a client configuration for the host "sshd", for ssh -F and for hosts.Host.SSHConfig
	Log        string // what the server says at level VERBOSE
	Authorized string // the authorized_keys file

	within []string // the command that starts sshd in a place of its own; nil is none
}

// OpenSSHD starts sshd for the time of the test. more are lines of sshd_config that go before the usual ones, and win.
// Where there is no sshd the test is skipped, or fails if the environment says CI=true.
func OpenSSHD(t testing.TB, more ...string) *SSHD {
	t.Helper()
	return openSSHD(t, nil, more)
}

// OpenSSHDWithPAM is OpenSSHD with PAM, whose rules for sshd are rules, in a mount namespace of its own: the machine's are not
// touched. The test needs root.
func OpenSSHDWithPAM(t testing.TB, rules string, more ...string) *SSHD {
	t.Helper()
	needs.Root(t, "give sshd rules of PAM")
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		needs.Part(t, "no mount namespace can be made")
	}
	if _, err := os.Stat("/etc/pam.d"); err != nil {
		needs.Part(t, "PAM is not installed")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "sshd"), rules)
	script := `mount --make-rprivate / && mount --bind "$1" /etc/pam.d && shift && exec "$@"`
	return openSSHD(t, []string{"unshare", "-m", "sh", "-c", script, "sh", dir}, append(more, "UsePAM yes"))
}

func openSSHD(t testing.TB, within []string, more []string) *SSHD {
	t.Helper()
	path, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		if path, err = exec.LookPath("sshd"); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("OpenSSH's sshd is not installed, and CI must not go without it")
			}
			t.Skip("OpenSSH's sshd is not installed")
		}
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755), "sshd's directory for privilege separation")
	}
	me, err := user.Current()
	require.NoError(t, err)
	s := &SSHD{User: me.Username, Dir: t.TempDir(), within: within}
	in := func(name string) string { return filepath.Join(s.Dir, name) }
	s.KeyFile, s.KnownHosts, s.Config, s.Log = in("client"), in("known_hosts"), in("config"), in("log")
	s.Authorized = in("authorized_keys")

	hostKey := writeKey(t, in("host"))
	s.ClientKey = writeKey(t, s.KeyFile)
	s.HostKey = hostKey.PublicKey()
	writeFile(t, s.Authorized, string(ssh.MarshalAuthorizedKey(s.ClientKey.PublicKey())))

	// Somebody else may take the port before sshd does, so try more than one.
	for range 5 {
		if s.start(t, path, more) {
			host, port := splitAddr(t, s.Addr)
			writeFile(t, s.KnownHosts, fmt.Sprintf("%s %s", knownhosts.Name(host, port), ssh.MarshalAuthorizedKey(s.HostKey)))
			writeFile(t, s.Config, fmt.Sprintf("Host sshd\n\tHostName %s\n\tPort %d\n\tUser %s\n\tIdentityFile %s\n"+
				"\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", host, port, s.User, s.KeyFile, s.KnownHosts))
			return s
		}
	}
	log, _ := os.ReadFile(s.Log)
	t.Fatalf("sshd does not start:\n%s", log)
	return nil
}

// Host describes how to reach the server.
func (s *SSHD) Host(t testing.TB, name string) hosts.Host {
	t.Helper()
	h := Host(t, name, s.Addr)
	h.User = s.User
	return h
}

// HostKeys trusts the server's key, and nothing else.
func (s *SSHD) HostKeys(t testing.TB) *knownhosts.DB {
	t.Helper()
	return HostKeys(t, s.Addr, s.HostKey)
}

// start reports whether sshd listens.
func (s *SSHD) start(t testing.TB, path string, more []string) bool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.Addr = l.Addr().String()
	require.NoError(t, l.Close())
	_, port := splitAddr(t, s.Addr)

	// Addresses add up in sshd_config(5), so one that is given takes the place of ours.
	if !slices.ContainsFunc(more, func(line string) bool { return strings.HasPrefix(line, "ListenAddress") }) {
		more = append(more, "ListenAddress 127.0.0.1")
	}
	if !slices.ContainsFunc(more, func(line string) bool { return strings.HasPrefix(line, "Subsystem") }) {
		more = append(more, "Subsystem sftp internal-sftp")
	}
	// The account's own start files are none of a test's business: bash reads ~/.bashrc for every command over SSH, and
	// what people keep there may print. SetEnv adds up too.
	if !slices.ContainsFunc(more, func(line string) bool { return strings.HasPrefix(line, "SetEnv") }) {
		home := filepath.Join(s.Dir, "home")
		require.NoError(t, os.MkdirAll(home, 0o700))
		more = append(more, "SetEnv HOME="+home)
	}
	// Of this one the last counts in OpenSSH 9, and not the first as of all others.
	if !slices.ContainsFunc(more, func(line string) bool { return strings.HasPrefix(line, "MaxStartups") }) {
		more = append(more, "MaxStartups 200")
	}
	cfg := filepath.Join(s.Dir, "sshd_config")
	writeFile(t, cfg, strings.Join(append(more,
		fmt.Sprintf("Port %d", port),
		"HostKey "+filepath.Join(s.Dir, "host"),
		"AuthorizedKeysFile "+s.Authorized,
		"PidFile none",
		"UsePAM no",
		"StrictModes no",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"PermitRootLogin yes",
		"PrintMotd no",
		"PrintLastLog no",
		"UseDNS no",
		"LogLevel VERBOSE",
		"",
	), "\n"))
	log, err := os.Create(s.Log)
	require.NoError(t, err)
	defer log.Close()
	argv := slices.Concat(s.within, []string{path, "-D", "-e", "-r", "-f", cfg})
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop := func() {
		_ = cmd.Process.Kill() // of the listener alone: it hands connections to children, which end with them
		<-ended
	}
	give := time.NewTimer(patience)
	defer give.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return false
		case <-give.C:
			stop()
			return false
		case <-look.C:
			// The log, not the port: a connection made only to see whether it opens would count as an attack.
			if text, err := os.ReadFile(s.Log); err == nil && bytes.Contains(text, []byte("Server listening on")) {
				t.Cleanup(stop)
				return true
			}
		}
	}
}

func writeKey(t testing.TB, file string) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "fairlead test")
	require.NoError(t, err)
	writeFile(t, file, string(pem.EncodeToMemory(block)))
	signer, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	writeFile(t, file+".pub", string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	return signer
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// chosen is every way in which a kernel holds a shell on this machine, chosen as a keeper chooses it.
func chosen(t *testing.T, w sandbox.Wants, further func(dir string) []string, fn func(t *testing.T, dir string, e sandbox.Enforcement, s *session.Session)) {
	for _, how := range []string{"bubblewrap", "landlock"} {
		t.Run(how, func(t *testing.T) {
			dir := treeIn(t, lasting(t))
			b := box(dir + "/box")
			hide, err := sandbox.FindSecrets(t.Context(), runner("sh", "-c"), b.Host, further(dir))
			require.NoError(t, err)
			var can sandbox.Ability
			if how == "bubblewrap" {
				bubblewrapped(t, b, sandbox.Bubblewrap{})
				can = sandbox.Ability{Bubblewrap: true}
			} else {
				landlocked(t)
				can = sandbox.Ability{Landlock: sandbox.LandlockVersion()}
			}
			can.Hide = hide
			e, err := sandbox.Choose(b, can, w)
			require.NoError(t, err)
			require.Equal(t, how, e.How, e.Why)
			exe, err := os.Executable()
			require.NoError(t, err)
			wrap := e.Wrap(b, sandbox.Bubblewrap{}, sandbox.Landlock{Helper: []string{exe, "sandbox-exec"}})
			fn(t, dir, e, confined(t, "bash", wrap))
		})
	}
}

// listen accepts on a unix socket; connected reports whether anybody came.
func listen(t *testing.T, name string) (connected func() bool) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	require.NoError(t, err)
	came, done := false, make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came = true
			c.Close()
		}
	}()
	stop := func() { l.Close(); <-done }
	t.Cleanup(stop)
	return func() bool { stop(); return came }
}

const perlConnect = `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n"; connect(S, sockaddr_un(%s)) or die "connect: $!\n"; print "connected\n"'`

func perlName(name string) string {
	if strings.HasPrefix(name, "@") {
		return `"\0` + name[1:] + `"`
	}
	return `"` + name + `"`
}

func TestNoSocketOutsideIsReached(t *testing.T) {
	need(t, "perl")
	if os.Geteuid() != 0 {
		needs.Part(t, "a socket below /run takes root")
	}
	unique := fmt.Sprintf("fairlead-test-%d", os.Getpid())
	for place, name := range map[string]string{
		"below /run": "/run/" + unique + "/k.sock",
		"below /tmp": "/tmp/" + unique + "/k.sock",
		"in a home":  "HOME/.local/state/fairlead/run/k.sock",
	} {
		t.Run(place, func(t *testing.T) {
			if !strings.HasPrefix(name, "HOME") {
				t.Cleanup(func() { os.RemoveAll(filepath.Dir(name)) })
			}
			at := func(dir string) string { return strings.Replace(name, "HOME", dir+"/home", 1) }
			further := func(dir string) []string {
				require.NoError(t, os.MkdirAll(filepath.Dir(at(dir)), 0o755))
				return []string{filepath.Dir(at(dir))}
			}
			chosen(t, sandbox.Wants{}, further, func(t *testing.T, dir string, _ sandbox.Enforcement, s *session.Session) {
				connected := listen(t, at(dir))
				r := run(t, s, fmt.Sprintf(perlConnect, perlName(at(dir))))
				assert.NotContains(t, string(r.Stdout), "connected")
				assert.Regexp(t, "(socket|connect): ", string(r.Stderr))
				assert.False(t, connected())
			})
		})
	}
}

func none(string) []string { return nil }

func TestAbstractSocketsAreClosedWhereItIsSaid(t *testing.T) {
	need(t, "perl")
	for _, w := range []sandbox.Wants{{}, {NoNetwork: true}} {
		t.Run(fmt.Sprintf("no network %v", w.NoNetwork), func(t *testing.T) {
			chosen(t, w, none, func(t *testing.T, _ string, e sandbox.Enforcement, s *session.Session) {
				name := fmt.Sprintf("@fairlead-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))[:60]
				connected := listen(t, name)
				r := run(t, s, fmt.Sprintf(perlConnect, perlName(name)))
				open := strings.Contains(strings.Join(e.Open, "\n"), "abstract unix sockets")
				assert.Equal(t, open, strings.Contains(string(r.Stdout), "connected"), "%s%s", r.Stdout, r.Stderr)
				assert.Equal(t, open, connected())
			})
		})
	}
}

func TestNoNetworkMeansNone(t *testing.T) {
	need(t, "perl")
	var tcp net.Listener
	var udp net.PacketConn
	// What comes in waits in the sockets, so that it can be looked for afterwards.
	script := func(t *testing.T) (script string, came func() bool) {
		var err error
		tcp, err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { tcp.Close() })
		udp, err = net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { udp.Close() })
		at, datagrams := tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port
		return fmt.Sprintf(`(exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && echo connected; perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) and send(S, "x", 0, sockaddr_in(%d, inet_aton("127.0.0.1")))'; true`, at, datagrams),
			func() bool {
				raw, err := udp.(*net.UDPConn).SyscallConn()
				require.NoError(t, err)
				n := 0
				require.NoError(t, raw.Control(func(fd uintptr) { n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 8), syscall.MSG_DONTWAIT) }))
				return n > 0
			}
	}
	chosen(t, sandbox.Wants{}, none, func(t *testing.T, _ string, e sandbox.Enforcement, s *session.Session) {
		text, came := script(t)
		assert.Equal(t, "connected\n", string(run(t, s, text).Stdout), "without it the network is the account's")
		assert.True(t, came())
		assert.Contains(t, strings.Join(e.Open, "\n"), "network: ")
	})
	chosen(t, sandbox.Wants{NoNetwork: true}, none, func(t *testing.T, _ string, e sandbox.Enforcement, s *session.Session) {
		text, came := script(t)
		assert.Empty(t, string(run(t, s, text).Stdout))
		assert.False(t, came())
		assert.NotContains(t, strings.Join(e.Open, "\n"), "network: ")
		assert.Contains(t, e.Why, "there is no network")
		// Programs that talk to themselves still work.
		assert.Equal(t, "pair\n", string(run(t, s, `perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and print "pair\n"'`).Stdout))
	})
}

// A datagram socket of a pair could be connected anew, and SOCK_RAW is another word for it.
func TestAPairOfSocketsLeadsNowhereElse(t *testing.T) {
	need(t, "perl")
	chosen(t, sandbox.Wants{}, none, func(t *testing.T, _ string, e sandbox.Enforcement, s *session.Session) {
		if e.How != "landlock" {
			t.Skip("bubblewrap hides sockets and lets programs make them")
		}
		for _, kind := range []string{"SOCK_DGRAM", "SOCK_RAW"} {
			assert.Empty(t, string(run(t, s, `perl -MSocket -e 'socketpair(A, B, AF_UNIX, `+kind+`, 0) and print "pair\n"'`).Stdout), kind)
		}
	})
}

func TestTheAccountsKeysAreHidden(t *testing.T) {
	home := lasting(t)
	for _, name := range []string{".ssh/id_ed25519", ".aws/credentials", ".gnupg/private-keys-v1.d/x.key", ".netrc", ".config/gcloud/credentials.db", ".local/state/fairlead/audit/key"} {
		write(t, home+"/"+name, "SECRET")
	}
	write(t, home+"/elsewhere/keys/deploy", "SECRET")
	write(t, home+"/elsewhere/keys/deploy.pub", "public")
	link(t, home+"/elsewhere/gh", home+"/.config/gh")
	write(t, home+"/elsewhere/gh/hosts.yml", "SECRET")
	write(t, home+"/notes", "notes")
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", home+"/agent.sock")
	listen(t, home+"/agent.sock")
	chosen(t, sandbox.Wants{}, func(string) []string { return []string{home + "/elsewhere/keys/deploy", home + "/not/there"} },
		func(t *testing.T, dir string, _ sandbox.Enforcement, s *session.Session) {
			r := run(t, s, "cat "+home+"/.ssh/* "+home+"/.aws/credentials "+home+"/.gnupg/private-keys-v1.d/x.key "+home+"/.netrc "+home+"/.config/gcloud/* "+
				home+"/.local/state/fairlead/audit/key "+home+"/elsewhere/keys/deploy "+home+"/elsewhere/gh/hosts.yml "+home+"/.config/gh/hosts.yml; find "+home+"/.ssh "+home+"/.aws -type f -exec cat {} +; "+
				"cat /proc/self/root"+home+"/.netrc; tar cf - "+home+" 2>/dev/null | grep -a SECRET; cat /etc/shadow; cat /etc/ssh/ssh_host_*_key")
			assert.NotContains(t, string(r.Stdout), "SECRET")
			assert.NotContains(t, string(r.Stdout), "root:")
			assert.NotContains(t, string(r.Stdout), "PRIVATE KEY")
			assert.Equal(t, "notespublic\n", string(run(t, s, "cat "+home+"/notes "+home+"/elsewhere/keys/deploy.pub; echo $SSH_AUTH_SOCK").Stdout), "what is beside them can be read")
			run(t, s, "rm -rf "+home+"/.ssh; mv "+home+"/.aws x; echo x >"+home+"/.netrc")
			assert.FileExists(t, home+"/.ssh/id_ed25519")
		})
}

func TestKeysInTheSandboxItselfAreHiddenToo(t *testing.T) {
	dir := treeIn(t, lasting(t))
	s := box(dir + "/box")
	bubblewrapped(t, s, sandbox.Bubblewrap{})
	t.Setenv("HOME", dir+"/box")
	write(t, dir+"/box/.ssh/id_rsa", "SECRET")
	hide, err := sandbox.FindSecrets(t.Context(), runner("sh", "-c"), s.Host, nil)
	require.NoError(t, err)
	e, err := sandbox.Choose(s, sandbox.Ability{Bubblewrap: true, Landlock: 6, Hide: hide}, sandbox.Wants{})
	require.NoError(t, err)
	ses := confined(t, "bash", e.Wrap(s, sandbox.Bubblewrap{}, sandbox.Landlock{}))
	assert.Equal(t, "in\n", string(run(t, ses, "cat .ssh/id_rsa; mv .ssh x; cat x/id_rsa; echo in >f; cat f").Stdout))
	assert.FileExists(t, dir+"/box/.ssh/id_rsa")
}

func TestFindSecretsAsksEveryShellTheSame(t *testing.T) {
	home := scratch(t)
	write(t, home+"/.ssh/id_rsa", "x")
	write(t, home+"/.netrc", "x")
	link(t, home+"/real", home+"/.aws")
	write(t, home+"/real/credentials", "x")
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	for _, sh := range shellsToTry {
		t.Run(sh.name, func(t *testing.T) {
			need(t, sh.argv[0])
			got, err := sandbox.FindSecrets(t.Context(), runner(sh.argv...), "web1", []string{home + "/it's", home + "/real/credentials"})
			require.NoError(t, err)
			assert.Contains(t, got.Dirs, home+"/.ssh")
			assert.Contains(t, got.Dirs, home+"/real")
			assert.Contains(t, got.Files, home+"/.netrc")
			assert.NotContains(t, got.Files, home+"/real/credentials", "its directory is hidden")
			assert.NotContains(t, got.Files, home+"/it's", "it is not there")
		})
	}
}

func TestProcessesOutsideAreNeitherSignalledNorRead(t *testing.T) {
	chosen(t, sandbox.Wants{}, none, func(t *testing.T, dir string, e sandbox.Enforcement, s *session.Session) {
		pid, unhurt := outside(t, "SECRET=outside")
		r := run(t, s, fmt.Sprintf("cat /proc/%[1]d/environ /proc/%[1]d/maps; ls /proc/%[1]d/root/ /proc/%[1]d/cwd/; readlink /proc/%[1]d/fd/0; echo x >/proc/%[1]d/root%[2]s/out/new; cat /proc/%[3]d/environ | head -c 100", pid, dir, os.Getpid()))
		assert.Empty(t, string(r.Stdout))
		assert.NoFileExists(t, dir+"/out/new")
		if strings.Contains(strings.Join(e.Open, "\n"), "signals: ") {
			t.Skip("this kernel's Landlock does not hold signals, and says so")
		}
		run(t, s, fmt.Sprintf("kill -9 %d; kill -9 -- -%d", pid, pid))
		unhurt()
	})
}

// Devices are a way to any file of the host.
func TestNoDeviceIsMadeInASandbox(t *testing.T) {
	chosen(t, sandbox.Wants{}, none, func(t *testing.T, dir string, _ sandbox.Enforcement, s *session.Session) {
		run(t, s, "mknod disk b 259 0; mknod mem c 1 1; mkfifo pipe")
		assert.NoFileExists(t, dir+"/box/disk")
		assert.NoFileExists(t, dir+"/box/mem")
		assert.FileExists(t, dir+"/box/pipe")
		assert.Contains(t, string(run(t, s, "grep CapEff /proc/self/status").Stdout), "0000000000000000")
	})
}

package ssh_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// asSSH is a place where programs call fairlead instead of ssh, to reach OpenSSH's server under the name sshd.
type asSSH struct {
	t    *testing.T
	sshd *sessiontest.SSHD
	dir  string
	env  []string
	ssh  string // a link to the program, which is one word

	atMost time.Duration // that a program may take; 0 is awaitAtMost
}

// inPlaceOfSSH runs a test with the keeper and without.
func inPlaceOfSSH(t *testing.T, test func(a *asSSH), more ...string) {
	for _, keeper := range []string{"require", "off"} {
		t.Run(keeper, func(t *testing.T) {
			sshd := sessiontest.OpenSSHD(t, more...)
			dir, _ := fairleadtest.KeeperHome(t)
			self := fairleadtest.Program(t, dir)
			a := &asSSH{t: t, sshd: sshd, dir: dir, ssh: filepath.Join(dir, "bin", "fairlead-ssh")}
			require.NoError(t, os.Symlink(self, a.ssh))
			// The inventory says how the host is reached, so that no program needs to.
			text := fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev}\n", sshd.Config)
			inventory := filepath.Join(dir, ".config/fairlead/inventory.yaml")
			require.NoError(t, os.MkdirAll(filepath.Dir(inventory), 0o700))
			require.NoError(t, os.WriteFile(inventory, []byte(text), 0o600))
			a.env = []string{
				fairleadtest.Gorace, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TERM=dumb", "SHELL=/bin/sh",
				"FAIRLEAD_KEEPER=" + keeper, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x",
			}
			test(a)
		})
	}
}

// run runs a program to its end.
func (a *asSSH) run(stdin string, name string, args ...string) (r fairleadtest.Outcome) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), cmp.Or(a.atMost, fairleadtest.AwaitAtMost))
	defer cancel()
	path := name
	if !strings.Contains(name, "/") {
		var err error
		if path, err = exec.LookPath(name); err != nil {
			needs.Part(a.t, "%s is not installed", name)
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = a.env, a.dir
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	require.NoError(a.t, ctx.Err(), "%s %q never ends: %s", name, args, errOut.String())
	if cmd.ProcessState == nil {
		require.NoError(a.t, err)
	}
	return fairleadtest.Outcome{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errOut.String()}
}

// ok is run of something that must work.
func (a *asSSH) ok(name string, args ...string) string {
	a.t.Helper()
	r := a.run("", name, args...)
	require.Zero(a.t, r.Code, "%s %q: %s", name, args, r.Err)
	return r.Out
}

func TestSSHGivesExactStreamsAndTheExitCode(t *testing.T) {
	t.Parallel()
	inPlaceOfSSH(t, func(a *asSSH) {
		r := a.run("in\x00\xff", a.ssh, "sshd", "cat; printf 'e\\r\\n' >&2; exit 7")
		assert.Equal(t, fairleadtest.Outcome{Code: 7, Out: "in\x00\xff", Err: "e\r\n"}, r)
		// Words are joined with blanks, for the login shell, and no terminal is there.
		r = a.run("", a.ssh, "-T", "sshd", "echo", "$HOME   x", ";", "tty;", "echo 'a  b'")
		assert.Contains(t, r.Out, "\nnot a tty\na  b\n")
		assert.Equal(t, 0, a.run("", a.ssh, "-n", "sshd", "true").Code)
		assert.Equal(t, 255, a.run("", a.ssh, "sshd", "kill -9 $$").Code, "as ssh tells signals")
		r = a.run("echo from a script; exit 3\n", a.ssh, "sshd")
		assert.Equal(t, 3, r.Code, "without a command it is the login shell: %s", r.Err)
		assert.Contains(t, r.Out, "from a script\n")
		assert.Contains(t, a.ok(a.ssh, "-tt", "sshd", "tty"), "/dev/")

		// What is not UTF-8 arrives as it is.
		assert.Equal(t, "\xff\xe4\n", a.ok(a.ssh, "sshd", "echo \xff\xe4"))
		// Where standard output is not read to its end the program goes on until it writes more, and its end is exact.
		r = a.run("", "sh", "-c", `{ "$0" sshd 'seq 1 1000000; exit 3'; echo $? >&2; } | head -n 1`, a.ssh)
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "1\n", Err: "3\n"}, r)
		r = a.run("", "sh", "-c", `{ "$0" sshd 'exec seq 1 1000000000'; echo $? >&2; } | head -n 1`, a.ssh)
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "1\n", Err: "255\n"}, r)
		assert.Equal(t, fairleadtest.Outcome{}, a.run("", "sh", "-c", `"$0" -W "$1" sshd | true`, a.ssh, a.sshd.Addr))

		// Bytes of any kind and number.
		data := make([]byte, 5<<20)
		for i := range data {
			data[i] = byte(i * 7 >> 3)
		}
		big := filepath.Join(a.dir, "big")
		require.NoError(t, os.WriteFile(big, data, 0o600))
		r = a.run(string(data), a.ssh, "sshd", "cat; cat >&2 "+big)
		assert.Equal(t, 0, r.Code)
		assert.Equal(t, sha256.Sum256(data), sha256.Sum256([]byte(r.Out)))
		assert.Equal(t, sha256.Sum256(data), sha256.Sum256([]byte(r.Err)))
		// A program that reads none of its input ends nevertheless.
		assert.Equal(t, "done\n", a.run(string(data), a.ssh, "sshd", "echo done").Out)

		// All of it is on record.
		log := a.ok(filepath.Join(a.dir, "bin", "fairlead"), "audit", "search", "--json", "--since", "1h")
		assert.Contains(t, log, `cat; printf 'e\\r\\n' >\u0026`[:12])
		assert.Contains(t, log, `"exit_code":7`)
		assert.Contains(t, log, `"signal":"KILL"`)
	})
}

func TestSSHGoesOnWhereTheServerForwardsNoAgent(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		l, err := net.Listen("unix", filepath.Join(a.dir, "agent"))
		require.NoError(t, err)
		defer l.Close()
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				go func() { _ = agent.ServeAgent(agent.NewKeyring(), c); _ = c.Close() }()
			}
		}()
		socket := "IdentityAgent=" + l.Addr().String()
		line := "echo without ${SSH_AUTH_SOCK-one}"
		r := a.run("", a.ssh, "-A", "-o", socket, "sshd", line)
		assert.Equal(t, 0, r.Code)
		assert.Equal(t, "without one\n", r.Out)
		assert.Equal(t, 1, strings.Count(r.Err, "refuses to forward the SSH agent"), r.Err)
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "without one\n", Err: ""}, a.run("", a.ssh, "-q", "-A", "-o", socket, "sshd", line))
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "without one\n", Err: ""}, a.run("", a.ssh, "sshd", line))
	}, "AllowAgentForwarding no")
}

func TestSSHRefusesWhatItWouldNotDo(t *testing.T) {
	t.Parallel()
	inPlaceOfSSH(t, func(a *asSSH) {
		for want, args := range map[string][]string{
			"-X: X11 is not supported":           {"-X", "sshd", "true"},
			"run: fairlead hosts ping sshd":      {"-O", "check", "sshd"},
			`"nonsense" is not check`:            {"-O", "nonsense", "sshd"},
			`-Q: "nonsense" is unknown`:          {"-Q", "nonsense"},
			`-o LogLevel: "LOUD" is not QUIET`:   {"-o", "LogLevel=LOUD", "sshd", "true"},
			"-o PKCS11Provider: not supported":   {"-oPKCS11Provider=/x", "sshd", "true"},
			`"Colour" is not a directive`:        {"-o", "Colour=red", "sshd", "true"},
			"-Z is not an option of ssh":         {"-Z", "sshd", "true"},
			"-p needs a value":                   {"-p"},
			"the destination is missing":         {"-v"},
			"-W runs no command":                 {"-W", "x:1", "sshd", "true"},
			"no host":                            {"-W", "x", "sshd"},
			"/nowhere cannot be read":            {"-F", "/nowhere", "sshd", "true"},
			"the server has no subsystem nosuch": {"-s", "sshd", "nosuch"},
			`127.0.0.1:1: sshd cannot connect to it: it says "Connection refused"`: {"-W", "127.0.0.1:1", "sshd"},
			"connection refused":              {"-p", "1", "sshd", "true"},
			"127.0.0.1:1: connection refused": {"-p", "1", "-N", "-L", "0:127.0.0.1:1", "sshd"},
			"127.0.0.1:2: connection refused": {"-p", "2", "-N", "-D", "0", "sshd"},
			"127.0.0.1:3: connection refused": {"-p", "3", "-f", "-N", "-L", "0:127.0.0.1:1", "sshd"},
			"127.0.0.1:4: connection refused": {"-p", "4", "-f", "sshd", "true"},
			"is not host:port":                {"-W", "x", "sshd"},
		} {
			if want == "no host" {
				continue
			}
			r := a.run("", a.ssh, args...)
			assert.Equal(t, 255, r.Code, "%q", args)
			assert.Contains(t, r.Err, want, "%q", args)
			assert.NotContains(t, r.Err, "ssh sshd: ", "%q", args)
			assert.Empty(t, r.Out)
		}
		r := a.run("", a.ssh, "-v", "-C", "-o", "VisualHostKey=yes", "sshd", "true")
		assert.Contains(t, r.Err, "without effect: -C, -o VisualHostKey")
		assert.Empty(t, a.run("", a.ssh, "-C", "-o", "LogLevel=ERROR", "-q", "sshd", "true").Err)
	})
}

func TestSSHTellsItsStepsAndWhatItKnows(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		r := a.run("", a.ssh, "-v", "sshd", "echo out; exit 3")
		assert.Equal(t, 3, r.Code)
		assert.Equal(t, "out\n", r.Out)
		assert.Contains(t, r.Err, "fairlead: ssh: sshd: addr 127.0.0.1 (")
		assert.Contains(t, r.Err, "sshd: the program ended with code 3")
		if a.keeps() {
			assert.Contains(t, r.Err, "run: fairlead doctor sshd")
		} else {
			assert.Regexp(t, `127\.0\.0\.1:\d+ shows the host key \S+ SHA256:\S+: trusted`, r.Err)
			assert.Regexp(t, `login as \S+ with publickey SHA256:\S+ \(.*\): accepted`, r.Err)
			assert.Regexp(t, `sshd: logged in as \S+ after `, r.Err)
			r = a.run("exit 4\n", a.ssh, "-v", "-tt", "sshd")
			assert.Equal(t, 4, r.Code)
			assert.Contains(t, r.Err, ": accepted")
		}
		for _, args := range [][]string{{"-q"}, {"-v", "-q"}, {"-o", "LogLevel=QUIET"}, {"-o", "LogLevel=fatal"}} {
			r = a.run("", a.ssh, append(args, "-p", "1", "sshd", "true")...)
			assert.Equal(t, fairleadtest.Outcome{Code: 255}, r, "%q: ssh says nothing of it", args)
		}
		assert.Contains(t, a.run("", a.ssh, "-o", "LogLevel=ERROR", "-p", "1", "sshd", "true").Err, "connection refused")
		r = a.run("", a.ssh, "-i", "/nowhere/key", "sshd", "echo out")
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "out\n", Err: "fairlead: ssh: -i /nowhere/key: no such file or directory; going on without it\n"}, r)
		assert.Contains(t, strings.Fields(a.ok(a.ssh, "-Q", "cipher")), "aes256-ctr")
		assert.Contains(t, strings.Fields(a.ok(a.ssh, "-Q", "HostKeyAlgorithms")), "ssh-ed25519")
		for _, what := range strings.Fields(a.ok(a.ssh, "-Q", "help")) {
			assert.NotEmpty(t, a.ok(a.ssh, "-Q", what))
		}
	})
}

func TestSSHSaysWhatItHasToSayInAFile(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		log := filepath.Join(a.dir, "log")
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "", Err: "theirs\n"}, a.run("", a.ssh, "-E", log, "sshd", "echo theirs >&2"))
		assert.Equal(t, fairleadtest.Outcome{Code: 255, Out: "", Err: ""}, a.run("", a.ssh, "-p", "1", "-E", log, "sshd", "true"))
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		assert.Regexp(t, `^fairlead: ssh: sshd: .*connection refused.*\n$`, string(text))
		r := a.run("", a.ssh, "-E", filepath.Join(a.dir, "no", "log"), "sshd", "true")
		assert.Equal(t, 255, r.Code)
		assert.Contains(t, r.Err, "-E: open ")
	})
}

// Without an agent there is none to lend, and the command runs as with ssh.
func TestSSHGoesOnWithoutAnAgentToLend(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		r := a.run("", a.ssh, "-A", "sshd", "echo ${SSH_AUTH_SOCK-none}")
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "none\n", Err: "fairlead: ssh: no SSH agent is running here, so sshd gets none: start ssh-agent, or leave -A out\n"}, r)
		assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "none\n", Err: ""}, a.run("", a.ssh, "-q", "-A", "sshd", "echo ${SSH_AUTH_SOCK-none}"))
		ended := "IdentityAgent=" + filepath.Join(a.dir, "ended") // of an agent that was
		assert.Equal(t, r, a.run("", a.ssh, "-A", "-o", ended, "sshd", "echo ${SSH_AUTH_SOCK-none}"))
	})
}

func TestWhatHangsUnderSSHCanBeLeft(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		sit := func(typed []string, args ...string) (int, string) {
			cmd := exec.Command(a.ssh, args...)
			cmd.Env, cmd.Dir = a.env, a.dir
			seen := fairleadtest.SitAt(t, cmd, typed)
			return cmd.ProcessState.ExitCode(), seen
		}
		hanging := "trap '' INT; echo wa''iting; while sleep 1; do :; done"
		code, seen := sit([]string{"waiting", "\x03\r~?", "hang up", "\r~."}, "-t", "sshd", hanging)
		assert.Equal(t, 255, code)
		assert.Contains(t, seen, "fairlead: ssh: hung up at the keyboard")
		code, _ = sit([]string{"waiting", "\r\x02."}, "-e", "^B", "-t", "sshd", hanging)
		assert.Equal(t, 255, code)
		code, seen = sit([]string{"ready", "~.\r\x04"}, "-o", "EscapeChar=none", "-t", "sshd", "echo rea''dy; cat")
		assert.Equal(t, 0, code)
		assert.Contains(t, seen, "ready\n~.\n~.\n")
	})
}

// The exit code at a terminal is the shell's, or 255, whatever "fairlead shell" would say.
func TestATerminalUnderSSHEndsWithItsCodes(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		for name, tt := range map[string]struct {
			typed []string
			args  []string
			code  int
		}{
			"the shell's own": {[]string{"", "echo rea''dy\r", "ready", "exit 3\r"}, []string{"sshd"}, 3},
			"hung up":         {[]string{"", "echo rea''dy\r", "ready", "\r~."}, []string{"sshd"}, 255},
			"killed":          {[]string{"", "echo rea''dy\r", "ready", "kill -9 $$\r"}, []string{"sshd"}, 255},
			"no host there":   {nil, []string{"-p", "1", "sshd"}, 255},
			"an unknown key":  {nil, []string{"-o", "BatchMode=yes", "-o", "UserKnownHostsFile=/dev/null", "sshd"}, 255},
			"a bad option":    {nil, []string{"-o", "SetEnv=A", "sshd"}, 255},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := exec.Command(a.ssh, tt.args...)
				cmd.Env, cmd.Dir = a.env, a.dir
				seen := fairleadtest.SitAt(t, cmd, tt.typed)
				assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), "%s", seen)
			})
		}
	})
}

func TestSSHForwardsPorts(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(a.t, err)
		here := l.Addr().String()
		require.NoError(a.t, l.Close())
		cmd := exec.Command(a.ssh, "-N", "-L", here+":"+a.sshd.Addr, "sshd")
		cmd.Env, cmd.Dir, cmd.Stderr = a.env, a.dir, os.Stderr
		require.NoError(a.t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		greet := func() string {
			c, err := net.Dial("tcp", here)
			if err != nil {
				return ""
			}
			defer c.Close()
			greeting := make([]byte, 8)
			_, _ = io.ReadFull(c, greeting)
			return string(greeting)
		}
		require.Eventually(a.t, func() bool { return greet() == "SSH-2.0-" }, time.Minute, 50*time.Millisecond)
		assert.Equal(a.t, "SSH-2.0-", greet())
		require.NoError(a.t, cmd.Process.Signal(os.Interrupt))
		select {
		case <-ended:
		case <-time.After(time.Minute):
			a.t.Error("it does not end")
			_ = cmd.Process.Kill()
		}
		assert.Empty(a.t, greet())
		assert.Contains(a.t, a.ok(filepath.Join(a.dir, "bin", "fairlead"), "audit", "search", "--json", "--since", "1h"), "nc '127.0.0.1' ")
	})
}

// As with ssh -f, whoever calls gets on once all is set up, and nothing of the call is attached to its terminal or its input.
func TestSSHGoesToTheBackground(t *testing.T) {
	if _, err := exec.LookPath("pgrep"); err != nil {
		needs.Part(t, "pgrep is not installed")
	}
	inPlaceOfSSH(t, func(a *asSSH) {
		fifo := filepath.Join(a.sshd.Dir, "fifo")
		require.NoError(t, syscall.Mkfifo(fifo, 0o600))
		r := a.run("input", "sh", "-c", `"$0" -f sshd "cat; echo there >$1; exit 3" >"$2" 2>&1`, a.ssh, fifo, filepath.Join(a.dir, "out"))
		require.Equal(t, fairleadtest.Outcome{}, r)
		got, err := os.ReadFile(fifo) // the program waits for it
		require.NoError(t, err)
		assert.Equal(t, "there\n", string(got))

		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		here := l.Addr().String()
		require.NoError(t, l.Close())
		r = a.run("", "sh", "-c", `exec "$0" -fNL "$1:$2" sshd >"$3" 2>&1`, a.ssh, here, a.sshd.Addr, filepath.Join(a.dir, "out"))
		require.Equal(t, fairleadtest.Outcome{}, r)
		c, err := net.Dial("tcp", here)
		require.NoError(t, err, "it listens once the call is over")
		defer c.Close()
		greeting := make([]byte, 8)
		_, err = io.ReadFull(c, greeting)
		require.NoError(t, err)
		assert.Equal(t, "SSH-2.0-", string(greeting))
		out, err := exec.Command("pgrep", "-f", "--", "-fNL "+here+":").Output()
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		require.NoError(t, err, "%q", out)
		session, err := unix.Getsid(pid)
		require.NoError(t, err)
		assert.Equal(t, pid, session)
		if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
			assert.Contains(t, string(environ), "FAIRLEAD_SSH_BEGUN_BY=", "for the audit log")
		}
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, time.Minute, 20*time.Millisecond)
		require.Empty(t, a.run("", a.ssh, "-f", "sshd", "true").Err)
	})
}

func TestSSHForwardsWhereSOCKSClientsWantToGo(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(a.t, err)
		here := l.Addr().String()
		require.NoError(a.t, l.Close())
		cmd := exec.Command(a.ssh, "-N", "-D", here, "sshd")
		cmd.Env, cmd.Dir, cmd.Stderr = a.env, a.dir, io.Discard
		require.NoError(a.t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		host, port, err := net.SplitHostPort(a.sshd.Addr)
		require.NoError(a.t, err)
		n, err := strconv.Atoi(port)
		require.NoError(a.t, err)
		// ask asks for where, and returns what comes from there.
		asked := func(request []byte, answer int) string {
			c, err := net.Dial("tcp", here)
			if err != nil {
				return ""
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write(request)
			said := make([]byte, answer+8)
			n, _ := io.ReadFull(c, said)
			return string(said[min(n, answer):n])
		}
		ask := func(where []byte) string { return asked(append([]byte{5, 1, 0}, where...), 2+10) }
		end := []byte{byte(n >> 8), byte(n)}
		byName := append(append([]byte{5, 1, 0, 3, byte(len(host))}, host...), end...)
		require.Eventually(a.t, func() bool { return ask(byName) == "SSH-2.0-" }, time.Minute, 50*time.Millisecond)
		byNumber := append(append([]byte{5, 1, 0, 1}, net.ParseIP(host).To4()...), end...)
		assert.Equal(a.t, "SSH-2.0-", ask(byNumber))
		of4 := append(append([]byte{4, 1}, end...), net.ParseIP(host).To4()...)
		assert.Equal(a.t, "SSH-2.0-", asked(append(of4, "me\x00"...), 8))
		assert.Empty(a.t, ask([]byte{5, 1, 0, 1, 127, 0, 0, 1, 0, 1}), "nothing listens there")
		assert.Empty(a.t, ask([]byte{5, 2, 0, 1, 127, 0, 0, 1, 0, 1}), "it does not listen for clients")
		require.NoError(a.t, cmd.Process.Signal(os.Interrupt))
		select {
		case <-ended:
		case <-time.After(time.Minute):
			a.t.Error("it does not end")
			_ = cmd.Process.Kill()
		}
		assert.Contains(a.t, a.ok(filepath.Join(a.dir, "bin", "fairlead"), "audit", "search", "--json", "--since", "1h"), "nc '127.0.0.1' "+port)
	})
}

func TestAgentsGetNoExactStreams(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		a.env = append(a.env, "CLAUDECODE=1")
		for _, args := range [][]string{{"sshd", "echo hi"}, {"-s", "sshd", "sftp"}, {"-W", "127.0.0.1:22", "sshd"}, {"sshd"}} {
			r := a.run("", a.ssh, args...)
			assert.Equal(t, 5, r.Code, "%q %s", args, r.Out)
			assert.Contains(t, r.Err, "agents may not")
			assert.Empty(t, r.Out)
		}
	})
}

func TestProgramsCallFairleadInsteadOfSSH(t *testing.T) {
	t.Parallel()
	inPlaceOfSSH(t, func(a *asSSH) {
		from, far := filepath.Join(a.dir, "from"), filepath.Join(a.sshd.Dir, "far")
		require.NoError(t, os.MkdirAll(filepath.Join(from, "sub dir"), 0o700))
		data := bytes.Repeat([]byte("0123456789abcdef\x00\r\n"), 1<<16)
		require.NoError(t, os.WriteFile(filepath.Join(from, "sub dir", "file"), data, 0o600))
		same := func(path string) {
			t.Helper()
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, got), path)
		}
		t := a.t
		t.Run("scp", func(*testing.T) {
			a.ok("scp", "-S", a.ssh, filepath.Join(from, "sub dir", "file"), "sshd:"+filepath.Join(a.sshd.Dir, "scp"))
			same(filepath.Join(a.sshd.Dir, "scp"))
			a.ok("scp", "-O", "-S", a.ssh, "sshd:"+filepath.Join(a.sshd.Dir, "scp"), filepath.Join(a.dir, "back"))
			same(filepath.Join(a.dir, "back"))
		})
		t.Run("sftp", func(*testing.T) {
			r := a.run("get "+filepath.Join(from, "sub\\ dir", "file")+" got\nput got "+filepath.Join(a.sshd.Dir, "put")+"\n", "sftp", "-S", a.ssh, "-b", "-", "sshd")
			require.Zero(a.t, r.Code, r.Err)
			same(filepath.Join(a.sshd.Dir, "put"))
		})
		t.Run("ProxyCommand", func(*testing.T) {
			_, port, _ := strings.Cut(a.sshd.Addr, ":")
			out := a.ok("ssh", "-F", a.sshd.Config, "-o", "ProxyCommand="+a.ssh+" -W 127.0.0.1:"+port+" sshd", "sshd", "echo through")
			assert.Equal(a.t, "through\n", out)
		})
		t.Run("git", func(t *testing.T) {
			if _, err := exec.LookPath("git"); err != nil {
				needs.Part(t, "git is not installed")
			}
			repo := filepath.Join(a.sshd.Dir, "repo.git")
			a.ok("git", "init", "-q", "--bare", "-b", "main", repo)
			a.env = append(a.env, "GIT_SSH_COMMAND=fairlead ssh")
			a.ok("git", "clone", "-q", "ssh://sshd"+repo, "work")
			require.NoError(t, os.WriteFile(filepath.Join(a.dir, "work", "f"), data, 0o600))
			a.ok("git", "-C", "work", "add", "f")
			a.ok("git", "-C", "work", "commit", "-q", "-m", "one")
			a.ok("git", "-C", "work", "push", "-q", "origin", "HEAD:main")
			a.env = append(a.env[:len(a.env)-1], "GIT_SSH="+a.ssh)
			a.ok("git", "clone", "-q", "sshd:"+repo, "again")
			same(filepath.Join(a.dir, "again", "f"))
		})
		t.Run("rsync", func(t *testing.T) {
			if _, err := exec.LookPath("rsync"); err != nil {
				needs.Part(t, "rsync is not installed")
			}
			a.ok("rsync", "-a", "-e", "fairlead ssh", from+"/", "sshd:"+far)
			same(filepath.Join(far, "sub dir", "file"))
			a.ok("rsync", "-a", "-e", "fairlead ssh -o Compression=no", "sshd:"+far+"/", filepath.Join(a.dir, "home"))
			same(filepath.Join(a.dir, "home", "sub dir", "file"))
		})
	})
}

// A host that runs no programs, such as one for jumps only, is not logged in to again and again.
func TestSSHToAHostThatOpensNoSessions(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		for _, args := range [][]string{{"sshd", "true"}, {"-tt", "sshd", "true"}} {
			before := a.logins()
			r := a.run("", a.ssh, args...)
			assert.Equal(t, 255, r.Code)
			assert.Contains(t, r.Err, "the server opens no more sessions on this connection")
			assert.LessOrEqual(t, a.logins()-before, 12, "%q", args)
		}
	}, "MaxSessions 0")
}

// logins counts how often the server has let its caller in.
func (a *asSSH) logins() int {
	text, err := os.ReadFile(a.sshd.Log)
	require.NoError(a.t, err)
	return strings.Count(string(text), "Accepted publickey")
}

package ssh_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// What is typed at the server below. A terminal sends bytes, which need not be UTF-8.
const (
	rightPassword, wrongPassword = "Tr0ub4dor-right-\xe4", "Tr0ub4dor-wrong"
	rightCode, wrongCode         = "code-271828", "code-314159"
)

// withCodes starts a server that asks for a password and then, in another round, for a code that is shown.
func withCodes(t *testing.T, logins *atomic.Int32) *sshserver.Server {
	t.Helper()
	return sessiontest.Server(t, sshserver.Config{Settings: func(c *ssh.ServerConfig) {
		c.PublicKeyCallback = nil
		c.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			logins.Add(1)
			for _, step := range []struct {
				prompt, right string
				echo          bool
			}{{"Password: ", rightPassword, false}, {"Verification code: ", rightCode, true}} {
				got, err := ask("", "", []string{step.prompt}, []bool{step.echo})
				if err != nil {
					return nil, err
				}
				if len(got) != 1 || got[0] != step.right {
					return nil, errors.New("wrong")
				}
			}
			return nil, nil
		}
	}})
}

// holding returns the files below dir that hold any of the texts.
func holding(t *testing.T, dir string, texts ...string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || filepath.Base(filepath.Dir(path)) == "bin" {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // of a database that has just been closed
			err = nil
		}
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				files = append(files, path+" holds "+text)
			}
		}
		return err
	}))
	return files
}

func TestWhoeverCallsAnswersTheServersPromptsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var logins atomic.Int32
	server := withCodes(t, &logins)
	h := sessiontest.Host(t, "", server.Addr())
	for _, keeper := range []string{"off", "require"} {
		t.Run(keeper, func(t *testing.T) {
			dir, stop := fairleadtest.KeeperHome(t)
			self := fairleadtest.Program(t, dir)
			ssh := filepath.Join(dir, "bin", "fairlead-ssh")
			require.NoError(t, os.Symlink(self, ssh))
			config, known := filepath.Join(dir, "config"), filepath.Join(dir, "known_hosts")
			require.NoError(t, knownhosts.Append(known, knownhosts.Name(h.Addr, h.Port), server.HostKey(), knownhosts.AppendOptions{}))
			require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("Host *\n\tHostName %s\n\tPort %d\n\tUser bob\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", h.Addr, h.Port, known)), 0o600))
			inventory := filepath.Join(dir, "inventory.yaml")
			require.NoError(t, os.WriteFile(inventory, []byte(fmt.Sprintf("version: 1\nhosts: [{name: \"web[1-5]\", ssh_config: %q, tier: dev}]\n", config)), 0o600))
			env := []string{fairleadtest.Gorace, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir,
				"TERM=xterm", "NO_COLOR=1", "FAIRLEAD_KEEPER=" + keeper, "FAIRLEAD_INVENTORY=" + inventory}
			sit := func(typed []string, name string, words ...string) (int, string) {
				cmd := exec.Command(name, words...)
				cmd.Env, cmd.Dir = env, dir
				screen := fairleadtest.SitAt(t, cmd, typed)
				return cmd.ProcessState.ExitCode(), screen
			}
			for i, words := range [][]string{
				{self, "run", "web1", "--", "echo =$((40+2))="},
				{self, "exec", "web2", "--", "echo =$((40+2))="},
				{ssh, "web3", "echo =$((40+2))="},
				{self, "shell", "web4"},
			} {
				at := fmt.Sprintf("(bob at web%d) ", i+1)
				before := logins.Load()
				typed := []string{
					at + "Password: ", wrongPassword + "\r",
					"try again.\n" + at + "Password: ", rightPassword + "\r",
					at + "Verification code: ", wrongCode + "\r",
					"try again.\n" + at + "Password: ", rightPassword + "\r",
					at + "Verification code: ", rightCode + "\r",
				}
				for i := range typed {
					typed[i] = strings.ReplaceAll(typed[i], "\n", "\r\n")
				}
				if words[1] == "shell" {
					typed = append(typed, map[bool]string{true: "# ", false: "$ "}[os.Getuid() == 0], "echo =$((40+2))=; exit\r")
				}
				code, screen := sit(typed, words[0], words[1:]...)
				assert.Zero(t, code, "%q: %s", words, screen)
				assert.Contains(t, screen, "=42=")
				assert.EqualValues(t, 3, logins.Load()-before, "%q: %s", words, screen)
				assert.Equal(t, 2, strings.Count(screen, "Permission denied, please try again."), "not between two prompts of one login: %s", screen)
				assert.Contains(t, screen, wrongCode, "the server wants it to be shown")
				assert.NotContains(t, screen, rightPassword)
				assert.NotContains(t, screen, wrongPassword)
			}
			before := logins.Load()
			code, screen := sit([]string{
				"Password: ", wrongPassword + "\r", "Password: ", wrongPassword + "\r", "Password: ", wrongPassword + "\r",
			}, self, "run", "web5", "--", "true")
			assert.Equal(t, 3, code, screen)
			assert.Contains(t, screen, "typed: keyboard-interactive (3 times)")
			assert.EqualValues(t, 3, logins.Load()-before, "NumberOfPasswordPrompts")
			assert.NotContains(t, screen, wrongPassword)
			stop()
			assert.Empty(t, holding(t, dir, rightPassword, wrongPassword, rightCode, wrongCode))
		})
	}
}

// killAt runs cmd at a terminal, and sends it a signal once it shows a prompt. A program that this does not end is killed.
func killAt(t *testing.T, cmd *exec.Cmd, prompt string, by syscall.Signal) (screen string) {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 200}))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	late := time.AfterFunc(fairleadtest.AwaitAtMost, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	for sent := false; err == nil; {
		var n int
		n, err = master.Read(buf)
		seen.Write(buf[:n])
		if !sent && strings.Contains(seen.String(), prompt) {
			sent = true
			_ = cmd.Process.Signal(by)
		}
	}
	_ = cmd.Wait()
	return seen.String()
}

// A program that is killed while it asks leaves nothing: no question, no connection, nothing on record, and the next one asks anew.
func TestAProgramThatIsKilledWhileItAsksLeavesNothing(t *testing.T) {
	t.Parallel()
	var logins atomic.Int32
	server := withCodes(t, &logins)
	h := sessiontest.Host(t, "", server.Addr())
	dir, stop := fairleadtest.KeeperHome(t)
	self := fairleadtest.Program(t, dir)
	ssh := filepath.Join(dir, "bin", "fairlead-ssh")
	require.NoError(t, os.Symlink(self, ssh))
	config, known := filepath.Join(dir, "config"), filepath.Join(dir, "known_hosts")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("Host *\n\tHostName %s\n\tPort %d\n\tUser bob\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", h.Addr, h.Port, known)), 0o600))
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte(fmt.Sprintf("version: 1\nhosts: [{name: web1, ssh_config: %q, tier: dev}]\n", config)), 0o600))
	command := func(name string, words ...string) *exec.Cmd {
		cmd := exec.Command(name, words...)
		cmd.Env, cmd.Dir = []string{fairleadtest.Gorace, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir,
			"TERM=xterm", "NO_COLOR=1", "FAIRLEAD_KEEPER=require", "FAIRLEAD_INVENTORY=" + inventory}, dir
		return cmd
	}
	questions := func() []wire.Question {
		c := client.New(client.Config{Socket: filepath.Join(dir, "fairlead", "keeper.sock")})
		defer c.Close()
		all, err := c.Questions(t.Context(), "", 0)
		require.NoError(t, err)
		return all
	}
	gone := func(what any) {
		t.Helper()
		require.Eventually(t, func() bool { return len(questions()) == 0 && server.Connections() == 0 }, 5*time.Second, 10*time.Millisecond, "%v: %+v, %d connections", what, questions(), server.Connections())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := l.Addr().String()
	require.NoError(t, l.Close())
	ways := [][]string{
		{ssh, "web1", "touch " + dir + "/ran"},
		{self, "run", "web1", "--", "touch " + dir + "/ran"},
		{self, "exec", "web1", "--", "touch " + dir + "/ran"},
		{self, "exec", "-s", "named", "web1", "--", "touch " + dir + "/ran"},
		{self, "shell", "web1"},
		{self, "cp", config, "web1:" + dir + "/ran"},
		{ssh, "-N", "-L", listen + ":127.0.0.1:1", "web1"},
	}
	for _, words := range ways { // about the key of the host
		screen := killAt(t, command(words[0], words[1:]...), "Trust it?", syscall.SIGKILL)
		require.Contains(t, screen, "Trust it?", "%q", words)
		gone(words)
	}
	assert.NoFileExists(t, known)
	require.NoError(t, knownhosts.Append(known, knownhosts.Name(h.Addr, h.Port), server.HostKey(), knownhosts.AppendOptions{}))
	for _, words := range ways { // and what the server wants to know
		screen := killAt(t, command(words[0], words[1:]...), "Password: ", syscall.SIGKILL)
		require.Contains(t, screen, "Password: ", "%q: %+v", words, questions())
		gone(words)
	}
	for _, words := range ways { // one that is told to end does so by itself
		cmd := command(words[0], words[1:]...)
		screen := killAt(t, cmd, "Password: ", syscall.SIGTERM)
		assert.Equal(t, 128+int(syscall.SIGTERM), cmd.ProcessState.ExitCode(), "%q: %s", words, screen)
		gone(words)
	}
	assert.NoFileExists(t, filepath.Join(dir, "ran"))

	// The keys of the one that is killed between two prompts are of no use to the next.
	cmd := command(ssh, "web1", "echo =$((40+2))=")
	screen := fairleadtest.SitAt(t, cmd, []string{"Password: ", rightPassword + "\r", "Verification code: ", rightCode + "\r"})
	assert.Zero(t, cmd.ProcessState.ExitCode(), screen)
	assert.Contains(t, screen, "=42=")
	stop()
	assert.Empty(t, holding(t, dir, rightPassword, rightCode))
}

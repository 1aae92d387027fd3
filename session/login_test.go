package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// account is a login shell, as a program, and what its start files hold.
type account struct {
	name  string
	shell []string          // argv, to which -c and the line are added
	files map[string]string // in the home directory; %s of none
	login bool
}

const banner = "echo 'Welcome to ACME. All is recorded.'\nprintf 'no newline, a bell \\007, and \\036 a mark'\n"

// login shells of any kind, start files that talk.
var accounts = []account{
	{name: "bash", shell: []string{"bash"}},
	{name: "zsh", shell: []string{"zsh"}, files: map[string]string{".zshenv": banner}},
	{name: "dash", shell: []string{"dash"}},
	{name: "ash", shell: []string{"busybox", "ash"}},
	{name: "mksh", shell: []string{"mksh"}},
	{name: "fish", shell: []string{"fish"}, files: map[string]string{".config/fish/config.fish": banner}},
	{name: "tcsh", shell: []string{"tcsh"}, files: map[string]string{".tcshrc": "echo Welcome to ACME\nset prompt='%~ '\n"}},
	{name: "profile that talks", shell: []string{"bash"}, login: true, files: map[string]string{".profile": banner, ".zprofile": banner}},
}

func (a account) site(t *testing.T, cfg session.Config) *site {
	program, err := exec.LookPath(a.shell[0])
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", a.shell[0])
		}
		t.Skipf("%s is not installed", a.shell[0])
	}
	home := t.TempDir()
	for name, text := range a.files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	srv := sessiontest.Server(t, sshserver.Config{
		Shell: append(append([]string{program}, a.shell[1:]...), "-c"),
		Dir:   home,
		Env:   []string{"HOME=" + home, "SHELL=" + program, "PATH=" + os.Getenv("PATH"), "LOGNAME=tester", "USER=tester"},
	})
	s := &site{name: a.name, host: sessiontest.Host(t, "server", srv.Addr()), breaker: srv}
	s.host.Login = a.login
	s.start(t, cfg, serverDialer(t, srv).Dial)
	return s
}

func TestAnyLoginShellWillDo(t *testing.T) {
	for _, a := range accounts {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			site := a.site(t, permissive())
			for _, shell := range append([]string{"auto"}, shells...) {
				t.Run(shell, func(t *testing.T) {
					if shell != "auto" {
						needShell(t, shell)
					}
					s := mustOpen(t, site.pool, site.on(shell))
					defer s.Close()
					runCase(t, s, sessionCase{steps: []step{
						ok, sh("echo out; echo err >&2; (exit 7)", "out\n").errs("err\n").exits(7),
						sh("cd /usr; exit 3", "").exits(3), ok.in("/usr"),
						{cmd: session.Command{Script: "cat", Stdin: letters("a\x00b")}, out: "a\x00b", status: session.StatusOK},
					}})
				})
			}
		})
	}
}

// A start file that asks waits for somebody who is not there.
func TestAStartFileThatAsksIsToldAndDoesNotHang(t *testing.T) {
	const asks = "printf 'Continue? [y/n] '; read answer </dev/tty; test \"$answer\" = y || exit 9\n"
	cfg := permissive()
	cfg.Ready = 2 * time.Second
	for _, a := range []account{
		{name: "zsh", shell: []string{"zsh"}, files: map[string]string{".zshenv": asks}},
		{name: "fish", shell: []string{"fish"}, files: map[string]string{
			".config/fish/config.fish":                     "read -P 'Continue? ' answer </dev/tty\n",
			".local/share/fish/generated_completions/keep": "", // else a fish that is new to an account writes them in the background
		}},
		{name: "tcsh", shell: []string{"tcsh"}, files: map[string]string{".tcshrc": "echo -n 'Continue? '\nset answer = \"$<\"\n"}},
		{name: "profile", shell: []string{"dash"}, login: true, files: map[string]string{".profile": asks}},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			site := a.site(t, cfg)
			s := mustOpen(t, site.pool, site.on("dash"))
			defer s.Close()
			r, err := s.Run(t.Context(), session.Command{Script: "echo ok"})
			if err == nil {
				assert.Equal(t, "ok\n", string(r.Stdout))
				return
			}
			assert.Equal(t, session.StatusUnreachable, r.Status)
			assert.False(t, r.Err.Sent)
			text := strings.ToLower(err.Error())
			assert.True(t, strings.Contains(text, "start files may wait for input") || strings.Contains(text, "ended with code"), text)
			assert.NotContains(t, text, "eof")
			t.Log(err)
		})
	}
}

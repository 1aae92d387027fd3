package ssh_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Real accounts become others by real programs: with and without a keeper, at a terminal and where there is no person to ask, for
// each command that can.
func TestCommandsBecomeOtherAccountsForReal(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sudo", "doas", "su"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Part(t, "%s is not installed", program)
		}
	}
	if matches, _ := filepath.Glob("/lib*/*/security/pam_exec.so"); len(matches) == 0 {
		needs.Part(t, "pam_exec is not installed")
	}
	scripts := t.TempDir()
	code := filepath.Join(scripts, "code")
	require.NoError(t, os.WriteFile(code, []byte("#!/bin/sh\ntest \"$PAM_USER\" = flcode || exit 0\nprintf 'Verification code: ' >\"$PAM_TTY\"\nIFS= read -r code <\"$PAM_TTY\"\ntest \"$code\" = otp-271828\n"), 0o755))
	sshd := sessiontest.OpenSSHDWithAccounts(t,
		[]sessiontest.Account{{Name: "flfree", Password: "free-pw-1"}, {Name: "flpass", Password: "pass-pw-2"}, {Name: "flnone", Password: "none-pw-3"}, {Name: "flother", Password: "other-pw-4"}, {Name: "flcode", Password: "code-pw-5"}},
		map[string]string{
			"sudoers.d/fairlead-test": "flfree ALL=(ALL) NOPASSWD: ALL\nflpass,flcode ALL=(ALL) ALL\n",
			"doas.conf":               "permit nopass flfree\npermit flpass\n",
			"pam.d/sudo": "auth required pam_unix.so\nauth [success=1 default=ignore] pam_exec.so quiet " + code + "\nauth requisite pam_deny.so\nauth required pam_permit.so\n" +
				"account required pam_permit.so\nsession required pam_permit.so\n",
		})
	up := filepath.Join(sshd.Dir, "up")
	require.NoError(t, os.Mkdir(up, 0o777))
	require.NoError(t, os.Chmod(up, 0o777))
	for _, d := range []string{filepath.Dir(scripts), scripts} {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	type step struct{ asks, typed string }
	cases := map[string]struct {
		user, become string
		steps        []step
		alone        string // what is said where there is no person; "" is no difference
		fails        string // what is said at a terminal; "" is success
	}{
		"sudo-free":  {"flfree", "{user: root, method: sudo}", nil, "", ""},
		"sudo-pass":  {"flpass", "{user: root, method: sudo}", []step{{"sudo password for flpass on sudo-pass: ", "pass-pw-2"}}, "sudo asks for the password of flpass before flpass becomes root, and none was given", ""},
		"sudo-wrong": {"flpass", "{user: root, method: sudo}", []step{{"sudo password for flpass on sudo-wrong: ", "wrong-pw"}}, "", "sudo does not take the password of flpass"},
		"sudo-none":  {"flnone", "{user: root, method: sudo}", []step{{"sudo password for flnone on sudo-none: ", "none-pw-3"}}, "", "sudo does not let flnone become root"},
		"sudo-code": {"flcode", "{user: root, method: sudo}", []step{{"sudo password for flcode on sudo-code: ", "code-pw-5"}, {"sudo on sudo-code asks: Verification code: ", "otp-271828"}},
			"sudo asks for the password of flcode", ""},
		"doas-free":  {"flfree", "{user: root, method: doas}", nil, "", ""},
		"doas-pass":  {"flpass", "{user: root, method: doas}", []step{{"doas password for flpass on doas-pass: ", "pass-pw-2"}}, "doas asks for the password of flpass before flpass becomes root, and none was given", ""},
		"doas-wrong": {"flpass", "{user: root, method: doas}", []step{{"doas password for flpass on doas-wrong: ", "wrong-pw"}}, "", "doas does not take the password of flpass"},
		"doas-none":  {"flnone", "{user: root, method: doas}", nil, "", "doas does not let flnone become root"},
		"su-pass":    {"flnone", "{user: flother, method: su}", []step{{"su password for flother on su-pass: ", "other-pw-4"}}, "su asks for the password of flother before flnone becomes flother, and none was given", ""},
		"su-wrong":   {"flnone", "{user: flother, method: su}", []step{{"su password for flother on su-wrong: ", "wrong-pw"}}, "", "su does not take the password of flother"},
	}
	var inventory strings.Builder
	inventory.WriteString("version: 1\nhosts:\n")
	for name, tt := range cases {
		fmt.Fprintf(&inventory, "  - {name: %s, user: %s, ssh_config: %q, tier: dev, become: %s}\n", name, tt.user, sshd.Dir+"/config-all", tt.become)
	}
	text, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sshd.Dir+"/config-all", []byte(strings.Replace(string(text), "Host sshd", "Host *", 1)), 0o600))
	for _, keeper := range []string{"off", "require"} {
		t.Run(keeper, func(t *testing.T) {
			dir, stop := fairleadtest.KeeperHome(t)
			self := fairleadtest.Program(t, dir)
			file := filepath.Join(dir, "inventory.yaml")
			require.NoError(t, os.WriteFile(file, []byte(inventory.String()), 0o600))
			env := []string{fairleadtest.Gorace, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir,
				"TERM=xterm", "NO_COLOR=1", "FAIRLEAD_KEEPER=" + keeper, "FAIRLEAD_INVENTORY=" + file}
			for name, tt := range cases {
				// A keeper becomes them in the same way: what is its own is how it asks, once for each kind of answer.
				if keeper == "require" && !slices.Contains([]string{"sudo-free", "sudo-pass", "sudo-wrong", "sudo-code", "su-pass", "doas-none"}, name) {
					continue
				}
				as := "root"
				if strings.HasPrefix(name, "su-") {
					as = "flother"
				}
				far := filepath.Join(up, keeper+"-"+name)
				for i, words := range [][]string{
					{"run", name, "--", "echo =$(id -un)="}, {"exec", name, "--", "echo =$(id -un)="}, {"shell", name}, {"cp", "--yes", file, name + ":" + far},
				} {
					what := keeper + " " + strings.Join(words, " ")
					if tt.fails != "" && i > 0 && i != 2 { // a wrong password costs seconds: a command and a terminal show it
						continue
					}
					var typed []string
					for _, s := range tt.steps {
						typed = append(typed, s.asks, s.typed+"\r")
					}
					for range 5 { // a code is for one start, and cp needs several
						if words[0] == "cp" && name == "sudo-code" {
							typed = append(typed, typed[2], typed[3])
						}
					}
					if words[0] == "shell" && tt.fails == "" {
						typed = append(typed, map[bool]string{true: "# ", false: "$ "}[as == "root"], "echo =$(id -un)=; exit\r")
					}
					cmd := exec.Command(self, words...)
					cmd.Env, cmd.Dir = env, dir
					screen := fairleadtest.SitAt(t, cmd, typed)
					for _, s := range tt.steps {
						assert.NotContains(t, screen, s.typed, what)
						assert.Contains(t, screen, s.asks, what)
					}
					if tt.fails != "" {
						assert.Equal(t, 3, cmd.ProcessState.ExitCode(), "%s: %s", what, screen)
						assert.Contains(t, strings.ReplaceAll(screen, "\n", " "), tt.fails, what)
						continue
					}
					assert.Zero(t, cmd.ProcessState.ExitCode(), "%s: %s", what, screen)
					if words[0] != "cp" {
						assert.Contains(t, screen, "="+as+"=", what)
						continue
					}
					st, err := os.Stat(far)
					require.NoError(t, err, "%s: %s", what, screen)
					assert.Equal(t, as == "root", st.Sys().(*syscall.Stat_t).Uid == 0, what)
					require.NoError(t, os.Remove(far))
				}
				if tt.fails != "" && len(tt.steps) > 0 {
					continue // without a person it is the same as with the right password
				}
				// Nobody to ask.
				for _, words := range [][]string{
					{"run", name, "--", "echo =$(id -un)="}, {"exec", name, "--", "echo =$(id -un)="}, {"cp", "--yes", file, name + ":" + far},
				} {
					what := keeper + " nobody " + strings.Join(words, " ")
					cmd := exec.Command(self, words...)
					cmd.Env, cmd.Dir = env, dir
					cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
					out, _ := cmd.CombinedOutput()
					switch want := tt.alone + tt.fails; {
					case want != "":
						assert.Equal(t, 3, cmd.ProcessState.ExitCode(), "%s: %s", what, out)
						assert.Contains(t, string(out), want, what)
						assert.NoFileExists(t, far)
					default:
						assert.Zero(t, cmd.ProcessState.ExitCode(), "%s: %s", what, out)
						if words[0] != "cp" {
							assert.Contains(t, string(out), "="+as+"=", what)
						}
					}
				}
				_ = os.Remove(far)
			}
			stop()
			assert.Empty(t, holding(t, dir, "pass-pw-2", "wrong-pw", "none-pw-3", "other-pw-4", "code-pw-5", "otp-271828"))
		})
	}
}

package sessiontest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Account is one that a machine has for the time of a test.
type Account struct {
	Name, Password string
}

// OpenSSHDWithAccounts is OpenSSHD in a mount namespace of its own, with accounts of its own and a copy of /etc in which files, by
// their names there, hold other texts; the machine's are not touched. Each account logs in with the one key, and so does that of
// the test. The test needs root.
func OpenSSHDWithAccounts(t testing.TB, accounts []Account, files map[string]string, more ...string) *SSHD {
	t.Helper()
	needs.Root(t, "make accounts")
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		needs.Part(t, "no mount namespace can be made")
	}
	for _, program := range []string{"useradd", "chpasswd"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Part(t, "%s is not installed", program)
		}
	}
	dir := t.TempDir()
	etc := filepath.Join(dir, "etc")
	out, err := exec.Command("cp", "-a", "/etc", etc).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, text := range files {
		path := filepath.Join(etc, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o440))
	}
	var script, passwords strings.Builder
	script.WriteString("set -e\nmount --make-rprivate /\nmount --bind \"$1\" /etc\n")
	for _, of := range []string{"/run/sudo", "/var/lib/sudo", "/run/doas"} { // who has typed a password lately
		script.WriteString("if test -d " + of + "; then mount -t tmpfs none " + of + "; fi\n")
	}
	for _, a := range accounts {
		home := filepath.Join(dir, "home-"+a.Name)
		script.WriteString("useradd -m -d '" + home + "' -s /bin/bash '" + a.Name + "'\n")
		passwords.WriteString(a.Name + ":" + a.Password + "\n")
	}
	script.WriteString("chpasswd <\"$2\"\nshift 2\nexec \"$@\"\n")
	writeFile(t, filepath.Join(dir, "passwords"), passwords.String())
	for _, d := range []string{filepath.Dir(dir), dir} { // sshd reads the accounts' keys as they would
		require.NoError(t, os.Chmod(d, 0o755))
	}
	in := []string{"unshare", "-m", "sh", "-c", script.String(), "sh", etc, filepath.Join(dir, "passwords")}
	s := openSSHD(t, in, append(more, "SetEnv FAIRLEAD_TEST=accounts"))
	require.NoError(t, os.Chmod(s.Dir, 0o755))
	require.NoError(t, os.Chmod(s.Authorized, 0o644))
	return s
}

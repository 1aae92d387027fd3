package ssh_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What ssh_config says of variables reaches a program as with ssh; "-" takes patterns back, and SetEnv goes before SendEnv.
func TestVariablesReachTheHostAsWithSSH(t *testing.T) {
	t.Parallel()
	inPlaceOfSSH(t, func(a *asSSH) {
		text, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(a.sshd.Config, fmt.Appendf(nil, "SendEnv FL_* OTHER GONE\nSendEnv -GO*\nSetEnv FL_SET=config\n%s", text), 0o600))
		a.env = append(a.env, "FL_A=a b", "GONE=1", "FL_SET=caller", "OTHER=refused", "UNSAID=1")
		const line = `echo "[$FL_A|$GONE|$FL_SET|$OTHER|$UNSAID]"`
		client, err := exec.LookPath("ssh")
		if err != nil {
			needs.Part(t, "ssh is not installed")
		}
		want := a.ok(client, "-F", a.sshd.Config, "sshd", line)
		assert.Equal(t, "[a b||config||]\n", want)
		assert.Equal(t, want, a.ok(a.ssh, "sshd", line))
		assert.Equal(t, a.ok(client, "-F", a.sshd.Config, "-oSendEnv=UNSAID", "sshd", line), a.ok(a.ssh, "-oSendEnv=UNSAID", "sshd", line))
		// SetEnv is for every shell, SendEnv is for those that the caller starts.
		assert.Contains(t, a.ok(a.fairlead(), "run", "sshd", "--", line), "[||config||]\n")
		cmd := exec.Command(a.fairlead(), "shell", "sshd")
		cmd.Env, cmd.Dir = a.env, a.dir
		assert.Contains(t, fairleadtest.SitAt(t, cmd, []string{"", "stty -echo; " + line + "; exit\r"}), "\n"+strings.TrimSpace(want))
	}, "AcceptEnv FL_* GONE UNSAID")
}

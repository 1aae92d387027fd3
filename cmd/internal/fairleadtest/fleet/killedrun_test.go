package fleet_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// kill -9 of the program in the middle of a run: the hosts whose turn had not come can be told from those that got the command.
func TestARunThatIsKilledIsGoneOnWithWhereItHadNotCome(t *testing.T) {
	for _, keeper := range []string{"off", "require"} {
		t.Run(keeper, func(t *testing.T) {
			t.Parallel()
			home, _ := fairleadtest.KeeperHome(t)
			inventory := filepath.Join(home, "inventory.yaml")
			require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: \"web[1-6]\", transport: demo, tier: dev}]\n"), 0o600))
			name := fairleadtest.Program(t, home)
			fairlead := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), name, append([]string{"-i", inventory, "--keeper", keeper}, args...)...)
				cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb"}
				return cmd
			}
			ran := filepath.Join(home, "ran")
			cmd := fairlead("run", "all", "--forks", "1", "--", `echo {host} >>`+ran+`; [ {host} != web3 ] || { echo here; exec sleep 600; }`)
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				_ = cmd.Wait() // until then what it says may grow
				require.NoError(t, err, said.String())
			}
			assert.Contains(t, line, "here")
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()

			shown, err := fairlead("runs", "show").CombinedOutput()
			require.NoError(t, err, "%s", shown)
			assert.Regexp(t, `(?m)^  web\[1-2\]  ok$`, string(shown))
			assert.Regexp(t, `(?m)^  web3  not known$`, string(shown))
			assert.Regexp(t, `(?m)^  web\[4-6\]  not run$`, string(shown))
			again, err := fairlead("run", "--rerun", "notrun", "--forks", "1").CombinedOutput()
			require.NoError(t, err, "%s", again)
			text, err := os.ReadFile(ran)
			require.NoError(t, err)
			assert.Equal(t, "web1 web2 web3 web4 web5 web6", strings.Join(strings.Fields(string(text)), " "))
		})
	}
}

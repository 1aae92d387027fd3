package restart_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
)

// A keeper was killed, and a program that it was starting still has its socket: the next one starts all the same.
func TestAKeeperStartsWhereADeadOnesSocketIsLent(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), keepertest.LenderEnv+"="+dir)
	out, err := cmd.Output()
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	_, err = net.Dial("unix", keepertest.PlacesIn(dir).Socket)
	require.NoError(t, err)
	keepertest.StartChild(t, dir, "").End()
}

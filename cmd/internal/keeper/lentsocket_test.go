package keeper_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// lenderEnv has the test binary listen on the socket of the keeper at a place, start a program that has the socket too, say its
// id, and end.
const lenderEnv = "FAIRLEAD_KEEPER_LENDER"

func lenderMain(dir string) int {
	path := placesIn(dir).Socket
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 1
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 1
	}
	f, err := l.File()
	if err != nil {
		return 1
	}
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = []*os.File{f}
	if cmd.Start() != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}

// A keeper was killed, and a program that it was starting still has its socket: the next one starts all the same.
func TestAKeeperStartsWhereADeadOnesSocketIsLent(t *testing.T) {
	dir := childPlace(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), lenderEnv+"="+dir)
	out, err := cmd.Output()
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	_, err = net.Dial("unix", placesIn(dir).Socket)
	require.NoError(t, err)
	startChild(t, dir, "").end()
}

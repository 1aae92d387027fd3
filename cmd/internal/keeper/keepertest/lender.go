package keepertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// LenderEnv has the test binary listen on the socket of the keeper at a place, start a program that has the socket too, say its
// id, and end.
const LenderEnv = "FAIRLEAD_KEEPER_LENDER"

func lenderMain(dir string) int {
	path := PlacesIn(dir).Socket
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

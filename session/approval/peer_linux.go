package approval

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// peerOf asks for who has connected (SO_PEERCRED, unix(7)).
func peerOf(c *net.UnixConn) (peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return peer{}, err
	}
	if cerr != nil {
		return peer{}, os.NewSyscallError("getsockopt", cerr)
	}
	return peer{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

// lookUp reads /proc/PID/stat (proc(5)): number, name in parentheses, state, parent, as the 7th field the terminal, and as
// the 22nd the time of birth.
func lookUp(pid int) (process, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	return parseStat(string(data))
}

func parseStat(stat string) (process, error) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')') // a name may hold either
	if open < 0 || end < open {
		return process{}, fmt.Errorf("approval: /proc describes a process in an unknown format")
	}
	f := strings.Fields(stat[end+1:])
	if len(f) < 20 {
		return process{}, fmt.Errorf("approval: /proc describes a process incompletely")
	}
	parent, err := strconv.Atoi(f[1])
	if err != nil {
		return process{}, fmt.Errorf("approval: /proc names no parent of a process: %w", err)
	}
	return process{parent: parent, name: stat[open+1 : end], born: f[19], bare: f[4] == "0"}, nil
}

// environOf reads the environment that a process was started with (proc(5)).
func environOf(pid int) (getenv func(string) string, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, err
	}
	vars := strings.Split(string(data), "\x00")
	return func(name string) string {
		for _, kv := range vars {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	}, nil
}

package approval

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var thisSystem = system{environ: environOf, elsewhere: elsewhere, sameLogin: sameLogin, holders: holders, group: groupOf}

// elsewhere compares the namespaces of a process with ours (namespaces(7)). Mount namespaces are not compared: a service
// often has its own.
func elsewhere(pid int) (namespace string, err error) {
	for _, ns := range []struct{ file, name string }{{"user", "user"}, {"pid", "PID"}} {
		theirs, err := os.Readlink(proc(pid, "ns", ns.file))
		if err != nil {
			return "", err
		}
		ours, err := os.Readlink("/proc/self/ns/" + ns.file)
		if err != nil {
			return "", err
		}
		if theirs != ours {
			return ns.name, nil
		}
	}
	return "", nil
}

func proc(pid int, names ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, names...)...)
}

// noLogin is the audit session of what belongs to no login (audit(7)).
const noLogin = "4294967295"

// sameLogin returns the processes of the audit session of a process, which no process can leave.
func sameLogin(pid int) []int {
	return loginMates(pid, os.Getpid(), processes, func(pid int) string { return loginOf(proc(pid, "sessionid")) })
}

// loginMates returns the processes of a process's login, where it has one that is not ours too.
func loginMates(pid, self int, all func() []int, login func(pid int) string) (others []int) {
	id := login(pid)
	if id == "" || id == login(self) {
		return nil
	}
	for _, other := range all() {
		if other != pid && login(other) == id {
			others = append(others, other)
		}
	}
	return others
}

func loginOf(file string) string {
	data, err := os.ReadFile(file)
	if id := strings.TrimSpace(string(data)); err == nil && id != noLogin {
		return id
	}
	return ""
}

func processes() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// groupOf is the control group of a process in the unified hierarchy, or all of them where there are several (cgroups(7)).
func groupOf(pid int) string {
	data, err := os.ReadFile(proc(pid, "cgroup"))
	if err != nil {
		return ""
	}
	return string(data)
}

// holders returns the processes that have the client's end of a connection, ourselves first.
func holders(c connection) (pids []int) {
	inode := ""
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if inode = socketOf(file, c); inode != "" {
			break
		}
	}
	if inode == "" {
		return nil
	}
	want := fmt.Sprintf("socket:[%s]", inode)
	for _, pid := range append([]int{os.Getpid()}, processes()...) {
		if slices.Contains(pids, pid) {
			continue
		}
		fds, err := os.ReadDir(proc(pid, "fd"))
		if err != nil {
			continue // another account's
		}
		for _, fd := range fds {
			if to, err := os.Readlink(proc(pid, "fd", fd.Name())); err == nil && to == want {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// socketOf finds the client's end of a connection in a table of the kernel (proc_net_tcp), and returns its inode.
func socketOf(file string, c connection) (inode string) {
	data, _ := os.ReadFile(file) // nothing where the kernel has no such table
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || !strings.Contains(fields[1], ":") {
			continue
		}
		local, ok1 := kernelAddr(fields[1])
		remote, ok2 := kernelAddr(fields[2])
		if ok1 && ok2 && local == c.client && remote == c.server && fields[9] != "0" {
			return fields[9]
		}
	}
	return ""
}

// kernelAddr reads an address as the kernel writes it: words of four bytes in the machine's order, in hexadecimal.
func kernelAddr(text string) (netip.AddrPort, bool) {
	addr, port, ok := strings.Cut(text, ":")
	b, err := hex.DecodeString(addr)
	n, perr := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || perr != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 { // a machine that writes the lowest byte first
		for i := 0; i < len(b); i += 4 {
			slices.Reverse(b[i : i+4])
		}
	}
	a, ok := netip.AddrFromSlice(b)
	return plain(netip.AddrPortFrom(a, uint16(n))), ok
}

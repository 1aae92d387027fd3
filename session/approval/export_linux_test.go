package approval

import "net"

// ParseStat reads a line of /proc/PID/stat.
func ParseStat(stat string) (Process, error) {
	p, err := parseStat(stat)
	return Process{p.parent, p.name, p.born}, err
}

// HasTerminal reports whether a line of /proc/PID/stat is that of a process with a terminal.
func HasTerminal(stat string) bool {
	p, err := parseStat(stat)
	return err == nil && !p.bare
}

// KernelAddr reads an address as the kernel writes it.
var KernelAddr = kernelAddr

// LoginMates returns the processes of a process's login.
var LoginMates = loginMates

// Holders returns the processes that have the client's end of a connection.
func Holders(c net.Conn) []int {
	return holders(connection{plain(c.LocalAddr().(*net.TCPAddr).AddrPort()), plain(c.RemoteAddr().(*net.TCPAddr).AddrPort())})
}

// PeerOf asks the kernel for the account and the process that have connected.
func PeerOf(c *net.UnixConn) (uid, pid int, err error) {
	p, err := peerOf(c)
	return p.uid, p.pid, err
}

// EnvironOf reads the environment that a process was started with.
var EnvironOf = environOf

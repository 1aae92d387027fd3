package approval

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// connection is a connection over TCP as its server tells it: from where, and to where.
type connection struct{ client, server netip.AddrPort }

// parseConnection reads SSH_CONNECTION (ssh(1)): the client's address and port, and the server's.
func parseConnection(text string) (connection, bool) {
	f := strings.Fields(text)
	if len(f) != 4 {
		return connection{}, false
	}
	client, ok1 := addrPort(f[0], f[1])
	server, ok2 := addrPort(f[2], f[3])
	return connection{client, server}, ok1 && ok2
}

func addrPort(addr, port string) (netip.AddrPort, bool) {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.AddrPort{}, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return plain(netip.AddrPortFrom(a, uint16(n))), err == nil
}

// plain writes an address in one way: without a zone, and IPv4 as such.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// maxDialed bounds how many connections are remembered that this process has made to this machine.
const maxDialed = 4096

// Connected notes a connection that this process has made: where its server is this machine, the shells behind it are
// inside (see Inside) even when it is closed.
func (t *Trees) Connected(c net.Conn) {
	local, ok1 := c.LocalAddr().(*net.TCPAddr)
	remote, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if ok1 && ok2 && (remote.IP.IsLoopback() || remote.IP.Equal(local.IP) || isOwn(remote.IP)) {
		t.noteConnection(connection{plain(local.AddrPort()), plain(remote.AddrPort())})
	}
}

// isOwn reports whether an address is one of this machine.
func isOwn(ip net.IP) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// noteConnection remembers a connection.
func (t *Trees) noteConnection(c connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.dialed[c]; known {
		return
	}
	if len(t.dialings) == maxDialed {
		delete(t.dialed, t.dialings[0])
		t.dialings = t.dialings[1:]
	}
	t.dialed[c] = struct{}{}
	t.dialings = append(t.dialings, c)
}

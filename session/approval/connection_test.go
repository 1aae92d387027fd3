package approval_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestAConnectionIsReadAsTheServerTellsIt(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1 4001 10.0.0.2 22":         "10.0.0.1:4001 10.0.0.2:22",
		" 10.0.0.1  4001\t10.0.0.2 65535 ":  "10.0.0.1:4001 10.0.0.2:65535",
		"::1 1 ::1 22":                      "[::1]:1 [::1]:22",
		"fe80::1%eth0 1 fe80::2%eth0 22":    "[fe80::1]:1 [fe80::2]:22",
		"::ffff:10.0.0.1 1 10.0.0.2 22":     "10.0.0.1:1 10.0.0.2:22",
		"":                                  "",
		"10.0.0.1 4001 10.0.0.2":            "",
		"10.0.0.1 4001 10.0.0.2 22 x":       "",
		"host 4001 10.0.0.2 22":             "",
		"10.0.0.1 4001 host 22":             "",
		"10.0.0.1 x 10.0.0.2 22":            "",
		"10.0.0.1 4001 10.0.0.2 65536":      "",
		"10.0.0.1 -1 10.0.0.2 22":           "",
		"10.0.0.1 65536 10.0.0.2 22":        "",
		"10.0.0.1:4001 10.0.0.2:22 1.1.1.1": "",
	} {
		client, server, ok := approval.ParseConnection(text)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, client+" "+server)
		}
	}
}

// dialed is a connection from one address to another.
type dialed struct {
	net.Conn
	from, to net.Addr
}

func (d dialed) LocalAddr() net.Addr  { return d.from }
func (d dialed) RemoteAddr() net.Addr { return d.to }

func tcp(addr string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(addr), Port: port} }

func TestConnectionsToThisMachineAreRemembered(t *testing.T) {
	inside := func(connection string, dials ...net.Conn) bool {
		system := map[int]approval.Process{1: {0, "init", "1"}, 20: {1, "fairlead", "20"}, 33: {1, "daemon", "33"}}
		trees, _ := approval.MadeUpMachine(system, approval.Machine{Environ: map[int]map[string]string{33: {"SSH_CONNECTION": connection}}}, 20)
		for _, c := range dials {
			trees.Connected(c)
		}
		err := trees.Inside(33)
		if err != nil {
			require.ErrorContains(t, err, "login over SSH")
		}
		return err != nil
	}
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	own := "127.0.0.1"
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			own = n.IP.String()
		}
	}
	for name, tt := range map[string]struct {
		from, to string
		want     bool
	}{
		"over loopback":               {"127.0.0.1", "127.0.0.1", true},
		"another loopback address":    {"127.0.0.1", "127.0.0.2", true},
		"its own address":             {"198.51.100.1", "198.51.100.1", true},
		"from loopback to an address": {"127.0.0.1", own, true},
		"another machine":             {"198.51.100.1", "203.0.113.1", false},
	} {
		assert.Equal(t, tt.want, inside(tt.from+" 4001 "+tt.to+" 22", dialed{from: tcp(tt.from, 4001), to: tcp(tt.to, 22)}), name)
	}
	const ours = "127.0.0.1 4001 127.0.0.1 22"
	first := dialed{from: tcp("127.0.0.1", 4001), to: tcp("127.0.0.1", 22)}
	assert.False(t, inside(ours))
	assert.False(t, inside(ours, dialed{from: tcp("127.0.0.1", 4002), to: tcp("127.0.0.1", 22)}))
	assert.False(t, inside(ours, dialed{from: &net.UnixAddr{}, to: tcp("127.0.0.1", 22)}))
	assert.False(t, inside(ours, dialed{from: tcp("127.0.0.1", 4001), to: &net.UnixAddr{}}))

	var many []net.Conn
	for i := range 4095 {
		many = append(many, dialed{from: tcp(fmt.Sprintf("127.1.%d.%d", i/256, i%256), 1), to: tcp("127.0.0.1", 22)})
	}
	assert.True(t, inside(ours, append([]net.Conn{first}, many...)...))
	assert.True(t, inside(ours, append(append([]net.Conn{first}, many...), many...)...), "one that is known is not another")
	assert.False(t, inside(ours, append(append([]net.Conn{first}, many...), dialed{from: tcp("127.2.0.1", 1), to: tcp("127.0.0.1", 22)})...), "the oldest is forgotten")
}

package sessiontest

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func splitAddr(t testing.TB, addr string) (host string, port uint16) {
	t.Helper()
	host, text, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	n, err := strconv.ParseUint(text, 10, 16)
	require.NoError(t, err)
	return host, uint16(n)
}

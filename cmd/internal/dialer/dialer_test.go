package dialer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

func newDialer(t *testing.T, inv func() (*hosts.Inventory, error)) *Dialer {
	t.Helper()
	ios, _, _, _ := iostreams.Test()
	d, err := New(Config{IO: ios, Inventory: inv})
	require.NoError(t, err)
	return d
}

func TestDemoHostsShareAServerThatGoesWithTheDialer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d := newDialer(t, nil)
	var addrs []string
	var open []session.Transport
	for _, name := range []string{"demo1", "demo2"} {
		conn, err := d.Dial(t.Context(), hosts.Host{Name: name, Transport: hosts.Demo})
		require.NoError(t, err)
		open = append(open, conn)
		p := conn.Peer()
		addrs = append(addrs, p.Addr)
		assert.True(t, strings.HasPrefix(p.Addr, "127.0.0.1:"), p.Addr)
		assert.True(t, strings.HasPrefix(p.HostKey, "SHA256:"), "the key was looked at")
	}
	assert.Equal(t, addrs[0], addrs[1])
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "twice")
}

func TestADialerThatServedNoDemoClosesToo(t *testing.T) {
	require.NoError(t, newDialer(t, nil).Close())
}

func TestLocalAndCommandHostsAreReachedOnThisMachine(t *testing.T) {
	d := newDialer(t, nil)
	for _, h := range []hosts.Host{
		{Name: "here", Transport: hosts.Local},
		{Name: "box", Transport: hosts.Command, Command: []string{"sh"}},
	} {
		conn, err := d.Dial(t.Context(), h)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	_, err := d.Dial(t.Context(), hosts.Host{Name: "x", Transport: "carrier-pigeon"})
	assert.EqualError(t, err, `dialer: x has the transport "carrier-pigeon", which this program does not know`)
}

func TestJumpHostsAreFoundInTheInventory(t *testing.T) {
	inv, err := hosts.NewInventory([]hosts.Host{{Name: "bastion", Addr: "10.0.0.1"}}, nil)
	require.NoError(t, err)
	cfg := Config{Inventory: func() (*hosts.Inventory, error) { return inv, nil }}
	h, ok := cfg.Lookup("bastion")
	assert.True(t, ok)
	assert.Equal(t, "10.0.0.1", h.Addr)
	_, ok = cfg.Lookup("bastoin")
	assert.False(t, ok)
	_, ok = Config{}.Lookup("bastion")
	assert.False(t, ok)
	_, ok = Config{Inventory: func() (*hosts.Inventory, error) { return nil, errors.New("broken") }}.Lookup("bastion")
	assert.False(t, ok)
}

func TestForksAreCappedByOpenFiles(t *testing.T) {
	for _, tt := range []struct {
		want   int
		files  uint64
		forks  int
		capped bool
	}{
		{32, 1024, 32, false},
		{500, 1024, 160, true},
		{160, 1024, 160, false},
		{10, 40, 1, true},
		{1, 0, 1, false},
		{5000, 1 << 63, 5000, false},
	} {
		forks, capped := capForks(tt.want, tt.files)
		assert.Equal(t, tt.forks, forks, "%d of %d files", tt.want, tt.files)
		assert.Equal(t, tt.capped, capped)
	}
	forks, _ := CapForks(1)
	assert.Equal(t, 1, forks)
}

func TestASecretIsReadWithTheKeysThatEditALine(t *testing.T) {
	for name, tt := range map[string]struct{ typed, want string }{
		"return":                 {"secret\r", "secret"},
		"newline":                {"secret\n", "secret"},
		"nothing":                {"\r", ""},
		"backspace":              {"secrex\x7ft\r", "secret"},
		"backspace over umlaut":  {"größ\x7f\x7fün\r", "grün"},
		"backspace at the start": {"\x7f\x7fa\r", "a"},
		"start anew":             {"wrong\x15right\r", "right"},
		"spaces and controls":    {" a\tb \r", " a\tb "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(iotest.OneByteReader(strings.NewReader(tt.typed)))
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
	for name, typed := range map[string]io.Reader{
		"^C":       strings.NewReader("abc\x03"),
		"^D":       strings.NewReader("\x04"),
		"hangup":   strings.NewReader("abc"),
		"too long": strings.NewReader(strings.Repeat("x", maxSecret+1) + "\r"),
		"timeout":  iotest.ErrReader(os.ErrDeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(typed)
			assert.Error(t, err)
			assert.Empty(t, got)
		})
	}
}

func TestAnInventoryThatCannotBeReadMayHaveCredentials(t *testing.T) {
	host := hosts.Host{Name: "elsewhere"}
	for name, tt := range map[string]struct {
		principal string
		err       error
		closed    bool
	}{
		"for an agent":             {"agent/x", errors.New("inventory.yaml:3: unknown key"), true},
		"for an operator":          {"operator/ada", errors.New("inventory.yaml:3: unknown key"), false},
		"where there is none":      {"agent/x", fmt.Errorf("inventory: %w", fs.ErrNotExist), false},
		"where all is as it ought": {"agent/x", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			outside := Config{Principal: tt.principal, Inventory: func() (*hosts.Inventory, error) {
				if tt.err != nil {
					return nil, tt.err
				}
				return hosts.NewInventory(nil, nil)
			}}.Outside()
			h := host
			if outside != nil {
				h = outside(host)
			}
			assert.Equal(t, tt.closed, h.NoLogin != "", h.NoLogin)
		})
	}
}

package thismachine_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/thismachine"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestIsThisMachine(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte("Host alias\n\tHostName 127.0.0.1\n\tIdentityFile /srv/keys/alias\n\tIdentityAgent /run/alias.sock\nHost far\n\tHostName 192.0.2.1\n"), 0o600))
	own, err := os.Hostname()
	require.NoError(t, err)
	m := thismachine.Machine{Lookup: func(_ context.Context, name string) ([]string, error) {
		switch name {
		case "by-name.example":
			return []string{"192.0.2.9", "::1"}, nil
		case "elsewhere.example":
			return []string{"192.0.2.9"}, nil
		}
		return nil, errors.New("no such host")
	}}
	for _, tt := range []struct {
		h    hosts.Host
		want bool
	}{
		{hosts.Host{Name: "x", Transport: hosts.Local}, true},
		{hosts.Host{Name: "x", Transport: hosts.Command}, true},
		{hosts.Host{Name: "x", Transport: hosts.Demo}, true},
		{hosts.Host{Name: "x", Addr: "127.0.0.1"}, true},
		{hosts.Host{Name: "x", Addr: "127.5.6.7", Transport: hosts.SSH}, true},
		{hosts.Host{Name: "x", Addr: "::1"}, true},
		{hosts.Host{Name: "x", Addr: "::ffff:127.0.0.1"}, true},
		{hosts.Host{Name: "x", Addr: "0.0.0.0"}, true},
		{hosts.Host{Name: "x", Addr: "localhost"}, true},
		{hosts.Host{Name: "x", Addr: "LOCALHOST."}, true},
		{hosts.Host{Name: "x", Addr: "a.localhost"}, true},
		{hosts.Host{Name: "x", Addr: own}, true},
		{hosts.Host{Name: "x", Addr: "by-name.example"}, true},
		{hosts.Host{Name: "alias", SSHConfig: config}, true},
		{hosts.Host{Name: "localhost", SSHConfig: "none"}, true},
		{hosts.Host{Name: "x", Addr: "192.0.2.1"}, false},
		{hosts.Host{Name: "x", Addr: "elsewhere.example"}, false},
		{hosts.Host{Name: "x", Addr: "unknown.example"}, false},
		{hosts.Host{Name: "far", SSHConfig: config}, false},
		{hosts.Host{Tier: "prod"}, false},
	} {
		assert.Equal(t, tt.want, m.Is(tt.h), "%+v", tt.h)
		assert.Equal(t, tt.want, m.Is(tt.h), "again: %+v", tt.h)
	}
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		assert.True(t, m.Is(hosts.Host{Name: "x", Addr: a.(*net.IPNet).IP.String()}), a)
	}
	assert.Equal(t, []string{"/k/one", "/srv/keys/alias", "/run/alias.sock"}, m.Keys(hosts.Host{Name: "alias", SSHConfig: config, Identity: []string{"/k/one"}}))
}

package sshconn_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// ssh compares with addresses of other machines alone, and only where it connects to them itself.
func TestCheckHostIPComparesWithTheAddress(t *testing.T) {
	a := newAccount(t)
	_, signer := freshKey(t)
	_, wrong := freshKey(t)
	key, other := signer.PublicKey(), wrong.PublicKey()
	for name, k := range map[string]ssh.PublicKey{
		"web1": key, "[192.0.2.7]:2200": key, "[192.0.2.8]:2200": other, "[127.0.0.1]:2200": other, "[2001:db8::8]:2200": other, "192.0.2.9": other,
	} {
		require.NoError(t, knownhosts.Append(a.path("known_hosts"), name, k, knownhosts.AppendOptions{}))
	}
	for name, tt := range map[string]struct {
		config, remote string
		changed        bool
	}{
		"the same key":                 {"CheckHostIP yes", "192.0.2.7", false},
		"another key":                  {"CheckHostIP yes", "192.0.2.8", true},
		"another key, IPv6":            {"CheckHostIP yes", "2001:db8::8", true},
		"another key of the bare host": {"CheckHostIP yes", "192.0.2.9", false},
		"no key":                       {"CheckHostIP yes", "192.0.2.1", false},
		"this machine":                 {"CheckHostIP yes", "127.0.0.1", false},
		"an alias":                     {"CheckHostIP yes\n\tHostKeyAlias web1", "192.0.2.8", true},
		"through another host":         {"CheckHostIP yes\n\tProxyJump db1", "192.0.2.8", false},
		"through a program":            {"CheckHostIP yes\n\tProxyCommand nc %h %p", "192.0.2.8", false},
		"an address with an alias":     {"CheckHostIP yes\n\tHostName 192.0.2.8\n\tHostKeyAlias web1", "192.0.2.8", true},
		"the address is what is typed": {"CheckHostIP yes\n\tHostName 192.0.2.8\n\tHostKeyAlias web1\n\tPort 22", "192.0.2.8", false},
		"switched off":                 {"CheckHostIP no", "192.0.2.8", false},
		"by default":                   {"", "192.0.2.8", false},
	} {
		a.write("config", "Host web1\n\t"+tt.config+"\n\tPort 2200\n")
		err := sshconn.CheckAddress(a.dialer(), web1, &net.TCPAddr{IP: net.ParseIP(tt.remote), Port: 2200}, key)
		if !tt.changed {
			assert.NoError(t, err, name)
			continue
		}
		var changed *knownhosts.ChangedError
		if assert.ErrorAs(t, err, &changed, name) {
			assert.Contains(t, changed.Host, tt.remote)
		}
	}
}

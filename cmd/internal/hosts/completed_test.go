package hosts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestAForwardThatLeadsAnywhereIsRefusedWherePermitRemoteOpenLimitsIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte("Host gate\n  PermitRemoteOpen db1:5432\nHost wide\n  PermitRemoteOpen any\n"), 0o600))
	anywhere := hosts.Forward{Option: "-R", Bind: "localhost", Port: 1080}
	one := hosts.Forward{Option: "-R", Bind: "localhost", Port: 1080, Host: "db1", To: 5432}
	from := hosts.Forward{Option: "-D", Bind: "localhost", Port: 1080}
	for name, want := range map[string]string{"gate": file + ":2: PermitRemoteOpen: not supported, and a -R without a destination would lead anywhere", "wide": "", "web1": ""} {
		h := hosts.Host{Name: name, SSHConfig: file}
		_, err := Completed(h, []hosts.Forward{one, anywhere}, false)
		if want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, want)
		}
		_, err = Completed(h, []hosts.Forward{one, from}, false)
		assert.NoError(t, err, name)
	}
}

func TestSocketsOfForwardsAreWhatSSHConfigSays(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	t.Setenv("WHERE", dir)
	require.NoError(t, os.WriteFile(file, []byte("Host web1\n  HostName 10.0.0.1\n  StreamLocalBindUnlink yes\n  LocalForward ${WHERE}/%n.sock /run/%r\nHost open\n  StreamLocalBindMask 0111\n"), 0o600))
	h := hosts.Host{Name: "web1", User: "ops", SSHConfig: file}
	found, err := Forwards(h, false, false)
	require.NoError(t, err)
	got, err := Completed(h, append(found, hosts.Forward{Option: "-R", Bind: "/run/%h", Host: "localhost", To: 1}), false)
	require.NoError(t, err)
	assert.Equal(t, []hosts.Forward{
		{Option: "-L", Bind: filepath.Join(dir, "web1.sock"), Host: "/run/ops", Unlink: true}, {Option: "-R", Bind: "/run/10.0.0.1", Host: "localhost", To: 1},
	}, got)
	got, err = Completed(h, found, false, "StreamLocalBindUnlink=no")
	require.NoError(t, err)
	assert.False(t, got[0].Unlink)
	_, err = Completed(h, []hosts.Forward{{Option: "-L", Bind: "/run/%Z", Host: "/x"}}, false)
	assert.ErrorContains(t, err, `-L /run/%Z:/x: the token "%Z" is not known here`)
	h.Name = "open"
	_, err = Completed(h, []hosts.Forward{{Option: "-D", Bind: "/run/x"}}, false)
	assert.ErrorContains(t, err, file+":6: StreamLocalBindMask 0111: not supported")
	_, err = Completed(h, []hosts.Forward{{Option: "-R", Bind: "/run/x"}}, false)
	assert.NoError(t, err, "it is of the host")
	_, err = Completed(hosts.Host{Name: "here", Transport: hosts.Local}, found, false)
	assert.EqualError(t, err, "here is reached by local, and ports are forwarded over ssh only")
	_, err = Completed(hosts.Host{Name: "here", Transport: hosts.Local}, nil, false)
	assert.NoError(t, err)
}

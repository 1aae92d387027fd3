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
		err := MayLead(h, []hosts.Forward{one, anywhere}, false)
		if want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, want)
		}
		assert.NoError(t, MayLead(h, []hosts.Forward{one, from}, false), name)
	}
}

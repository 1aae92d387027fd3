package shell_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lookalike stands before the programs of this machine: it tells whom it was to become, and the account stays.
const lookalike = `#!/bin/sh
AS="$2 by doas"
export AS
shift 3
exec "$@"
`

// A terminal is the account's as which commands run on the host, or the one that the call names, and that is on record.
func TestATerminalIsOfTheAccountThatIsBecome(t *testing.T) {
	for name, row := range map[string]struct {
		args       []string
		sees, says string
	}{
		"the inventory's": {nil, "as app by doas", "app by doas"},
		"the call's":      {[]string{"--become=other"}, "as other by doas", "other by doas"},
		"none":            {[]string{"--become=none"}, "as nobody else", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "{name: here, transport: local, become: {user: app, method: doas}}")
			bin := filepath.Join(p.dir, "bin")
			require.NoError(t, os.Mkdir(bin, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(bin, "doas"), []byte(lookalike), 0o700))
			cmd := p.command(t, append([]string{"shell", "here"}, row.args...)...)
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			c := open(t, cmd)
			c.atShell()
			c.enter(`echo "as ${AS-nobody else}"; stty size`)
			c.see(row.sees)
			c.enter("exit 3")
			assert.Equal(t, 3, c.exit())
			for _, e := range p.events(t) {
				assert.Equal(t, row.says, e.Become, "%s", e.Kind)
			}
		})
	}
}

func TestATerminalIsNotOpenedAsSomebodyElse(t *testing.T) {
	p := newPlace(t, "{name: here, transport: local, become: {user: app, method: doas}}")
	bin := filepath.Join(p.dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "doas"), []byte("#!/bin/sh\necho 'doas: Operation not permitted'\nexit 1\n"), 0o700))
	cmd := p.command(t, "shell", "here")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	c := open(t, cmd)
	c.printed("doas does not let")
	assert.Equal(t, 3, c.exit())
}

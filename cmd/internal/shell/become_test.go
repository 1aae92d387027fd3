package shell_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Commands on this host run as another account. A terminal does not, and says so before it opens.
func TestATerminalIsOfTheAccountThatLogsIn(t *testing.T) {
	p := newPlace(t, "{name: here, transport: local, become: {user: app, method: doas}}")
	c := open(t, p.command(t, "shell", "here"))
	c.printed("the terminal runs as the account that logs in; fairlead run runs commands there as app by doas")
	c.atShell()
	c.enter("exit 0")
	assert.Zero(t, c.exit())
	for _, e := range p.events(t) {
		assert.Empty(t, e.Become, "%s", e.Kind)
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVariablesThatLookLikeOursAndAreNotAreTold(t *testing.T) {
	var said strings.Builder
	tellUnknown(&said, []string{
		"HOME=/", "FAIRLEAD_KEEPER=off", "FAIRLEAD_INVENTORY=/x", "FAIRLEAD_DEFAULTS_USER=u", "FAIRLEAD_EVENT=e", "FAIRLEAD_KEPER=", "FAIRLEADER=1", "=C:=x",
	})
	assert.Empty(t, said.String())
	tellUnknown(&said, []string{"FAIRLEAD_KEPER=secret", "FAIRLEAD_DEFAULT_USER=u", "FAIRLEAD_\x1b[1m=x"})
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	assert.Len(t, lines, 3)
	assert.Contains(t, lines[0], "fairlead: warning: FAIRLEAD_KEPER is set and has no effect: fairlead reads FAIRLEAD_KEEPER, ")
	assert.Contains(t, lines[1], "FAIRLEAD_DEFAULT_USER is set and has no effect")
	assert.NotContains(t, said.String(), "secret")
	assert.NotContains(t, said.String(), "\x1b")
}

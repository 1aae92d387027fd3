package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxDoc is how many lines "go doc" may print of a public package: one or two screens.
const maxDoc = 80

// The packages for programs that embed Fairlead are small enough to be read, and their documentation says where to begin and
// what is stable. The symbols of packages below session that only Fairlead uses are not among them.
func TestThePublicAPIIsSmall(t *testing.T) {
	for _, name := range []string{
		"hosts", "session", "session/sshconn", "session/localpty", "session/dialer", "session/files", "session/jobs", "session/rollout", "session/template", "session/telemetry",
		"session/sessiontest", "audit", "framing",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := exec.Command("go", "doc", module+name).Output()
			require.NoError(t, err)
			lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
			assert.LessOrEqual(t, len(lines), maxDoc, "%d lines", len(lines))
			assert.Regexp(t, `(?i)\bbegin\b`, string(text), "where to begin")
			assert.Regexp(t, `(?i)\bstable\b`, string(text), "what is stable")
		})
	}
	text, err := exec.Command("go", "doc", "-all", module+"session").Output()
	require.NoError(t, err)
	for _, inner := range []string{"type Action", "type Deed", "type Wrapping", "type Held", ") Lend(", "Own bool // see"} {
		assert.NotContains(t, string(text), inner)
	}
}

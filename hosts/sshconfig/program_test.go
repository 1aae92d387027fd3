package sshconfig_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestTheProgramOnTheHost(t *testing.T) {
	h := newHome(t)
	for text, want := range map[string]struct{ command, tty, err string }{
		"":                                      {},
		"RemoteCommand none\nRemoteCommand top": {},
		"RemoteCommand top -b  \"a  b\" # c\nRemoteCommand none": {command: `top -b  "a  b" # c`},
		"RemoteCommand=%n/%p/%r/100%%\nPort 23\nUser u":          {command: "web/23/u/100%"},
		"RemoteCommand %z":                {err: "config:1: RemoteCommand %z: "},
		"RequestTTY force\nRequestTTY no": {tty: "force"},
		"RequestTTY TRUE":                 {tty: "yes"},
		"RequestTTY auto":                 {tty: "auto"},
		"RequestTTY maybe":                {err: `config:1: RequestTTY: "maybe" is not yes or no`},
		"Host other\nRemoteCommand top\nRequestTTY yes\nHost web":  {},
		"Match host w*\nRemoteCommand tmux new -A\nRequestTTY yes": {command: "tmux new -A", tty: "yes"},
	} {
		cfg, err := h.Open(h.writeRaw("home/.ssh/config", text+"\n"))
		require.NoError(t, err)
		s, err := cfg.Resolve("web", sshconfig.Options{Programs: true})
		if want.err != "" {
			assert.ErrorContains(t, err, want.err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want.command, s.RemoteCommand.V, text)
		assert.Equal(t, want.tty, s.RequestTTY.V, text)
		assert.Empty(t, s.Skipped, text)
	}
}

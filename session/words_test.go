package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestScriptedRepliesAreFoundByWordsAsTheyWereGiven(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("/opt/deploy v2", reply{Stdout: "deployed"})
		d.On("uname -a", reply{Stdout: "Linux"})
		p := poolOn(t, d, session.PoolConfig{})
		for _, tt := range []struct {
			words      []string
			out, shown string
		}{{[]string{"/opt/deploy", "v2"}, "deployed", "/opt/deploy v2"}, {[]string{"uname", "-a"}, "Linux", `\uname -a`}} {
			r, err := p.Run(t.Context(), web1, session.Command{Script: must(session.Words(tt.words...))})
			require.NoError(t, err)
			assert.Equal(t, tt.out, string(r.Stdout))
			assert.Equal(t, tt.shown, r.Command)
		}
	})
}

// A bare name of the words cannot be an alias, on any shell, and neither can a path where the shell has no aliases of paths.
func TestWordsAreNoAliases(t *testing.T) {
	for _, c := range []string{"bash", "zsh", "dash", "ash", "mksh", "ksh"} {
		t.Run(c, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), "prog")
			require.NoError(t, os.WriteFile(prog, []byte("#!/bin/sh\necho real\n"), 0o755))
			needShell(t, c)
			h := hosts.Host{Name: "here", Transport: hosts.Local, Shell: c}
			tr, err := localpty.Dial(t.Context(), h)
			require.NoError(t, err)
			defer tr.Close()
			s := open(t, tr, c)
			defer s.Close()
			for _, alias := range []string{"shopt -s expand_aliases 2>/dev/null; :", "alias true='echo ALIAS'", "alias uname='echo ALIAS'"} {
				_, err := s.Run(t.Context(), session.Command{Script: alias})
				require.NoError(t, err)
			}
			r, err := s.Run(t.Context(), session.Command{Script: must(session.Words("true"))})
			require.NoError(t, err)
			assert.Empty(t, string(r.Stdout))
			r, err = s.Run(t.Context(), session.Command{Script: must(session.Words(prog))})
			require.NoError(t, err)
			assert.Equal(t, "real\n", string(r.Stdout))
		})
	}
}

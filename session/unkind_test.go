package session_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

var unkindAll = flag.Bool("unkind.all", false, "run every unkind command on every shell, and not all on bash and half of them, which differ for each, on the others")

// Each case of testdata/unkind_commands.txt begins with a line "@@" that may name the shells it is for; "--" parts its commands. Whatever
// they do to their shell, each of them ends by itself with an outcome that is known, nothing of ours shows, and the next one works.
//
//	go test ./session -run TestAfterUnkind -unkind.all
func TestAfterUnkindCommandsTheNextOneWorks(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/unkind_commands.txt")
	require.NoError(t, err)
	all := strings.Split("\n"+strings.TrimSuffix(string(file), "\n"), "\n@@")[1:]
	for k, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			t.Parallel()
			for i, text := range all {
				only, scripts, _ := strings.Cut(text, "\n")
				if only != "" && !contains(only, shell) || needs.Sample && (i+k)%4 != 0 {
					continue
				}
				if only == "" && shell != "bash" && (i+k)%2 != 0 && !*unkindAll {
					continue
				}
				tr, err := localpty.New(localpty.Config{Dir: t.TempDir()})
				require.NoError(t, err)
				s := open(t, tr, shell)
				for script := range strings.SplitSeq(scripts, "\n--\n") {
					r, err := s.Run(t.Context(), session.Command{Script: script, Timeout: time.Minute})
					assert.NoError(t, err, script)
					for _, text := range []string{string(r.Stdout), string(r.Stderr), string(r.Stray)} {
						assert.NotContains(t, text, "_fl_", script)
						assert.NotContains(t, text, "\x1e", script)
					}
				}
				r, err := s.Run(t.Context(), session.Command{Script: "echo ok", Timeout: time.Minute})
				assert.NoError(t, err, scripts)
				assert.Equal(t, "ok\n", string(r.Stdout), scripts)
				assert.Empty(t, r.Stderr, scripts)
				s.Close()
				tr.Close()
			}
		})
	}
}

package held_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// sampled is which part of the hostile commands is run: all of them take minutes.
var sampled = flag.Int("hostile.every", 40, "run every n-th of the hostile commands held")

// hostile are all commands that looked like reads once and are none, as package judge keeps them, and those of all its tables and those of
// package programs that are allowed.
func hostile(t *testing.T) (all []string) {
	t.Helper()
	lines := func(path string) []string {
		text, err := os.ReadFile(filepath.Join("../policy", path))
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	for _, line := range append(lines("judge/testdata/notreads.txt"), lines("judge/testdata/more/allow.txt")...) {
		if escaped, ok := strings.CutPrefix(line, "E:"); ok {
			plain, err := strconv.Unquote(`"` + strings.ReplaceAll(escaped, `"`, `\"`) + `"`)
			require.NoError(t, err)
			line = plain
		}
		if !strings.HasPrefix(line, "# ") {
			all = append(all, line)
		}
	}
	for _, path := range []string{"judge/testdata/cases.tsv", "programs/testdata/looking.tsv"} {
		for _, line := range lines(path) {
			what, rest, _ := strings.Cut(line, "\t")
			command, _, _ := strings.Cut(rest, "\t")
			if (what == "allow" || what == "read-only") && !strings.Contains(command, `\x`) {
				all = append(all, command)
			}
		}
	}
	return all
}

// What is hostile, and each command that is allowed, changes nothing when it runs held, whatever the judge says of it: not the tree
// in which it runs, not the processes and sockets beside it. Each has half a second: some never end.
//
//	go test ./session/held -run TestHostileCommandsChangeNothingHeld -hostile.every 1 -v
func TestHostileCommandsChangeNothingHeld(t *testing.T) {
	t.Parallel()
	all := hostile(t)
	assert.Greater(t, len(all), 1400)
	every := *sampled
	if needs.Sample && every > 1 { // what runs is no code of Go
		every *= 5
	}
	for who, as := range accounts() {
		for _, version := range []int{newest, 0} {
			t.Run(fmt.Sprint(who, "/", version), func(t *testing.T) {
				t.Parallel()
				hold(t, "bash", version).close() // skips where that cannot be
				v := newVictims(t, as)
				tree := filepath.Join(v.dir, "tree")
				require.NoError(t, os.Mkdir(tree, 0o755))
				for _, name := range []string{"f", "a", "b", "x", "pwned", ".env", "x.sh", "out.json", "data.csv"} {
					require.NoError(t, os.WriteFile(filepath.Join(tree, name), []byte("kept\n"), 0o755))
				}
				if as != nil {
					for _, name := range append([]string{"."}, "f", "a", "b", "x", "pwned", ".env", "x.sh", "out.json", "data.csv") {
						require.NoError(t, os.Chown(filepath.Join(tree, name), int(as.Uid), int(as.Gid)))
					}
				}
				before := v.state(t)
				spec := shellFor("bash", version, true)
				spec.Env = []string{"HOME=" + tree}
				s, err := start(t, spec, as)
				require.NoError(t, err)
				ran, tried := 0, 0
				for i, command := range all {
					if (i+len(who)+version)%every > 0 {
						continue
					}
					word, err := framing.Quote(command)
					require.NoError(t, err)
					// Without a terminal, whose modes some would change.
					o := s.run("cd " + tree + " && setsid -w timeout -s KILL .5 bash -c " + word + " >/dev/null 2>&1 </dev/null")
					require.False(t, o.gone, command)
					if ran++; o.code != 127 {
						tried++
					}
				}
				assert.Equal(t, before, v.state(t))
				assert.Empty(t, v.spoken(t))
				t.Logf("%d commands, %d of them of programs that are here", ran, tried)
				if !needs.Sample {
					assert.Greater(t, tried, ran/4)
				}
			})
		}
	}
}

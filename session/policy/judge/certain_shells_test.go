//go:build unix

package judge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// assigner writes scripts that set variables in every way that may be allowed, and show the files that those name. What begins with
// /s/ is known only when they run.
type assigner struct {
	r    *rand.Rand
	list string // a file with names that begin with /s/
	n    int
}

func (g *assigner) pick(all ...string) string { return all[g.r.IntN(len(all))] }

func (g *assigner) name() string { return g.pick("f", "g", "x") }

func (g *assigner) value() string {
	g.n++
	return fmt.Sprintf("/v/%d", g.n)
}

func (g *assigner) show() string {
	n := g.name()
	if g.r.IntN(12) == 0 {
		return "cat " + g.pick(`"${`+n+`:-/s/0}"`, `"${`+n+`%y}"`, `${`+n+`:+/s/1}`)
	}
	return "cat " + g.pick(`"$`+n+`"`, `$`+n, `"${`+n+`}"`, `"$`+n+`/y"`, `${`+n+`}`)
}

func (g *assigner) simple() string {
	n := g.name()
	switch g.r.IntN(9) {
	case 0, 1:
		return n + "=" + g.value()
	case 2:
		return n + "=$" + g.name()
	case 3:
		return n + `="$` + g.name() + `/z"`
	case 4:
		if g.r.IntN(3) > 0 {
			return n + "=" + g.value()
		}
		return g.pick(n+"=$(echo /s/2)", "read -r "+n+" <"+g.list, "echo /s/3 | read -r "+n, n+"=/s/4 :", "{ read -r "+n+"; } <"+g.list, "unset "+n, `\read -r `+n+" <"+g.list, "command read -r "+n+" <"+g.list, `read -r \`+n+" <"+g.list, ": ${"+n+":=/s/5}")
	default:
		return g.show()
	}
}

func (g *assigner) stmt(depth int) string {
	if depth == 0 {
		return g.simple()
	}
	body := func() string { return g.several(depth - 1) }
	switch g.r.IntN(14) {
	case 0:
		return "if " + g.pick("true", "false", g.simple()) + "; then " + body() + "; fi"
	case 1:
		return "if " + g.pick("true", "false") + "; then " + body() + "; else " + body() + "; fi"
	case 2:
		return "if false; then " + body() + "; elif " + g.pick("true", "false", g.simple()) + "; then " + body() + "; fi"
	case 3:
		return "for " + g.name() + " in " + g.pick("1 2", "$(echo /s/6 /s/7)", g.value()+" "+g.value(), `"$`+g.name()+`"`) + "; do " + body() + g.pick("", "; break", "; continue") + "; done"
	case 4:
		return "while read -r " + g.name() + "; do " + body() + "; done <" + g.list
	case 5:
		return "( " + body() + " )"
	case 6:
		return "{ " + body() + "; }"
	case 7:
		return "case " + g.pick("a", "b", "$x") + " in a) " + body() + ";; *) " + body() + ";; esac"
	case 8:
		return g.simple() + g.pick(" && ", " || ") + g.simple() + g.pick(" && ", " || ") + g.simple()
	case 9:
		return g.pick("true", "false") + g.pick(" && ", " || ") + g.simple() + g.pick(" && ", " || ") + g.simple()
	case 10:
		return "{ " + body() + "; } | { " + body() + "; }"
	case 11:
		return "echo $( " + body() + " )"
	case 12:
		return "! " + g.simple()
	}
	return g.simple()
}

func (g *assigner) several(depth int) string {
	all := make([]string, 1+g.r.IntN(3))
	for i := range all {
		all[i] = g.stmt(depth)
	}
	return strings.Join(all, g.pick("; ", "\n"))
}

// TestWhatVariablesCertainlyHoldIsWhatTheyHold runs scripts that the judge lets pass in real shells: no file is shown of which the
// script does not say the name.
func TestWhatVariablesCertainlyHoldIsWhatTheyHold(t *testing.T) {
	most := 90 // scripts for each shell
	if needs.Sample {
		most = 30
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	require.NoError(t, os.WriteFile(list, []byte("/s/8\n/s/9\n"), 0o600))
	for _, tt := range []struct{ shell, path string }{
		{"bash", "bash"}, {"dash", "dash"}, {"zsh", "zsh"}, {"mksh", "mksh"}, {"ash", "busybox"}, {"ksh", "ksh93"},
	} {
		t.Run(tt.shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(tt.path)
			if err != nil {
				needs.Part(t, "no %s", tt.path)
			}
			g := &assigner{r: rand.New(rand.NewPCG(11, 27)), list: list}
			var (
				text    strings.Builder
				scripts []string
				reads   []map[string]bool // nil where not all of them are known to the letter
			)
			text.WriteString("cat() { for a do printf '%s %s\\n' \"$CASE\" \"$a\" >>\"$SHOWN\"; done; }\n")
			for tries := 0; len(scripts) < most && tries < 100*most; tries++ {
				script := g.several(1 + g.r.IntN(2))
				if g.r.IntN(4) > 0 {
					script = "f=" + g.value() + " g=" + g.value() + "; x=" + g.value() + "; " + script
				}
				if !strings.Contains(script, "cat ") || !strings.Contains(script, "/s/") && tries%8 > 0 {
					continue
				}
				rep := judge.Judge(judge.Request{Script: script, Shell: tt.shell, Dir: "/"})
				if rep.Class != policy.ReadOnly {
					continue
				}
				known := map[string]bool{}
				for _, p := range rep.Reads {
					if known != nil && p.Literal {
						known[p.Text] = true
					} else {
						known = nil
					}
				}
				quoted, err := framing.Quote(script)
				require.NoError(t, err)
				fmt.Fprintf(&text, "( CASE=%d; eval %s ) </dev/null >/dev/null 2>&1\n", len(scripts), quoted)
				scripts, reads = append(scripts, script), append(reads, known)
			}
			require.Len(t, scripts, most)
			text.WriteString(":\n")
			file, shown := filepath.Join(dir, tt.shell), filepath.Join(dir, tt.shell+".shown")
			require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
			args := []string{file}
			if tt.path == "busybox" {
				args = []string{"ash", file}
			}
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "SHOWN="+shown)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			got, err := os.ReadFile(shown)
			require.NoError(t, err)
			names := 0
			for line := range bytes.Lines(got) { // in any order: a shell need not wait for all of a pipeline
				number, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
				at, err := strconv.Atoi(number)
				require.NoError(t, err)
				names++
				if strings.HasPrefix(name, "/s/") || reads[at] != nil && !reads[at][name] {
					assert.Fail(t, "a file that the script does not name", "%s\n%s\nknown: %v", name, scripts[at], reads[at])
				}
			}
			assert.Greater(t, names, most)
		})
	}
}

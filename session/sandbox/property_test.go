package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// maker makes commands out of what goes wrong: links, "..", quotes, moves, changes of directory, and several at once.
type maker struct{ *rand.Rand }

func (m maker) one(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) word() string {
	var names []string
	for range 1 + m.IntN(2) + m.IntN(2) {
		names = append(names, m.one("a.txt", "b.txt", "sub", "sub", "deep", "esc", "in", "up", "l", "m", "new", "..", "..", ".", "out", "keep", "x.txt"))
	}
	w := strings.Join(names, m.one("/", "/", "//"))
	w = m.one("", "", "", "", "", "", "", "BOX/", "BOX/", "OUT/", "./", "../", "sub/", "esc/", "in/", "/proc/self/cwd/") + w + m.one("", "", "", "/")
	switch m.IntN(8) {
	case 0:
		return "'" + w + "'"
	case 1:
		return `"` + w + `"`
	case 2:
		return `\` + w
	case 3:
		return w[:1] + `''` + w[1:]
	}
	return w
}

func (m maker) command(depth int) string {
	if depth > 0 && m.IntN(3) == 0 {
		c := m.command(depth - 1)
		switch m.IntN(10) {
		case 0:
			return "cd " + m.word() + " && " + c
		case 1:
			return "cd " + m.word() + "; " + c
		case 2:
			return "(cd " + m.word() + " && " + c + ")"
		case 3:
			return "if test -e " + m.word() + "; then " + c + "; else " + m.command(depth-1) + "; fi"
		case 4:
			return "for i in 1 2; do " + c + "; done"
		case 5:
			return c + " | " + m.command(depth-1)
		case 6:
			return "{ " + c + "; } >>" + m.word()
		case 7:
			return "cd -P " + m.word() + " || " + c
		default:
			return c + m.one("; ", " && ", " || ", "\n") + m.command(depth-1)
		}
	}
	x, y := m.word(), m.word()
	switch m.IntN(22) {
	case 0:
		return "echo x >" + x
	case 1:
		return "cat " + x + " >>" + y
	case 2:
		return "rm -f " + x
	case 3:
		return "rm -rf " + x
	case 4:
		return "mv -f " + x + " " + y
	case 5:
		return "cp -f " + x + " " + y
	case 6:
		return "cp " + x + " " + m.word() + " " + y
	case 7:
		return "ln -f " + x + " " + y
	case 8:
		return "ln -s " + x + " " + y
	case 9:
		return "ln -sfn " + x + " " + y
	case 10:
		return "mkdir -p " + x
	case 11:
		return "rmdir " + x
	case 12:
		return "touch " + x
	case 13:
		return "sed -i s/a/b/ " + x
	case 14:
		return "sort " + x + " -o " + y
	case 15:
		return "tee " + x + " <" + y
	case 16:
		return "chmod -R u+x " + x
	case 17:
		return "truncate -s 1 " + x
	case 18:
		return "sed -n 'w " + strings.Trim(x, `'"\`) + "' " + y
	case 19:
		return "uniq " + x + " " + y
	case 20:
		return "mv " + x + " " + m.word() + " " + y
	default:
		return "sh -c \"echo y >" + strings.ReplaceAll(x, `"`, "") + "\""
	}
}

// outsideOf is all of a scratch tree but what is in the sandbox.
func outsideOf(t testing.TB, dir string) map[string]string {
	all := snapshot(t, dir)
	for name := range all {
		if strings.HasPrefix(name, dir+"/box/") {
			delete(all, name)
		}
	}
	return all
}

// Whatever is allowed, in whatever order, changes nothing outside. The commands really run, and what holds them there is
// the kernel: a mistake in what is checked must not hurt the machine that finds it.
func TestWhateverIsAllowedChangesNothingOutside(t *testing.T) {
	trees, commands := 4, 40
	if testing.Short() {
		trees = 3
	}
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			need(t, shell)
			m := maker{rand.New(rand.NewPCG(7, uint64(shell[0])))}
			allowed, changed := 0, 0
			for n := range trees {
				dir := treeIn(t, lasting(t))
				run := held(t, dir, shell)
				outside := outsideOf(t, dir)
				g := guard(t, dir, policy.AllowAll)
				var ran []string
				for range commands {
					at := dir + m.one("/box", "/box", "/box/sub", "/box/sub/deep", "/box/in", "/box/new", "/box/l")
					if info, err := os.Stat(at); err != nil || !info.IsDir() {
						at = dir + "/box"
					}
					command := expand(dir, m.command(2))
					d := decide(t, g, request(at, shell, command))
					if d.Verdict != policy.Allow {
						continue
					}
					allowed++
					before := snapshot(t, dir)
					ran = append(ran, at+": "+command)
					run(at, command)
					require.Equal(t, outside, outsideOf(t, dir), "tree %d:\n%s", n, strings.Join(ran, "\n"))
					if !assert.ObjectsAreEqual(before, snapshot(t, dir)) {
						changed++
					}
				}
				require.NoError(t, os.RemoveAll(dir))
			}
			assert.Greater(t, allowed, trees, "nearly nothing was allowed, so nothing was tried")
			assert.Greater(t, changed, trees, "nearly nothing changed anything, so nothing was tried")
			t.Logf("%d commands ran, %d changed the sandbox", allowed, changed)
		})
	}
}

// held returns what runs commands in a shell that can change nothing but the tree: each in a new shell, but all in one
// place.
func held(t *testing.T, dir, shell string) func(at, command string) {
	t.Helper()
	s := box(dir)
	wrap := func(p session.Program) (session.Program, error) { return sandbox.Bubblewrap{}.Program(s, p) }
	if can, err := sandbox.Probe(t.Context(), runner("sh", "-c"), sandbox.Bubblewrap{}, s); err != nil || !can.Bubblewrap {
		l := landlocked(t)
		wrap = func(p session.Program) (session.Program, error) { return l.Program(s, p) }
	}
	script := filepath.Join(dir, "run")
	set := func(text string) {
		require.NoError(t, os.WriteFile(script, []byte(text), 0o644))
		require.NoError(t, os.Chtimes(script, epoch, epoch))
	}
	set("")
	p, err := wrap(session.Program{Line: fmt.Sprintf("exec sh -c 'while read -r x; do %s %s </dev/null >/dev/null 2>&1; echo done; done'", shell, script)})
	require.NoError(t, err)
	cmd := exec.Command("sh", "-c", p.Line)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func(at, command string) {
		set("cd '" + at + "' || exit\n" + command + "\n")
		_, err := io.WriteString(in, "go\n")
		require.NoError(t, err)
		said, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "done\n", said)
		set("")
	}
}

// Whatever bytes a command is made of: there is an answer, and what is allowed holds nothing that is known only when it
// runs, in the language that the shell reads.
func FuzzGuard(f *testing.F) {
	dir := tree(f)
	g := guard(f, dir, policy.AllowAll)
	m := maker{rand.New(rand.NewPCG(1, 2))}
	for range 20 {
		f.Add(m.command(3))
	}
	for _, s := range []string{"cat <<EOF\n$x\nEOF", "cat $'x'", "[[ a -nt ../b ]]", "((x))", "f(){ :;};f", "cat <(ls)", "a[$(x)]=1", "case $x in y) ;; esac", "cat \"${x:-`ls`}\"", "coproc ls", "select x in a; do ls; done", "let x=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		d := decide(t, g, request(dir+"/box", "bash", command))
		if d.Verdict != policy.Allow {
			return
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
		if err != nil {
			t.Fatalf("%q is allowed, and cannot be parsed: %v", command, err)
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob, *syntax.FuncDecl, *syntax.DeclClause, *syntax.ArithmCmd, *syntax.CoprocClause:
				t.Fatalf("%q is allowed, and holds a %T", command, n)
			}
			return true
		})
	})
}

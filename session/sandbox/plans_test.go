package sandbox_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// paperResolver knows a tree without any disk: /box/esc leads to /out, /box/in to /box/sub/deep.
type paperResolver struct{}

func (paperResolver) Resolve(_ context.Context, _, cwd string, paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		if !path.IsAbs(p) {
			p = cwd + "/" + p
		}
		at := "/"
		for name := range strings.SplitSeq(p, "/") {
			at = path.Join(at, name)
			for from, to := range map[string]string{"/box/esc": "/out", "/box/in": "/box/sub/deep", "/box/sub/up": "/out", "/box/escfile": "/out/secret", "/out/back": "/box"} {
				if at == from {
					at = to
				}
			}
		}
		out[i] = at
	}
	return out, nil
}

// What a sandbox makes of every command in the tables of these tests: the whole decision of one that is checked and held by a shell of
// this machine's kind, then a verdict and a hash of the others, and of the plan that each has made.
func TestPlansAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/plans.tsv")
	var commands []string
	if golden.Updating() {
		commands = tabled(t)
	} else {
		commands = f.Keys()
	}
	require.Greater(t, len(commands), 800)
	for _, command := range commands {
		if f.Due(command) {
			f.Check(command, planned(t, command))
		}
	}
}

func planned(t *testing.T, command string) string {
	var out []string
	for i, v := range []struct {
		level  sandbox.Level
		shell  string
		dir    string
		action bool
		inner  policy.Verdict
	}{
		{sandbox.LevelChecked, "bash", "/box", false, policy.Allow},
		{sandbox.LevelChecked, "", "/box/sub", false, policy.Allow},
		{sandbox.LevelChecked, "dash", "", false, policy.Allow},
		{sandbox.LevelChecked, "zsh", "/out", false, policy.Allow},
		{sandbox.LevelChecked, "mksh", "/box", false, policy.Ask},
		{sandbox.LevelAccount, "bash", "/box", false, policy.Allow},
		{sandbox.LevelKernel, "bash", "/box", false, policy.Allow},
		{sandbox.LevelKernel, "bash", "/box/sub", true, policy.Allow},
		{sandbox.LevelChecked, "bash", "/box", true, policy.Deny},
	} {
		g, err := sandbox.NewGuard(sandbox.GuardConfig{Inner: verdictOf(v.inner), Sandbox: box("/box"), Level: v.level, Resolver: paperResolver{}})
		require.NoError(t, err)
		req := request(v.dir, v.shell, command)
		req.Action = v.action
		d := decide(t, g, req)
		said := fmt.Sprintf("%s %s %s: %s; %s %t %t", d.Verdict, d.Class, d.Rule, d.Reason, d.Needs, d.Clean, d.Taints)
		all := fnv.New32a()
		fmt.Fprintln(all, said, d.Hint, sandbox.Planned("/box", v.dir, v.shell, command))
		sum := strconv.FormatUint(uint64(all.Sum32()), 36)
		if i > 0 {
			said = d.Verdict.String()
		}
		out = append(out, said+" "+sum)
	}
	return strings.Join(out, " | ")
}

// verdictOf is a policy that has one answer.
func verdictOf(v policy.Verdict) policy.Decider {
	return policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: v, Class: policy.Write, Rule: "inner", Reason: "so it is"}, nil
	})
}

// tabled gathers the commands of these tests, and makes others of names in many places.
func tabled(t *testing.T) (out []string) {
	add := func(s string) {
		if len(s) > 1 && len(s) < 300 {
			out = append(out, strings.NewReplacer("OUT", "/out", "BOX", "/box").Replace(s))
		}
	}
	for _, name := range []string{"guard_test.go", "strict_test.go", "words_test.go", "limits_test.go", "property_test.go", "session_test.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				s, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				add(s)
			}
			_, imports := n.(*ast.ImportSpec)
			return !imports
		})
	}
	for _, shape := range strings.Split(`cp %s a|cp a %s|cp -%c a b|mv -%c a b|ln -%c a b|ln -s %s x|rm -%c a|mkdir -%c a|touch -%c a b|chmod -%c 644 a|truncate -%c 0 a|tee -%c a|sed -%c s/a/b/ a|sort -%c a b|grep -%c a b|tar -%c a b|dd if=%s of=a|dd of=%s|find %s|find . -newer %s|find . -fprint %s|cd %s|cd %s && cat a|cat %s|cat <%s|ls >%s|ls 2>>%s|env -C %s ls|xargs -a %s ls|test -f %s|[ -f %s ]|[[ -f %s ]]|git -C %s status|make -C %s|%s a|. %s|source %s|sh %s|curl -o %s h|awk -f %s a|sed -f %s a|install %s a|rsync a %s|pushd %s|for i in %s; do cat $i; done|while ls; do cd %s; done; cat a|if ls; then cd %s; else cd sub; fi; cat ../a|case a in a) cd %s;; b) cd in;; esac; cat ../x|f() { cat %s; }; f|(cd %s); cat a|cd %s & cat a|x=%s cat a|echo %s|ls | cat %s`, "|") {
		if strings.Contains(shape, "%c") {
			for c := 'a'; c <= 'z'; c++ {
				add(fmt.Sprintf(shape, c))
				add(fmt.Sprintf(shape, c-'a'+'A'))
			}
			continue
		}
		for _, name := range []string{"a", "../a", "/out/a", "/box/a", "esc/a", "in/../a", "$x", `"$x/a"`, "*", "~", "~/a", ".", "..", "/", "/dev/null", "/dev/stdin", "-", "-a", "--", "''", "{a,../b}", "sub/", "/box", "escfile", "a\\ b", "$(ls)", "/proc/self/cwd/a", "/box/../out", "~+/a", "a/../../out/x"} {
			add(strings.ReplaceAll(shape, "%s", name))
		}
	}
	// Where a shell stands after what has failed, or is the other way round, and what it cannot know.
	for _, shape := range []string{
		"! cd %s && cat ../a", "! cd %s || cat ../a", "cd %s || cat ../a", "cd %s && ! ls && cat ../a", "! { cd %s; } && cat ../a", "! (cd %s) && cat ../a",
		"time cd %s; cat ../a", "if ! cd %s; then cat ../a; else cat ../b; fi", "if ls; then ls; elif cd %s; then cat ../a; fi; cat ../b",
		"until cd %s; do cat ../a; done; cat ../b", "while ! cd %s; do cat ../a; done; cat ../b", "cd %s | cat ../a; cat ../b", "ls && cd %s || cd in; cat ../a",
		"! ! cd %s && cat ../a",
	} {
		for _, name := range []string{"sub", "in", "esc", "..", "/out", "$x", "-", "/box/none"} {
			add(strings.ReplaceAll(shape, "%s", name))
		}
	}
	for _, pattern := range []string{"a", "'a'", `"a"`, "a*", "[ab]", "@(a|b)", "a|'b'", "$x", `"$x"`, "$(ls)", `"a$(ls)"`, "`ls`", "$((1))", "~", `\a`, "$'a'"} {
		add("case a in " + pattern + ") cat a;; esac")
		add("case " + pattern + " in a) cat a;; esac")
		add("cat <<E\n" + pattern + "\nE")
		add("cat <<'E'\n" + pattern + "\nE")
		add("cat <<<" + pattern)
		add("x=" + pattern + " ls")
		add("for i in " + pattern + "; do ls; done")
		add("[[ -n " + pattern + " ]]")
		add("[[ -f " + pattern + " ]]")
	}
	for _, redirect := range strings.Fields("2>&1 >&2 >&- <&- >&2- <&3- >&a >&../a &>a &>>../a >|a >|../a <>a <>../a {x}>a {x}<&- 3>a 12>&1 <&$x >&$x <a>b <$x") {
		add("ls " + redirect)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

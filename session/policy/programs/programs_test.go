package programs_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	judging "github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// argOf is what a parser makes of one word: enough of it for tests.
func argOf(t testing.TB, src string, w *syntax.Word) programs.Arg {
	a := programs.Arg{Literal: true, Source: src[w.Pos().Offset():w.End().Offset()]}
	var part func(p syntax.WordPart, quoted bool)
	part = func(p syntax.WordPart, quoted bool) {
		switch p := p.(type) {
		case *syntax.Lit:
			v := p.Value
			if !quoted {
				if strings.ContainsAny(v, "*?[") {
					a.Glob = true
				}
				v = strings.ReplaceAll(v, `\`, "")
			} else {
				v = strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\\`, `\`).Replace(v)
			}
			if a.Literal {
				a.Text += v
			}
		case *syntax.SglQuoted:
			if a.Literal {
				a.Text += p.Value
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				part(q, true)
			}
		default:
			a.Literal = false
			if !quoted {
				a.Split = true
			}
		}
	}
	for _, p := range w.Parts {
		part(p, false)
	}
	if a.Glob && a.Literal {
		// Only what stands before the pattern is certain.
		a.Text, a.Literal = a.Text[:strings.IndexAny(a.Text, "*?[")], false
	}
	return a
}

// finding is the strictest over all simple commands of a line, and over what they would run.
type finding struct {
	class  policy.Class
	reason string
}

func (f *finding) add(class policy.Class, reason string) {
	if f.class == "" || class.Rank() > f.class.Rank() {
		f.class, f.reason = class, reason
	}
}

func judgeLine(t testing.TB, src string, depth int) finding {
	t.Helper()
	var f finding
	require.Less(t, depth, 16, "nested too deep: %s", src)
	file, err := syntax.NewParser().Parse(strings.NewReader(src), "")
	if err != nil {
		f.add(policy.Unknown, "does not parse")
		return f
	}
	stdin := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TimeClause, *syntax.FuncDecl, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.DeclClause, *syntax.LetClause:
			f.add(policy.Unknown, "not a simple command")
			return false
		case *syntax.Redirect:
			if n.Op != syntax.DplOut && !(n.Word != nil && n.Word.Lit() == "/dev/null") {
				f.add(policy.Unknown, "a redirect")
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe {
				stdin = "pipe"
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			args := make([]programs.Arg, 0, len(n.Args))
			for _, w := range n.Args {
				args = append(args, argOf(t, src, w))
			}
			for _, as := range n.Assigns {
				switch {
				case as.Name.Value == "TZ", as.Name.Value == "LANG", strings.HasPrefix(as.Name.Value, "LC_"):
				default:
					f.add(policy.Unknown, "an assignment")
				}
			}
			f.argv(t, args, stdin, false, depth)
			return true
		}
		return true
	})
	return f
}

func (f *finding) argv(t testing.TB, args []programs.Arg, stdin string, bounded bool, depth int) {
	require.Less(t, depth, 16)
	if len(args) == 0 || !args[0].Literal || args[0].Glob {
		f.add(policy.Unknown, "a command that isn't literal")
		return
	}
	got := programs.Judge(programs.Call{Name: path.Base(args[0].Text), Args: args[1:], Shell: "bash", Stdin: stdin, Bounded: bounded, Direct: depth == 0 && args[0].Text == path.Base(args[0].Text)})
	f.add(got.Class, got.Reason)
	for _, p := range got.Paths {
		if !p.Write && !p.Delete && (p.Arg.Text == "/etc/shadow" || p.Arg.Text == ".env") {
			f.add(policy.SensitiveRead, "a secret file")
		}
	}
	for _, n := range got.Nested {
		if n.Argv != nil {
			f.argv(t, n.Argv, "", bounded || n.Bounded, depth+1)
			continue
		}
		text, certain := "", true
		for _, w := range n.Script {
			text += w.Text + " "
			certain = certain && w.Literal
		}
		if !certain {
			f.add(policy.Unknown, "source that isn't literal")
		}
		inner := judgeLine(t, text, depth+1)
		if inner.class != "" {
			f.add(inner.class, inner.reason)
		}
	}
}

// judge adds what package judge makes of the files that a line names.
func judge(t testing.TB, src string) finding {
	t.Helper()
	f := judgeLine(t, src, 0)
	if r := judging.Judge(judging.Request{Script: src, Shell: "bash"}); strings.HasPrefix(r.Rule, "forbidden/") || strings.HasPrefix(r.Rule, "paths/") && r.Rule != "paths/unknown" {
		f.add(r.Class, r.Reason)
	}
	return f
}

// table checks lines of "class<TAB>command".
func table(t *testing.T, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		line = strings.TrimLeft(line, "\t ")
		if line == "" || line[0] == '#' {
			continue
		}
		want, command, ok := strings.Cut(line, " | ")
		require.True(t, ok, line)
		got := judge(t, command)
		assert.Equal(t, policy.Class(strings.TrimSpace(want)), got.class, "%s: %s", command, got.reason)
	}
}

func TestAProgramThatNoTableListsIsUnknown(t *testing.T) {
	got := programs.Judge(programs.Call{Name: "frobnicate"})
	assert.Equal(t, policy.Unknown, got.Class)
	assert.False(t, got.Known)
	assert.Equal(t, "programs/unlisted", got.Rule)
}

package parse_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

func TestJoinedLinesOfADocumentAreInDoubt(t *testing.T) {
	for src, want := range map[string]parse.Doubt{
		"cat <<E\na\\\nE\nE":           parse.HereDocument,
		"cat <<E\nE\\\n\nE":            parse.HereDocument,
		"cat <<-E\n\ta\\\n\tb\n\tE":    parse.HereDocument,
		"cat <<EF\nE\\\nF\nEF":         parse.HereDocument,
		"cat <<E\\\nF\na\nEF":          parse.HereDocument,
		"cat <<E <<F\na\nE\nb\\\nc\nF": parse.HereDocument,
		"cat <<E\na\\\\\nE":            parse.HereDocument, // which joins nothing: a reader may think otherwise
		"echo $(cat <<E\na\\\nb\nE\n)": parse.HereDocument,
		"cat <<'E'\na\\\nb\nE":         "",
		"cat <<\"E\"\na\\\nb\nE":       "",
		"cat <<\\E\na\\\nb\nE":         "",
		"cat <<E\na\nE\necho \\\nb":    "",
		"echo \\\na\ncat <<E\na\nE":    "",
		"cat <<E\na\nE":                "",
		"echo '<<E' \\\n b":            "",
		"cat <<<a \\\n b":              "",
	} {
		_, doubt, err := parse.File(syntax.LangBash, src)
		require.NoError(t, err, "%q", src)
		assert.Equal(t, want, doubt, "%q", src)
	}
}

// Random documents: the commands that a shell runs behind one are those in the tree, or the tree is in doubt.
func TestRandomDocumentsEndWhereEveryShellEndsThem(t *testing.T) {
	heads := []string{"cat <<E", "cat <<-E", "cat <<'E'", "cat <<\\E", "cat <<-\"E\"", "cat <<E <<F", "cat <<EE", "cat <<E\\\nE", "cat <<E |cat", "echo \"$(cat <<E"}
	pieces := []string{"E", "E\n", "E\n", "F\n", "\\\n", "\\\\\n", "\\", "\n", "\t", " ", "x", "'", "\"", "$x", "\\E\n", "EE\n", "E \n", "echo RAN0\n", "echo RAN1\n", "echo RAN2\n", "E\\\n", "\tE\n"}
	rng := rand.New(rand.NewPCG(20261125, 3))
	var sources []string
	for len(sources) < 120 {
		var b strings.Builder
		head := heads[rng.IntN(len(heads))]
		b.WriteString(head + "\n")
		for range 2 + rng.IntN(7) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		b.WriteString("\nE\nE\nEE\nF\n")
		if strings.HasPrefix(head, "echo \"$(") {
			b.WriteString(")\"\n")
		}
		b.WriteString("echo RAN3\n")
		sources = append(sources, b.String())
	}
	for _, sh := range shells {
		t.Run(strings.Join(sh.argv, " "), func(t *testing.T) {
			compared, doubted := 0, 0
			for _, src := range sources {
				file, doubt, err := parse.File(sh.lang, src)
				if doubt != "" {
					doubted++
				}
				if err != nil || doubt != "" {
					continue
				}
				compared++
				assert.Equal(t, echoed(file), ran(run(t, sh.argv, src)), "%q", src)
			}
			assert.Greater(t, compared, 20)
			assert.Greater(t, doubted, 20)
		})
	}
}

// echoed lists which of the numbered commands are in a tree.
func echoed(file *syntax.File) (list []string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) == 2 && c.Args[0].Lit() == "echo" && strings.HasPrefix(c.Args[1].Lit(), "RAN") {
			list = append(list, c.Args[1].Lit())
		}
		return true
	})
	return list
}

// ran lists those that were run, by what they print on a line alone.
func ran(out string) (list []string) {
	for line := range strings.Lines(out) {
		for i := range 4 {
			if line == fmt.Sprintf("RAN%d\n", i) {
				list = append(list, line[:len(line)-1])
			}
		}
	}
	slices.Sort(list)
	return list
}

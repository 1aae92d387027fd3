package parse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Where a word stands, what it begins with, and what is between that and a #: if the shell runs what follows, the tree has it.
func TestWhatStandsBehindAHashIsInTheTree(t *testing.T) {
	places := []string{"%", "(%)", "{ %}", "echo $(%)", "echo \"$(%)\"", "echo `%`", "echo \"${x-$(%)}\"", "cat <<E\n$(%)\nE", "if true; then %fi", "case a in a) %;; esac", "( (%) )", "f() { %}; f"}
	begins := []string{"", "a", "''", "\"\"", "\"a\"", "$x", "${x}", "$(:)", "$((1))", "\\ ", "\\a", "a=", "a=''", "a=$x", "[", "{", "}", "!", "$", "@", "*", "~", "\\\n", "''\\\n", "</dev/null", "</dev/null''", "$'a'", "; true ''"}
	gaps := []string{"", " ", "\\\n", "\t", ";", "\n", "\\ ", "\\\\"}
	n := 0
	for _, place := range places {
		for _, begin := range begins {
			for _, gap := range gaps {
				if n++; n%5 != 0 || needs.Sample && n%3 != 0 {
					continue
				}
				src := strings.Replace(place, "%", "true "+begin+gap+"#; echo RAN\n", 1)
				for _, sh := range shells {
					file, doubt, err := parse.File(sh.lang, src)
					if err != nil || doubt == parse.Comment { // needs approval
						continue
					}
					if ran := strings.Contains(run(t, sh.argv, src), "RAN"); ran && !says(file) {
						assert.Failf(t, "it is not in the tree", "%q, which %s runs", src, sh.argv)
					}
				}
			}
		}
	}
}

// says reports whether a tree runs "echo RAN".
func says(file *syntax.File) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[0].Lit() == "echo" && c.Args[1].Lit() == "RAN" {
			found = true
		}
		return true
	})
	return found
}

func TestWhatIsAnyhowACommentIsNotDoubtful(t *testing.T) {
	for _, src := range []string{
		"ls # a", "(ls)#c", "(ls) # c", "case a in\na)# c\nls;; esac", "echo $(ls # c\n)", "echo ''#a", "echo a#b $#", "echo \"# a\" # b", "ls;# c", "(#\nls)", "echo ${#x} ${x#a} $((2#1))", "echo `# c\nls`", "#", "",
		"echo \\\\ # c",
	} {
		for _, sh := range shells {
			_, doubt, err := parse.File(sh.lang, src)
			assert.NoError(t, err, "%q", src)
			assert.Empty(t, doubt, "%q as %v", src, sh.lang)
		}
	}
}

package parse_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// shells are the languages and the programs that speak them.
var shells = []struct {
	argv []string
	lang syntax.LangVariant
}{
	{[]string{"bash"}, syntax.LangBash},
	{[]string{"zsh", "-f"}, syntax.LangZsh},
	{[]string{"dash"}, syntax.LangPOSIX},
	{[]string{"busybox", "ash"}, syntax.LangPOSIX},
	{[]string{"mksh"}, syntax.LangMirBSDKorn},
	{[]string{"ksh93"}, syntax.LangBash},
}

// run returns what a shell prints for src.
func run(t *testing.T, argv []string, src string) string {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing", argv[0])
		}
		t.Skipf("%s is not installed", argv[0])
	}
	cmd := exec.Command(argv[0], append(argv[1:], "-c", src)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, _ := cmd.Output()
	return string(out)
}

// calls returns the first words of all simple commands in a tree.
func calls(file *syntax.File) (names []string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			names = append(names, c.Args[0].Lit())
		}
		return true
	})
	return names
}

// Sources in which a shell runs "echo RAN" behind a comment.
var continued = map[string]string{
	"behind a word":            "true #\\\necho RAN",
	"alone":                    "#\\\necho RAN",
	"with text":                "true # a comment \\\necho RAN",
	"with a quote":             "true # it's \\\necho RAN",
	"many backslashes":         "true # \\\\\\\necho RAN",
	"an even number":           "true # \\\\\necho RAN",
	"twice":                    "true #\\\n#\\\necho RAN",
	"behind an operator":       "true;#\\\necho RAN",
	"behind an ampersand":      "true &&#\\\necho RAN",
	"behind a pipe":            "true |#\\\necho RAN",
	"in a subshell":            "(#\\\necho RAN)",
	"in braces":                "{ #\\\necho RAN; }",
	"in a substitution":        "echo \"$(true #\\\necho RAN)\"",
	"in back quotes":           "echo `true #\\\\\necho RAN`",
	"in a function":            "f() { #\\\necho RAN; }; f",
	"in a case":                "case a in #\\\na) #\\\necho RAN;; esac",
	"in an if":                 "if true; then #\\\necho RAN; fi",
	"behind then":              "if true #\\\nthen echo RAN; fi",
	"in a loop":                "for i in 1 #\\\ndo echo RAN; done",
	"behind a here-document":   "cat <<E #\\\nE\necho RAN",
	"behind a continued line":  "true \\\n#\\\necho RAN",
	"with a hash in the quote": "true '#' #\\\necho RAN",
	"behind two quotes":        "true '' #\\\necho RAN",
}

func TestTheLineAfterACommentIsInTheTree(t *testing.T) {
	for name, src := range continued {
		t.Run(name, func(t *testing.T) {
			for _, sh := range shells {
				t.Run(strings.Join(sh.argv, " "), func(t *testing.T) {
					require.Contains(t, run(t, sh.argv, src), "RAN", "the shell runs it")
					file, doubt, err := parse.File(sh.lang, src)
					require.NoError(t, err)
					assert.Equal(t, parse.Comment, doubt)
					assert.Contains(t, calls(file), "echo")
				})
			}
		})
	}
}

func TestWhatIsNoCommentIsNotDoubtful(t *testing.T) {
	for _, src := range []string{
		"echo a \\\n b", "echo '# \\\n x'", "echo \"# \\\n x\"", "cat <<'E'\n# \\\nE", "cat <<E\n# \\\nx\nE", "echo a#\\\nb",
		"echo ${x#\\\na}", "sed 's/a/b/ # x\\\n c' f", "# plain\necho a \\\n b", "echo $# \\\n b", "echo a # comment\necho b \\\n c",
		"ls # a \\ b\nls",
	} {
		for _, sh := range shells {
			_, doubt, err := parse.File(sh.lang, src)
			require.NoError(t, err, "%q", src)
			assert.NotEqual(t, parse.Comment, doubt, "%q as %v", src, sh.lang)
		}
	}
}

func TestOfTwoDoubtsTheCommentIsTold(t *testing.T) {
	const document = "cat <<E\na\\\nb\nE\n"
	for src, want := range map[string]parse.Doubt{document: parse.HereDocument, "# note \\\nls\n" + document: parse.Comment, "cat <<E\na\nb\nE\n": "", "ls \\\n-l": "", "": "",
		document + "cat <<F\nb\nF\n": parse.HereDocument, "cat <<F\nb\nF\n" + document: parse.HereDocument} {
		for _, sh := range shells {
			_, doubt, err := parse.File(sh.lang, src)
			require.NoError(t, err, "%q", src)
			assert.Equal(t, want, doubt, "%q as %v", src, sh.lang)
		}
	}
}

// A mistake is reported, behind a comment that goes on too, and of what is torn no quote is believed.
func TestATornSourceIsAnError(t *testing.T) {
	for src, want := range map[string]bool{
		"echo '": false, "echo (": false, "# a\necho '": false, "#\\\necho '": true, "true # a \\\n(": true, "echo '# \\\n' (": true, "echo '\n# \\\n": true, "echo '# \\\n'\n(": true, "#\\\n#\\\n#\\\n(": true,
	} {
		for _, sh := range shells {
			_, doubt, err := parse.File(sh.lang, src)
			assert.Error(t, err, "%q as %v", src, sh.lang)
			assert.Equal(t, want, doubt == parse.Comment, "%q as %v", src, sh.lang)
		}
	}
}

// Offsets are those of the source that was given, whatever was hidden from the parser.
func TestOffsetsAreThoseOfTheSource(t *testing.T) {
	src := "true # x\\\n# y \\\necho RAN"
	file, _, err := parse.File(syntax.LangBash, src)
	require.NoError(t, err)
	last := file.Stmts[len(file.Stmts)-1]
	assert.Equal(t, "echo RAN", src[last.Pos().Offset():last.End().Offset()])
}

// Random sources of comments, quotes and continued lines: a command that bash runs is in the tree, or the tree is in doubt.
func TestRandomCommentsAgreeWithBash(t *testing.T) {
	pieces := []string{
		"#", "\\\n", "\n", " ", "'", "\"", "`", "\\", "echo RAN", ";", "true", "$(", ")", "# \\\n", "(", "{ ", "; }", "<<E", "\nE\n", "&&", "a",
	}
	rng := rand.New(rand.NewPCG(20261122, 12))
	found := 0
	for range 1500 {
		var b strings.Builder
		for range 2 + rng.IntN(8) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		if !strings.Contains(src, "RAN") || !strings.Contains(src, "#") {
			continue
		}
		file, doubt, err := parse.File(syntax.LangBash, src)
		if err != nil || doubt != "" || len(calls(file)) == 0 {
			continue
		}
		found++
		if strings.HasPrefix(run(t, []string{"bash"}, src), "RAN") {
			assert.Contains(t, calls(file), "echo", "%q", src)
		}
	}
	assert.Greater(t, found, 10)
}

func FuzzFile(f *testing.F) {
	for _, src := range continued {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, sh := range shells {
			file, doubt, err := parse.File(sh.lang, src)
			if err == nil && file == nil {
				t.Fatal("neither a tree nor an error")
			}
			if doubt != "" && !strings.Contains(src, "\\\n") && (doubt != parse.MidWord || !strings.Contains(src, "#")) {
				t.Fatal("doubtful without a continued line")
			}
		}
	})
}

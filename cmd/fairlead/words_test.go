package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tics are words with which a text says what is not, or hides who does what.
var tics = regexp.MustCompile(`(?i)\b(nobody|somebody|everybody|whoever|whomever|(is|are|was|were) told|told (as|apart|of|once|by|with)|is none|are none|` +
	`is no (?:[a-z]+ )?(?:file|name|host|text|option|directory)\b|stands (as|for|in)|what waits|it waits on|goes on|a bare yes|on record|break the glass|` +
	`second thought|wants one|taken out)\b`)

// notTexts are string literals with such a word that people do not read: the name of an account, a word of a format.
var notTexts = []string{"nobody", "USER=nobody", "LOGNAME=nobody"}

// odd returns the first odd word of text. "There is no X" is plain.
func odd(text string) string {
	return tics.FindString(strings.NewReplacer("there is no ", "", "There is no ", "").Replace(text))
}

// Texts name the actor and the act: the words above are signs of a text that does not.
func TestTextsAreInPlainWords(t *testing.T) {
	var looked int
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case strings.HasSuffix(path, ".js"):
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for n, line := range strings.Split(string(text), "\n") {
				code, _, _ := strings.Cut(strings.TrimSpace(line), "//")
				if comment := strings.HasPrefix(code, "*") || strings.HasPrefix(code, "/*"); !comment && odd(code) != "" {
					assert.Failf(t, "odd words", "%s:%d: %s", path, n+1, code)
				}
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.BasicLit)
			if !ok || s.Kind != token.STRING {
				return true
			}
			looked++
			if found := odd(s.Value); found != "" && !slices.Contains(notTexts, strings.Trim(s.Value, "\"`")) {
				assert.Failf(t, "odd words", "%s: %q in %.120s: see what it says, and say who does what", files.Position(s.Pos()), found, s.Value)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, looked, 10_000, "the literals of the whole project")
}

func TestOddWordsAreSeen(t *testing.T) {
	for _, text := range []string{"nobody was asked", "it is told once", "x is none", "what waits", "the page goes on", "it is no regular file", "it stands for a secret"} {
		assert.NotEmpty(t, odd(text), text)
	}
	for _, text := range []string{"there is no file", "no approval was requested", "it is printed once", "it is no longer pending", "is not one of a, b", "standard input"} {
		assert.Empty(t, odd(text), text)
	}
}

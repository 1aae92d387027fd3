package reason

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What people read never begins with the name of a package, wherever the error was made.
func TestNoPackageIsNamedInFrontOfAnError(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	made := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		if rel, _ := filepath.Rel(root, path); strings.HasPrefix(rel, filepath.Join("session", "sessiontest")) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Errorf" && f.Sel.Name != "New" {
				return true
			}
			text, ok := call.Args[0].(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			said, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			name := file.Name.Name
			if rest, ok := strings.CutPrefix(said, name+": "); ok && name != "become" && name != "output" {
				made++
				assert.Equal(t, rest, Text(fmt.Errorf("%s", said)), path)
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, made, 100)
}

package reason

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsWrappedHasNoNameOfItsPackage(t *testing.T) {
	err := Wrap("sessions need the keeper", fmt.Errorf("keeper: it is busy: %w", fs.ErrExist))
	assert.EqualError(t, err, "sessions need the keeper: it is busy: file already exists")
	assert.ErrorIs(t, err, fs.ErrExist)
}

// What is wrong with a file is said without the call that found it.
func TestFilesAreNamedAsTheUserDid(t *testing.T) {
	gone := filepath.Join("gone", "f")
	_, missing := os.Open(gone)
	dir := t.TempDir()
	_, isDir := os.ReadFile(dir)
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	_, exists := os.OpenFile(taken, os.O_CREATE|os.O_EXCL, 0o600)
	_, below := os.Open(filepath.Join(taken, "x"))
	for want, err := range map[string]error{
		"there is no file gone/f":                             File(gone, missing),
		"there is no directory gone":                          NewFile(gone, missing),
		"d is a directory, not a file":                        File("d", isDir),
		"t exists: remove it first, or name another file":     NewFile("t", exists),
		"t/x: a part of this path is a file, not a directory": File("t/x", below),
		"t: no space left on device":                          File("t", &fs.PathError{Op: "write", Path: "/t", Err: syscall.ENOSPC}),
	} {
		assert.EqualError(t, err, want)
	}
	assert.ErrorIs(t, File(gone, missing), fs.ErrNotExist)
	assert.NoError(t, File("x", nil))
	assert.NoError(t, NewFile("x", nil))
}

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

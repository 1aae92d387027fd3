package audit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// kinds are all that the package names, read from its source.
func kinds(t *testing.T) []audit.Kind {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var all []audit.Kind
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Kind" {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				all = append(all, audit.Kind(text))
			}
		}
		return true
	})
	require.Greater(t, len(all), 20)
	return all
}

// What is neither about a session and what is done in it, nor the chain's own, changes who may do what.
func TestEveryOtherKindAdministers(t *testing.T) {
	for _, k := range append(kinds(t), "", "odd", "keeper.dance") {
		about, _, _ := strings.Cut(string(k), ".")
		of := slices.Contains([]string{"session", "command", "file", "job", "forward", "approval", "chain", "", "odd"}, about) || k == "keeper.dance"
		assert.Equal(t, !of, k.Administers(), k)
	}
}

func TestTheLastRecordsAreAsManyAsWereAskedFor(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	for range 3 {
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.SessionOpen}))
	}
	require.NoError(t, f.Close())
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 3: 3, 4: 3} {
		events, err := audit.Tail(dir, n)
		require.NoError(t, err)
		require.Len(t, events, want, n)
		if want > 0 {
			assert.Equal(t, uint64(3), events[want-1].Seq)
		}
	}
}

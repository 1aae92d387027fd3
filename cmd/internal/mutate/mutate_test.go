//go:build unix

package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const limits = `package limits

import "errors"

// Check refuses what is too large.
func Check(n int) error {
	if n > 10 && n != 99 {
		return errors.New("too large")
	}
	return nil
}

// Unseen has no test.
func Unseen(a, b bool) bool {
	return a || b
}
`

const limitsTest = `package limits

import "testing"

func TestCheck(t *testing.T) {
	for n, want := range map[int]bool{9: true, 10: true, 11: false, 99: true} {
		if (Check(n) == nil) != want {
			t.Fatal(n)
		}
	}
}
`

func write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module limits\n\ngo 1.26\n", "limits.go": limits, "limits_test.go": limitsTest} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestMutantsAreGoAndDifferent(t *testing.T) {
	files, err := filepath.Glob("../../../framing/*.go")
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, file := range append(files, "mutants.go", "run.go") {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		all, err := mutantsOf(file, src)
		require.NoError(t, err)
		for _, m := range all {
			kinds[m.kind] = true
			assert.NotEqual(t, m.before, m.text, m)
			assert.Equal(t, m.before, string(src[m.from:m.to]))
			_, err := parser.ParseFile(token.NewFileSet(), file, string(src[:m.from])+m.text+string(src[m.to:]), 0)
			assert.NoError(t, err, m)
		}
	}
	assert.Len(t, kinds, 13)
}

func TestASeedChoosesTheSameMutants(t *testing.T) {
	all, err := mutantsOf("limits.go", []byte(limits))
	require.NoError(t, err)
	require.Greater(t, len(all), 8)
	first := choose(all, rand.New(rand.NewPCG(7, 0)), 2, 0)
	assert.Equal(t, first, choose(all, rand.New(rand.NewPCG(7, 0)), 2, 0))
	assert.Len(t, first, 4, "two of each function")
	assert.Len(t, choose(all, rand.New(rand.NewPCG(7, 0)), 0, 3), 3)
}

// The tests of a package notice each change of what they test, and none of what they do not.
func TestWhatNoTestNoticesSurvives(t *testing.T) {
	t.Chdir(write(t))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-per-func", "0", "-timeout", "1m", "./..."}, &out))
	assert.Contains(t, out.String(), "Unseen: operator: || → &&")
	assert.NotContains(t, out.String(), "Check:")
	assert.Regexp(t, `(?m)^limits +\d+ +\d+ +0 +3 +\d+$`, out.String())
}

func TestBrokenTestsAreNoMeasure(t *testing.T) {
	dir := write(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "limits_test.go"), []byte("package limits\n\nimport \"testing\"\n\nfunc TestNo(t *testing.T) { t.Fatal(1) }\n"), 0o600))
	t.Chdir(dir)
	assert.ErrorContains(t, run(t.Context(), []string{"./..."}, &bytes.Buffer{}), "do not pass without a change")
}

func TestTestsThatAreLeftOutKillNothing(t *testing.T) {
	t.Chdir(write(t))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-per-func", "0", "-skip", ".", "./..."}, &out))
	assert.Contains(t, out.String(), "Check:")
	assert.Regexp(t, `(?m)^limits +\d+ +0 +0 +\d+ +0$`, out.String())
}

const shapes = `package limits

import "slices"

type box[T comparable] struct{ all []T }

func (b *box[T]) has(v T) (found bool) {
	found = slices.Contains(b.all, v)
	return found
}

func (*box[T]) none(_ int, more ...T) bool { return len(more) == 0 }

func first[K comparable, V any](m map[K]V, k K) (v V, err error) {
	if v, ok := m[k]; ok {
		return v, nil
	}
	return v, errNone
}

func sum(int, ...int) int { return 1 + 2 }

func either() (n int) {
	defer func() { n++ }()
	n, m := 1, 2
	n = m
	return
}

func fails() error {
	err := errNone
	return err
}
`

const shapesTest = `package limits

import (
	"errors"
	"testing"
)

var errNone = errors.New("none")

func TestShapes(t *testing.T) {
	b := &box[string]{[]string{"a"}}
	if !b.has("a") || b.has("b") || !b.none(1) || b.none(1, "x") || sum(1, 2, 3) != 3 || either() != 3 || fails() == nil {
		t.Fatal("wrong")
	}
	if v, err := first(map[string]int{"a": 1}, "a"); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	if _, err := first(map[string]int{"a": 1}, "b"); err != errNone {
		t.Fatal(err)
	}
}
`

// Functions of every shape can have mutants, and none that does not compile stands in the way of the others.
func TestFunctionsOfEveryShapeHaveMutants(t *testing.T) {
	dir := write(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shapes.go"), []byte(shapes), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shapes_test.go"), []byte(shapesTest), 0o600))
	t.Chdir(dir)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-per-func", "0", "-timeout", "1m", "-v", "-first", "TestShapes", "./..."}, &out))
	for _, want := range []string{
		"killed: shapes.go:8 has: assignment dropped:", "killed: shapes.go:12 none: number: 0 → 1: TestShapes", "killed: shapes.go:18 first: error dropped: errNone → nil: TestShapes",
		"killed: shapes.go:21 sum: operator: + → -: TestShapes", "killed: shapes.go:24 either: defer dropped:", "killed: shapes.go:26 either: assignment dropped",
		"killed: limits.go:7 Check: negate:", "does not compile: shapes.go:32 fails: error dropped: err → nil", "survived: limits.go:15 Unseen: operator",
	} {
		assert.Contains(t, out.String(), want)
	}
}

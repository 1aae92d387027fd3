package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a test that fails without failing this one.
type recorder struct {
	testing.TB
	said    []string
	cleanup []func()
	fatal   bool
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Failed() bool     { return len(r.said) > 0 }
func (r *recorder) Skipped() bool    { return false }
func (r *recorder) Logf(string, ...any) {
}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.fatal = true
	panic(r)
}

// with runs a test over a file and returns what it complains of.
func with(t *testing.T, name string, write, strict bool, f func(*File)) []string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		f(open(r, name, write, strict))
		for _, end := range r.cleanup {
			end()
		}
	}()
	return r.said
}

func TestWhatIsSaidIsComparedWithWhatWasSaid(t *testing.T) {
	name := filepath.Join(t.TempDir(), "testdata", "x.tsv")
	said := with(t, name, false, false, func(*File) {})
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "go test -update writes it")

	rows := func(f *File) {
		f.Check("b", "2")
		f.Check("a\n\tb", "\"x\"\\\x1b")
		f.Check("b", "2")
	}
	require.Empty(t, with(t, name, true, false, rows))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "b\t2\na\\n\\tb\t\"x\"\\\\\\x1b\n", string(text), "in the order in which they are checked")
	assert.Empty(t, with(t, name, false, true, rows))
	assert.Empty(t, with(t, name, false, true, func(f *File) {
		rows(f)
		assert.Equal(t, []string{"b", "a\n\tb"}, f.Keys())
	}))
	odd := []string{`\"`, `\\"`, `"`, "\xff\x00", "ö\u200b", `a\tb`, ""}
	quotes := filepath.Join(t.TempDir(), "y.tsv")
	require.Empty(t, with(t, quotes, true, false, func(f *File) {
		for _, key := range odd {
			f.Check(key, key)
		}
	}))
	assert.Empty(t, with(t, quotes, false, true, func(f *File) {
		assert.Equal(t, odd, f.Keys())
		for _, key := range odd {
			f.Check(key, key)
		}
	}))

	said = with(t, name, false, true, func(f *File) { rows(f); f.Check("c", "3") })
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "has no row for c")
	said = with(t, name, false, true, func(f *File) { f.Check("b", "3") })
	require.Len(t, said, 1, "of what was not come to nothing is said")
	assert.Contains(t, said[0], "x.tsv:1: b\nwas  2\nis   3")
	said = with(t, name, false, true, func(f *File) { rows(f); f.Check("b", "3") })
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "two things are said of b")

	assert.Empty(t, with(t, name, false, false, func(f *File) { f.Check("b", "2") }))
	said = with(t, name, false, true, func(f *File) { f.Check("b", "2") })
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "no test checks 1 of its rows, such as a\\n\\tb")
}

func TestAFileThatIsNoneIsAnError(t *testing.T) {
	for _, text := range []string{"a\n", "a\t1\na\t2\n", "a\t1\n\n"} {
		name := filepath.Join(t.TempDir(), "x.tsv")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		said := with(t, name, false, false, func(f *File) { t.Error("it was opened") })
		require.Len(t, said, 1)
		assert.Contains(t, said[0], fmt.Sprintf("x.tsv:%d: a row is a key", strings.Count(text, "\n")))
		assert.Empty(t, with(t, name, true, false, func(f *File) { f.Check("a", "1") }), "it can be written anew")
	}
}

func TestOfManyDifferencesAFewAreNamed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.tsv")
	all := func(text string) func(f *File) {
		return func(f *File) {
			for i := range 100 {
				f.Check(fmt.Sprint(i), text)
			}
		}
	}
	require.Empty(t, with(t, name, true, false, all("a")))
	said := with(t, name, false, false, all("b"))
	require.Len(t, said, most+1)
	assert.Contains(t, said[most], "100 rows differ")

	// What fails writes nothing.
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	r := with(t, name, true, false, func(f *File) { f.Check("1", "c"); f.Check("1", "d") })
	require.Len(t, r, 1)
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestInAHurryFewRowsAreDue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.tsv")
	var due int
	all := func(f *File) {
		for i := range 1000 {
			if key := fmt.Sprint("key ", i); f.Due(key) {
				due++
				f.Check(key, "a")
			}
		}
	}
	require.Empty(t, with(t, name, true, false, func(f *File) { f.hurry = true; all(f) }))
	assert.Equal(t, 1000, due, "all are written")
	due = 0
	require.Empty(t, with(t, name, false, true, func(f *File) { f.hurry = true; all(f) }))
	assert.InDelta(t, 1000/16, due, 40)
	due = 0
	require.Empty(t, with(t, name, false, true, func(f *File) { f.hurry = false; all(f) }))
	assert.Equal(t, 1000, due)
}

package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

func TestEveryChangedByteIsFound(t *testing.T) {
	dir := chainOf(t, 5, audit.Config{MaxSize: 800}) // several files
	require.GreaterOrEqual(t, whole(t, dir).Files, 2)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		good := readFile(t, dir, e.Name())
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= []byte{1, 0x20}[i%2] // the second is the case of a letter
			writeFile(t, bad, dir, e.Name())
			require.False(t, verify(t, dir).OK(), "%s: byte %d: %q instead of %q was not found", e.Name(), i, bad[i], good[i])
		}
		writeFile(t, good, dir, e.Name())
	}
	whole(t, dir)
}

func TestEveryCutIsFound(t *testing.T) {
	dir := chainOf(t, 4, audit.Config{MaxSize: 900})
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		good := readFile(t, dir, e.Name())
		for n := range good {
			writeFile(t, good[:n], dir, e.Name())
			require.False(t, verify(t, dir).OK(), "%s: cut to %d bytes of %d", e.Name(), n, len(good))
		}
		writeFile(t, append(bytes.Clone(good), 'x'), dir, e.Name())
		if r := verify(t, dir); r.OK() {
			assert.NotNil(t, r.Torn, e.Name())
		}
		require.NoError(t, os.Remove(filepath.Join(dir, e.Name())))
		require.False(t, verify(t, dir).OK(), "%s: removed", e.Name())
		writeFile(t, good, dir, e.Name())
	}
	whole(t, dir)
}

func TestProblemsAreNamedInPlainWords(t *testing.T) {
	edit := func(f func(lines []string) []string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			lines := strings.SplitAfter(string(readFile(t, dir, "000001.jsonl")), "\n")
			lines = f(lines[:len(lines)-1])
			writeFile(t, []byte(strings.Join(lines, "")), dir, "000001.jsonl")
		}
	}
	key := func(b string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { writeFile(t, []byte(b), dir, "key") }
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		kind   audit.ProblemKind
		line   int
		words  string
	}{
		{"a record is edited", edit(func(l []string) []string {
			l[2] = strings.Replace(l[2], "uptime", "reboot", 1)
			return l
		}), audit.Edited, 3, "was changed after it was written"},
		{"a record is removed", edit(func(l []string) []string { return slices.Delete(l, 2, 3) }),
			audit.Gap, 3, "entry 3 is missing before this entry, which is number 4"},
		{"records are removed", edit(func(l []string) []string { return slices.Delete(l, 1, 4) }),
			audit.Gap, 2, "entries 2 to 4 are missing"},
		{"the first record is removed", edit(func(l []string) []string { return l[1:] }), audit.Gap, 1, "entry 1 is missing"},
		{"two records are swapped", edit(func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }),
			audit.Reordered, 2, "entry 3 is where entry 2 belongs"},
		{"a record stands twice", edit(func(l []string) []string { return slices.Insert(l, 3, l[1]) }),
			audit.Reordered, 4, "entry 2 is where entry 4 belongs"},
		{"the last record is removed", edit(func(l []string) []string { return l[:5] }),
			audit.Truncated, 6, "head counts 6 entries, 5 are here"},
		{"the last line is cut", edit(func(l []string) []string { l[5] = l[5][:20]; return l }), audit.Truncated, 6, "the file was truncated"},
		{"a line is edited and the last is gone", edit(func(l []string) []string { l[1] = "{}\n"; return l[:5] }),
			audit.Edited, 2, "not a whole entry"},
		{"a foreign line is put in", edit(func(l []string) []string { return slices.Insert(l, 2, "{}\n") }),
			audit.Edited, 3, "this line is not a whole entry"},
		{"head is gone", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "head"))) },
			audit.BadHead, 0, "is missing"},
		{"head is empty", func(t *testing.T, dir string) { writeFile(t, nil, dir, "head") }, audit.BadHead, 0, "changed or emptied"},
		{"the key is gone", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "key"))) },
			audit.MissingKey, 0, "nothing can be proved"},
		{"the key is another", key(strings.Repeat("ab", 32) + "\n"), audit.BadKey, 0, "not the key that head and the first entry"},
		{"the key is not a key", key("secret\n"), audit.BadKey, 0, "not a key"},
		{"the records are gone", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "000001.jsonl"))) },
			audit.Truncated, 0, "this file is missing"},
		{"a stray file", func(t *testing.T, dir string) { writeFile(t, nil, dir, "extra.jsonl") }, audit.UnknownFile, 0, "no file of this name"},
		{"a file too many", func(t *testing.T, dir string) { writeFile(t, []byte("{}\n"), dir, "000002.jsonl") },
			audit.UnknownFile, 0, "ends in 000001.jsonl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := chainOf(t, 6, audit.Config{})
			tt.damage(t, dir)
			r := verify(t, dir)
			require.NotNil(t, r.Problem)
			assert.Equal(t, tt.kind, r.Problem.Kind, r.Problem)
			assert.Equal(t, tt.line, r.Problem.Line, r.Problem)
			assert.Contains(t, r.Problem.String(), tt.words)
			assert.True(t, strings.HasPrefix(r.Problem.String(), dir), r.Problem)

			if tt.kind == audit.Truncated || tt.kind == audit.BadHead || tt.kind == audit.BadKey || tt.kind == audit.MissingKey {
				f, err := audit.Open(dir, audit.Config{})
				require.Error(t, err, "a chain whose end is wrong is not continued")
				assert.Nil(t, f)
				assert.ErrorIs(t, err, audit.ErrUnavailable)
			}
		})
	}
}

// What a writer leaves that dies between its two writes, or within the first.
func TestWhatAKilledWriterLeavesIsAdoptedAndSealed(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	data, head := readFile(t, dir, "000001.jsonl"), readFile(t, dir, "head")
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.RecordAll(t.Context(), []audit.Event{request("e_x", true), request("e_y", true)}))
	require.NoError(t, f.Close())
	grown := readFile(t, dir, "000001.jsonl")
	firstEnd := len(data) + bytes.IndexByte(grown[len(data):], '\n') + 1

	for n := len(data); n <= len(grown); n++ {
		if edge := min(n-len(data), max(n-firstEnd, firstEnd-n), len(grown)-n); edge > 8 && n%4 != 0 {
			continue // within a line one byte is as another
		}
		writeFile(t, grown[:n], dir, "000001.jsonl")
		writeFile(t, head, dir, "head")
		want := uint64(0)
		if n >= firstEnd {
			want++
		}
		if n == len(grown) {
			want++
		}
		torn := n != len(data) && n != firstEnd && n != len(grown)

		r := whole(t, dir)
		require.Equal(t, want, r.Behind, "%d bytes", n)
		require.Equal(t, torn, r.Torn != nil, "%d bytes", n)

		f := open(t, dir, audit.Config{})
		require.NoError(t, f.Record(t.Context(), request("e_next", true)))
		require.NoError(t, f.Close())
		r = whole(t, dir)
		require.Zero(t, r.Behind)
		require.Nil(t, r.Torn)
		after := readFile(t, dir, "000001.jsonl")
		require.True(t, bytes.HasPrefix(after, grown[:n]), "the torn bytes stay where they are, as evidence")
		if torn {
			require.Len(t, r.Sealed, 1)
			require.Equal(t, 3+want+2, r.Records)
			// What is sealed cannot be changed unseen either.
			after[n-1] ^= 1
			writeFile(t, after, dir, "000001.jsonl")
			require.False(t, verify(t, dir).OK(), "%d bytes", n)
		}
	}
}

func TestWriterThatDiedWhileSealingIsSealedInTurn(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	data, head := readFile(t, dir, "000001.jsonl"), readFile(t, dir, "head")
	torn := append(bytes.Clone(data), `{"v":1,"seq":4,"ti`...)
	writeFile(t, torn, dir, "000001.jsonl")
	require.NoError(t, open(t, dir, audit.Config{}).Close())
	sealed := readFile(t, dir, "000001.jsonl")
	for n := len(torn); n <= len(sealed); n++ {
		writeFile(t, sealed[:n], dir, "000001.jsonl")
		writeFile(t, head, dir, "head")
		whole(t, dir)
		require.NoError(t, open(t, dir, audit.Config{}).Close())
		r := whole(t, dir)
		require.Len(t, r.Sealed, 1, "%d bytes", n)
		require.EqualValues(t, 4, r.Records)
		require.Zero(t, r.Behind, "%d bytes: head says that the seal is part of the chain", n)
	}
}

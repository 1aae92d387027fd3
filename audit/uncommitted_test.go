package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// forged is a line as somebody without the key would write it: the last entry with other fields.
func forged(t testing.TB, last []byte, id string) []byte {
	t.Helper()
	var e audit.Event
	require.NoError(t, json.Unmarshal(last, &e))
	line := bytes.Replace(last, fmt.Appendf(nil, `"seq":%d,`, e.Seq), fmt.Appendf(nil, `"seq":%d,`, e.Seq+1), 1)
	return bytes.Replace(line, []byte(`"id":"`+e.ID+`"`), []byte(`"id":"`+id+`"`), 1)
}

func lastLineOf(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	return lines[len(lines)-2]
}

// shown is what each reader of dir shows, by its name.
func shown(t testing.TB, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for e, err := range audit.All(dir) {
		if err == nil {
			out["All"] = append(out["All"], e.ID)
		}
	}
	for r, err := range audit.Records(dir) {
		if err == nil {
			out["Records"] = append(out["Records"], r.Event.ID)
			assert.Contains(t, string(r.Line), r.Event.ID)
		}
	}
	for events, err := range audit.Search(dir, audit.Query{}) {
		if err == nil {
			for _, e := range events {
				out["Search"] = append(out["Search"], e.ID)
			}
		}
	}
	for _, n := range []int{1, 3, 1000} {
		events, err := audit.Tail(dir, n)
		require.NotErrorIs(t, err, audit.ErrUnavailable)
		for _, e := range events {
			out[fmt.Sprint("Tail ", n)] = append(out[fmt.Sprint("Tail ", n)], e.ID)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for e, err := range audit.Follow(ctx, dir, n) {
			if err == nil {
				out[fmt.Sprint("Follow ", n)] = append(out[fmt.Sprint("Follow ", n)], e.ID)
			}
			if len(out[fmt.Sprint("Follow ", n)]) == len(events) {
				cancel()
			}
		}
		cancel()
	}
	return out
}

// What stands behind the chain and is not a part of it is shown by no reader, and reported as edited for good.
func TestWhatIsAppendedWithoutTheKeyIsNotShownAndIsReported(t *testing.T) {
	const torn = `{"v":1,"seq":6,"time":"2026-11-21T02:`
	for name, tt := range map[string]struct {
		append func(t *testing.T, data []byte) []byte
		line   int
	}{
		"a forged entry": {func(t *testing.T, d []byte) []byte { return forged(t, lastLineOf(d), "e_forged") }, 6},
		"two forged entries": {func(t *testing.T, d []byte) []byte {
			l := forged(t, lastLineOf(d), "e_forged")
			return append(l, forged(t, l, "e_forged")...)
		}, 6},
		"the last line again":   {func(_ *testing.T, d []byte) []byte { return lastLineOf(d) }, 6},
		"the last line 9 times": {func(_ *testing.T, d []byte) []byte { return bytes.Repeat(lastLineOf(d), 9) }, 6},
		"the whole chain again": {func(_ *testing.T, d []byte) []byte { return d }, 6},
		"a junk line":           {func(*testing.T, []byte) []byte { return []byte("junk\n") }, 6},
		"an empty line":         {func(*testing.T, []byte) []byte { return []byte("\n") }, 6},
		"junk without newline":  {func(*testing.T, []byte) []byte { return []byte("junk") }, 6},
		"junk and a torn line":  {func(*testing.T, []byte) []byte { return []byte("junk\n" + torn) }, 6},
		"a torn line and junk":  {func(*testing.T, []byte) []byte { return []byte(torn + "~\njunk\n") }, 7},
		"a torn line that ends": {func(*testing.T, []byte) []byte { return []byte(torn + "\n") }, 6},
		"a forged entry without newline": {func(t *testing.T, d []byte) []byte {
			return bytes.TrimSpace(forged(t, lastLineOf(d), "e_forged"))
		}, 6},
		"a forged entry that ends as a sealed one": {func(t *testing.T, d []byte) []byte {
			return append(bytes.TrimSpace(forged(t, lastLineOf(d), "e_forged")), "~\n"...)
		}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			dir := chainOf(t, 5, audit.Config{})
			data := readFile(t, dir, "000001.jsonl")
			before := shown(t, dir)
			assert.Len(t, before["All"], 5)
			writeFile(t, append(bytes.Clone(data), tt.append(t, data)...), dir, "000001.jsonl")

			edited := func() {
				t.Helper()
				r := verify(t, dir)
				require.NotNil(t, r.Problem, "verify says that the chain is whole")
				assert.Equal(t, audit.Edited, r.Problem.Kind)
				assert.Equal(t, filepath.Join(dir, "000001.jsonl"), r.Problem.File)
				assert.Equal(t, tt.line, r.Problem.Line)
				assert.Nil(t, r.Torn)
				assert.Empty(t, r.Anchor)
			}
			assert.Equal(t, before, shown(t, dir))
			edited()

			// The next command seals it; what it is does not change.
			f := open(t, dir, audit.Config{})
			require.NoError(t, f.Record(t.Context(), request("e_next", false)))
			require.NoError(t, f.Close())
			edited()
			after := shown(t, dir)
			for reader, ids := range after {
				assert.NotContains(t, ids, "e_forged", reader)
				assert.Equal(t, "e_next", ids[len(ids)-1], reader)
			}
			assert.Equal(t, append(before["All"], "", "e_next"), after["All"], "the seal and what came after it")
			assert.Equal(t, after["All"][4:], after["Tail 3"], "what is sealed does not count")
		})
	}
}

// A writer that dies within a write of several lines leaves whole ones, which are of the chain, and a torn one.
func TestATornGroupIsACrash(t *testing.T) {
	dir := chainOf(t, 2, audit.Config{})
	head, start := readFile(t, dir, "head"), len(readFile(t, dir, "000001.jsonl"))
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.RecordAll(t.Context(), []audit.Event{request("e_a", false), request("e_b", false), request("e_c", false)}))
	require.NoError(t, f.Close())
	grown := readFile(t, dir, "000001.jsonl")
	require.Equal(t, 5, bytes.Count(grown, []byte("\n")))
	for n := start; n < len(grown); n += 7 {
		writeFile(t, grown[:n], dir, "000001.jsonl")
		writeFile(t, head, dir, "head")
		r := whole(t, dir)
		lines := bytes.Count(grown[start:n], []byte("\n"))
		require.EqualValues(t, lines, r.Behind, n)
		require.Equal(t, []string{"e_0", "e_1", "e_a", "e_b", "e_c"}[:2+lines], shown(t, dir)["All"], n)
	}
}

// The same head from an earlier day: the entries behind it are of the chain, what was added to them is not.
func TestAHeadThatWasSetBackShowsNothingForged(t *testing.T) {
	dir := chainOf(t, 2, audit.Config{})
	head := readFile(t, dir, "head")
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_late", false)))
	require.NoError(t, f.Close())
	data := readFile(t, dir, "000001.jsonl")
	writeFile(t, head, dir, "head")
	assert.EqualValues(t, 1, whole(t, dir).Behind)
	assert.Equal(t, []string{"e_0", "e_1", "e_late"}, shown(t, dir)["All"])

	writeFile(t, append(bytes.Clone(data), forged(t, lastLineOf(data), "e_forged")...), dir, "000001.jsonl")
	for reader, ids := range shown(t, dir) {
		assert.NotContains(t, ids, "e_forged", reader)
	}
	r := verify(t, dir)
	require.NotNil(t, r.Problem)
	assert.Equal(t, 4, r.Problem.Line)
}

// An entry that was edited in the middle is not shown, and those behind it are.
func TestAnEditedEntryIsNotShown(t *testing.T) {
	dir := chainOf(t, 5, audit.Config{})
	data := readFile(t, dir, "000001.jsonl")
	writeFile(t, bytes.Replace(data, []byte("e_2"), []byte("e_X"), 1), dir, "000001.jsonl")
	for reader, ids := range shown(t, dir) {
		if reader == "Records" {
			assert.Equal(t, []string{"e_0", "e_1", "e_X", "e_3", "e_4"}, ids, "an export has what is left")
			continue
		}
		assert.NotContains(t, ids, "e_X", reader)
		assert.Equal(t, "e_4", ids[len(ids)-1], reader)
	}
	assert.Equal(t, []string{"e_0", "e_1", "e_3", "e_4"}, shown(t, dir)["Tail 1000"])
	assert.Equal(t, []string{"e_1", "e_3", "e_4"}, shown(t, dir)["Follow 3"])
}

// Whatever is put behind the chain, over several files and several times, no reader shows it and verify does not say
// that the chain is whole.
func TestRandomAppendsAreNeverShown(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 20 {
		dir := chainOf(t, 1+r.IntN(8), audit.Config{MaxSize: 2000})
		var real []string
		for e, err := range audit.All(dir) {
			require.NoError(t, err)
			real = append(real, e.ID)
		}
		for range 1 + r.IntN(3) {
			name := lastFile(t, dir)
			data := readFile(t, dir, name)
			var add []byte
			for range 1 + r.IntN(3) {
				add = append(add, randomTail(t, r, data)...)
			}
			writeFile(t, append(bytes.Clone(data), add...), dir, name)
			if r.IntN(2) == 0 {
				f := open(t, dir, audit.Config{MaxSize: 2000})
				id := fmt.Sprint("e_real", r.Uint32())
				require.NoError(t, f.Record(t.Context(), request(id, r.IntN(2) == 0)))
				require.NoError(t, f.Close())
			}
			rep := verify(t, dir)
			require.False(t, rep.OK(), "seed %d round %d: whole with %q", seed, round, add)
			for reader, ids := range shown(t, dir) {
				for _, id := range ids {
					require.True(t, id == "" || strings.HasPrefix(id, "e_real") || len(real) > 0 && contains(real, id),
						"seed %d round %d: %s shows %q", seed, round, reader, id)
				}
				if strings.HasPrefix(reader, "Tail") || strings.HasPrefix(reader, "Follow") {
					continue
				}
				require.Subset(t, ids, real, "seed %d round %d: %s", seed, round, reader)
				seen := map[string]bool{}
				for _, id := range ids {
					require.True(t, id == "" || !seen[id], "seed %d round %d: %s shows %s twice", seed, round, reader, id)
					seen[id] = true
				}
			}
		}
	}
}

func contains(all []string, id string) bool {
	for _, s := range all {
		if s == id {
			return true
		}
	}
	return false
}

func lastFile(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	return filepath.Base(all[len(all)-1])
}

// randomTail is what somebody without the key might append: parts of real lines, edited, or noise.
func randomTail(t *testing.T, r *rand.Rand, data []byte) []byte {
	var from []byte
	if bytes.Count(data, []byte("\n")) > 0 {
		lines := bytes.SplitAfter(data, []byte("\n"))
		from = bytes.Clone(lines[r.IntN(len(lines)-1)])
	}
	switch k := r.IntN(5); {
	case k == 0 && len(from) > 0 && bytes.HasPrefix(from, []byte("{")) && json.Unmarshal(from, new(audit.Event)) == nil:
		return forged(t, from, "e_forged")
	case k == 1 && len(from) > 0:
		return from
	case k == 2 && len(from) > 20:
		from[r.IntN(len(from)-1)] ^= 1 + byte(r.IntN(127))
		return from
	case k == 3 && len(from) > 60:
		return append(from[:40+r.IntN(len(from)-41)], '\n')
	}
	noise := make([]byte, 1+r.IntN(80))
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	return append(noise, '\n')
}

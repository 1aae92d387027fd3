package audit_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

var update = flag.Bool("format", false, "write testdata/v1 anew: only for a new format version")

// The key is part of the fixture and of nothing else.
const goldenKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

// TestFormatIsStable writes a chain that stands in testdata since version 1, and gets the same bytes.
func TestFormatIsStable(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	writeFile(t, []byte(goldenKey), dir, "key")
	at := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	f := open(t, dir, audit.Config{Now: func() time.Time { at = at.Add(time.Millisecond); return at }})
	uid := 1000
	ask := request("e_1", false)
	ask.UID, ask.Client, ask.Reason, ask.SSHUser = &uid, "demo", "is \"it\" up?\n", "deploy"
	done := result("e_1")
	done.DurationMS, done.StdoutBytes, done.CWD = 12, 61, "/srv/é\x00"
	done.Omitted.Stdout = 5
	for _, e := range []audit.Event{{Kind: audit.SessionOpen, Host: "web1", Session: "s_1"}, ask, done} {
		require.NoError(t, f.Record(t.Context(), e))
	}
	require.NoError(t, f.Close())
	for _, name := range []string{"head", "000001.jsonl"} {
		golden := filepath.Join("testdata", "v1", name)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			require.NoError(t, os.WriteFile(golden, readFile(t, dir, name), 0o644))
		}
		assert.Equal(t, string(readFile(t, golden)), string(readFile(t, dir, name)), name)
	}
}

// Any bytes as records, with a head and a key that are right or are any bytes themselves.
func FuzzVerify(f *testing.F) {
	data, head := string(readFile(f, "testdata", "v1", "000001.jsonl")), string(readFile(f, "testdata", "v1", "head"))
	f.Add(data, head, goldenKey)
	f.Add(data[:len(data)-3], head, goldenKey)
	f.Add("{}\n\n\"\n", head, goldenKey)
	f.Add(data+`{"v":1,"seq":4,"kind":"chain.seal","prev":"`, head, goldenKey)
	f.Add(data+"junk\n", head, goldenKey)
	f.Add("", "", "")
	dir := newDir(f)
	require.NoError(f, os.Mkdir(dir, 0o700))
	f.Fuzz(func(t *testing.T, d, h, k string) {
		writeFile(t, []byte(d), dir, "000001.jsonl")
		writeFile(t, []byte(h), dir, "head")
		writeFile(t, []byte(k), dir, "key")
		r, err := audit.Verify(dir)
		require.NoError(t, err)
		for e, err := range audit.All(dir) {
			require.True(t, err == nil || e.Kind == "", "an event and an error")
		}
		if _, err = audit.Tail(dir, 2); err != nil {
			require.ErrorIs(t, err, audit.ErrDamaged, "everything can be read")
			require.True(t, k != goldenKey || !r.OK(), "what is whole has no fault: %v", err)
		}
		if k == goldenKey && h == head && r.OK() {
			rest, ok := strings.CutPrefix(d, data)
			require.True(t, ok, "only what was written is whole")
			require.NotContains(t, strings.TrimSuffix(rest, "~\n"), "\n", "and one torn line behind it")
		}
	})
}

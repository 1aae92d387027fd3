package copies_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// Names of files are bytes: two that differ are two files, on the host and here.
func TestFilesHaveTheirNamesWhateverTheirBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file systems of this system take text only as names")
	}
	names := []string{"a\xff", "a\xfe", "a\ufffd", "\xff/\xfe", "new\nline", "tab\t", "-rf", "[a]*?", `back\slash`, "'\"$(x)`", " lead", "trail ", "..x", "\x01\x7f", "x\xc3"}
	r := rand.New(rand.NewPCG(1, 9))
	for range 30 {
		name := make([]byte, 1+r.IntN(40))
		for i := range name {
			if name[i] = byte(1 + r.IntN(255)); name[i] == '/' {
				name[i] = 0xf0
			}
		}
		names = append(names, "r"+string(name))
	}
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(dir, "src")
		for _, name := range names {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(src, name), []byte("of "+name), 0o600))
		}
		res, _ := s.upload(copies.Plan{Path: filepath.Join(dir, "up")}, src)
		require.Equal(t, session.StatusOK, res.Status, res.Stderr)
		res, _, err := s.download(src, copies.Tree{Dir: dir, Name: "down"})
		require.NoError(t, err)
		require.Equal(t, session.StatusOK, res.Status, res.Stderr)
		for _, to := range []string{"up", "down"} {
			for _, name := range names {
				got, err := os.ReadFile(filepath.Join(dir, to, name))
				if assert.NoError(t, err, "%s %q", to, name) {
					assert.Equal(t, "of "+name, string(got))
				}
			}
		}
	})
}

func TestAnEntryOfJSONHasOneName(t *testing.T) {
	for _, name := range []string{"a", "a\xff", "\xfe\xff/b", "a\ufffd", "\x80\x80"} {
		text, err := json.Marshal(copies.Entry{Name: name, Size: 3})
		require.NoError(t, err)
		var back copies.Entry
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, copies.Entry{Name: name, Size: 3}, back)
	}
	for _, text := range []string{
		`{"name": "etc", "name_b64": "YWI="}`, // "ab", which is UTF-8
		`{"name": "b", "name_b64": "Yf8="}`,
		`{"name": "a\ufffd", "name_b64": "Yf8"}`,
	} {
		var e copies.Entry
		assert.Error(t, json.Unmarshal([]byte(text), &e), text)
	}
}

package hostfs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ksh93 does not run as the sh of a session, so it gets the script alone.
func TestKsh93ListsEveryName(t *testing.T) {
	ksh, err := exec.LookPath("ksh93")
	if err != nil {
		needs.Part(t, "ksh93 is not installed")
	}
	dir := t.TempDir()
	want := []string{"-l", ".dot", "...", "a\nb", "x\ns89ed 5 0", "*", "[!a]*", "$(id)", "\xff", " ", "\n"}
	for i := range 210 { // groups
		want = append(want, strconv.Itoa(i))
	}
	for _, name := range want {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	out, err := exec.CommandContext(t.Context(), ksh, "-c", listText(), "ksh", dir).Output()
	require.NoError(t, err)
	got := []string{}
	list := listing{failed: func(error) {}, take: func(m Meta) error {
		got = append(got, m.Name)
		return nil
	}}
	_, err = list.Write(out)
	require.NoError(t, err)
	require.NoError(t, list.end())
	assert.ElementsMatch(t, want, got)
}

// What a listing prints comes from another machine. Names are handed on as they come, before an error is seen.
func FuzzListing(f *testing.F) {
	f.Add("./a b\x00./x\ny\x00\x00s81a4 5 1700000000 0 0\na1ff 3 1700000000 5 7\x00")
	f.Add("./l\x00\x00llrwxrwxrwx 1 0 0 3 Nov 21 10:00 ./l -> x\ny\x00")
	f.Add("./a\x00\x00s41ed 4096 x 0 0\x00")
	f.Add("./0\x00\x00l0000000000 0 0 0 00\x000")
	f.Fuzz(func(t *testing.T, text string) {
		told := 0
		list := listing{failed: func(error) { told++ }, take: func(m Meta) error {
			if m.Size < 0 || m.Name == "" || strings.ContainsAny(m.Name, "/\x00") || m.Mode&^(fs.ModeType|fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
				t.Fatalf("%+v", m)
			}
			return nil
		}}
		for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
			_, _ = list.Write([]byte(part))
		}
		if told > 1 || (told == 1) != (list.err != nil) {
			t.Fatalf("%d times told: %v", told, list.err)
		}
	})
}

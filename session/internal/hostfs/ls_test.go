package hostfs

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesOfLsAreRead(t *testing.T) {
	for line, want := range map[string]Meta{
		"-rw-r--r-- 1 0 7 12 Nov 21 10:00 f\n":         {GID: 7, Size: 12, Mode: 0o644, Stamp: "12 Nov 21 10:00"},
		"-rwsr-Sr-T+ 1 5 0 0 Nov 21 10:00 a\nb":        {UID: 5, Mode: 0o744 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky, Stamp: "0 Nov 21 10:00"},
		"drwxrwxrwt. 9 0 0 4096 Nov 21 10:00 /tmp":     {Size: 4096, Mode: fs.ModeDir | 0o777 | fs.ModeSticky, Stamp: "4096 Nov 21 10:00"},
		"lrwxrwxrwx 1 0 0 4 Nov 21 10:00 l -> a":       {Size: 4, Mode: fs.ModeSymlink | 0o777, Stamp: "4 Nov 21 10:00"},
		"crw-rw-rw- 1 0 0 1, 3 Nov 21 10:00 /dev/null": {Mode: fs.ModeIrregular | 0o666, Stamp: "1, 3 Nov 21"},
		"-rw-r--r-- 1 0 0 12":                          {Size: 12, Mode: 0o644, Stamp: "12"},
	} {
		got, err := parseLs(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	for _, line := range []string{"", "total 0", "-rw-r--r-- 1 root root 12 x", "-rw 1 0 0 12 f", "-rw-r--r-- 1 0 0 -5 f"} {
		_, err := parseLs(line)
		assert.Error(t, err, line)
	}
}

func FuzzParseLs(f *testing.F) {
	f.Add("-rw-r--r-- 1 0 0 12 Nov 21 10:00 f\n")
	f.Fuzz(func(t *testing.T, line string) {
		if i, err := parseLs(line); err == nil && (i.Size < 0 || i.Mode&^(fs.ModeType|fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0) {
			t.Fatalf("%+v", i)
		}
	})
}

package files_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/files"
)

func TestLinesOfLsAreRead(t *testing.T) {
	for line, want := range map[string]files.Info{
		"-rw-r--r-- 1 0 0 12 Nov 21 10:00 f\n":         {Kind: files.Regular, Size: 12, Mode: 0o644},
		"-rwsr-Sr-T+ 1 0 0 0 Nov 21 10:00 a\nb":        {Kind: files.Regular, Mode: 0o744 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky},
		"drwxrwxrwt. 9 0 0 4096 Nov 21 10:00 /tmp":     {Kind: files.Directory, Size: 4096, Mode: 0o777 | fs.ModeSticky},
		"crw-rw-rw- 1 0 0 1, 3 Nov 21 10:00 /dev/null": {Kind: files.Special, Mode: 0o666},
	} {
		i, err := files.ParseLs(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, files.Info{Kind: i.Kind, Size: i.Size, Mode: i.Mode}, line)
	}
	for _, line := range []string{"", "total 0", "-rw-r--r-- 1 root root 12 x", "-rw 1 0 0 12 f", "-rw-r--r-- 1 0 0 -5 f"} {
		_, err := files.ParseLs(line)
		assert.Error(t, err, line)
	}
}

func FuzzParseLs(f *testing.F) {
	f.Add("-rw-r--r-- 1 0 0 12 Nov 21 10:00 f\n")
	f.Fuzz(func(t *testing.T, line string) {
		if i, err := files.ParseLs(line); err == nil && (i.Size < 0 || i.Kind == files.None) {
			t.Fatalf("%+v", i)
		}
	})
}

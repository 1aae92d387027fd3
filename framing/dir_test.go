package framing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

var hardDirs = []string{"plain", "a b", "new\nline", "ends in LF\n", "\n", "\x1e", "\x1e\n\x1f", "it's", `"`, `\`, "$x", "`id`", ";", "*", "-", "é日本", "\xff\xfe", "\xc3", "a\rb\r", "\x03\x04\x15\x1a",
	"%s%d", "~", "\x01'\x02"}

func TestADirectoryOfAnyNameIsTold(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		root := realDir(t)
		for _, name := range hardDirs {
			dir := filepath.Join(root, "d"+name)
			require.NoError(t, os.Mkdir(dir, 0o700))
			o := s.run("cd " + quoted(t, dir))
			require.Empty(t, o.stderr, "%q", name)
			assert.Equal(t, dir, o.trailer.Dir)
			assert.Equal(t, dir, s.run("echo out; true").trailer.Dir)
			// A directory that has gone is told too, and leaves the shell usable.
			require.NoError(t, os.Remove(dir))
			o = s.run("echo gone")
			assert.Equal(t, "gone\n", o.stdout)
			assert.Empty(t, o.stderr)
			assert.Equal(t, dir, o.trailer.Dir)
		}
		assert.Equal(t, "/", s.run("cd /").trailer.Dir)
	})
}

// realDir is a temporary directory without symbolic links in its name.
func realDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func TestADirectoryRemovedUnderTheShellIsTold(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		dir := filepath.Join(realDir(t), "gone")
		o := s.run("mkdir " + dir + " && cd " + dir + " && rmdir " + dir)
		assert.Equal(t, 0, o.trailer.ExitCode)
		assert.Equal(t, dir, o.trailer.Dir)
		assert.Empty(t, o.stdout+o.stderr)
		o = s.run("cd /tmp")
		assert.Equal(t, "/tmp", o.trailer.Dir)
	})
}

func TestAVariableThatLiesAboutTheDirectoryIsNotBelieved(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		require.Equal(t, "/usr", s.run("cd /usr").trailer.Dir)
		for _, script := range []string{"PWD=/fake", "PWD=/tmp", "PWD=", "unset PWD"} {
			o := s.run(script)
			require.Nil(t, o.exit)
			if o.trailer.Dir != "" { // a shell that cannot know it any more says nothing
				assert.Equal(t, "/usr", o.trailer.Dir, script)
			}
			assert.Empty(t, o.stdout+o.stderr, script)
		}
		assert.Equal(t, "/tmp", s.run("cd /tmp").trailer.Dir)
	})
}

func TestAnEndedShellTellsWhereItStood(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		dir := filepath.Join(realDir(t), "it's\n\x1eé")
		require.NoError(t, os.Mkdir(dir, 0o700))
		s := start(t, sh)
		o := s.run("cd " + quoted(t, dir) + "; exit 3")
		require.NotNil(t, o.exit)
		assert.Equal(t, framing.Exit{Code: 3, Dir: dir}, *o.exit)
	})
}

func TestAShellStartsWhereItIsTold(t *testing.T) {
	dir := filepath.Join(realDir(t), "a 'b'\né\x01")
	require.NoError(t, os.Mkdir(dir, 0o700))
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		sh.Dir = dir
		sh.Env = []string{"A=it's\n$x\x02", "_B1="}
		s := start(t, sh)
		assert.Equal(t, dir, s.hello.Dir)
		assert.Equal(t, "it's\n$x\x02[]\n", s.output(`sh -c 'echo "$A[$_B1]"'`))
		assert.Equal(t, dir, s.run("").trailer.Dir)
	})
}

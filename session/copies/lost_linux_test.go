package copies_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/copies"
)

// A directory that cannot be read is reported, and keeps nothing else back: as with cp and scp.
func TestADirectoryThatCannotBeReadKeepsNothingElseBack(t *testing.T) {
	src := filepath.Join(tempDir(t), "src")
	for _, name := range []string{"a/f", "b/f", "c/d/f", "c/f"} {
		write(t, filepath.Join(src, name), []byte(name), 0o644)
	}
	for _, dir := range []string{"b", "c/d"} {
		require.NoError(t, os.Chmod(filepath.Join(src, dir), 0))
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(src, dir), 0o755) })
	}
	defer asStranger(t, filepath.Dir(src))()
	local, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	var names []string
	for _, e := range local.Entries {
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"src", "src/a", "src/a/f", "src/b", "src/c", "src/c/d", "src/c/f"}, names)
	assert.Equal(t, []copies.Report{
		{Done: copies.Failed, Name: "src/b", Why: "permission denied", Code: "permission"},
		{Done: copies.Failed, Name: "src/c/d", Why: "permission denied", Code: "permission"},
	}, local.Lost)
	_, err = copies.NewLocal([]string{filepath.Join(src, "a"), filepath.Join(src, "b")})
	assert.EqualError(t, err, filepath.Join(src, "b")+": permission denied", "what is named itself")
}

// asStranger has this thread open files in dir as an account that owns none, where it is root, whom no mode stops.
func asStranger(t *testing.T, dir string) func() {
	if os.Getuid() != 0 {
		return func() {}
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
	return func() {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 0, 0, 0)
		runtime.UnlockOSThread()
	}
}

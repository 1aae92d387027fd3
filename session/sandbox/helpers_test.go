package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// shellsToTry are argv of POSIX shells, by the name that package judge knows.
var shellsToTry = []struct {
	name string
	argv []string
}{
	{"bash", []string{"bash", "--norc", "--noprofile", "-c"}},
	{"dash", []string{"dash", "-c"}},
	{"ash", []string{"busybox", "ash", "-c"}},
	{"zsh", []string{"zsh", "-f", "-c"}},
	{"mksh", []string{"mksh", "-c"}},
	{"ksh", []string{"ksh", "-c"}},
}

// need skips, or fails where everything must be there, when a program is missing.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and here it must be", program)
	}
	t.Skipf("%s is not installed", program)
}

// runner runs scripts with a shell of this machine.
func runner(argv ...string) sandbox.Runner {
	return func(ctx context.Context, _, script string) (string, error) {
		cmd := exec.CommandContext(ctx, argv[0], append(append([]string{}, argv[1:]...), script)...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%w: %s", err, stderr.String())
		}
		return out.String(), nil
	}
}

// scratch is a directory without symbolic links on the way.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// lasting is a scratch directory that is not in /tmp, where a place of its own would not see it.
func lasting(t testing.TB) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, in := range []string{"/srv", "/var/lib", home} {
		if dir, err := os.MkdirTemp(in, "fl"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			dir, err = filepath.EvalSymlinks(dir)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(dir, 0o755))
			return dir
		}
	}
	needs.Part(t, "there is no directory outside /tmp that can be written")
	return ""
}

// outside starts a process outside of any sandbox. unhurt fails where something else than unhurt itself has ended it: a
// process that is dead and not waited for still takes signal 0.
func outside(t *testing.T, env ...string) (pid int, unhurt func()) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = env
	require.NoError(t, cmd.Start())
	once := sync.OnceValue(func() string {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		return cmd.ProcessState.String()
	})
	t.Cleanup(func() { once() })
	return cmd.Process.Pid, func() {
		t.Helper()
		require.Equal(t, "signal: interrupt", once(), "a process outside was signalled")
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

func link(t testing.TB, to, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.Symlink(to, name))
}

// expand writes a scratch tree's paths for OUT and BOX.
func expand(dir, command string) string {
	return strings.NewReplacer("OUT", dir+"/out", "BOX", dir+"/box").Replace(command)
}

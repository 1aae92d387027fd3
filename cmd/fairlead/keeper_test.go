package main_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
)

// keeperSurroundings gives a script a keeper of its own, should it start one, and ends that with the script. The name of
// a socket must be short.
func keeperSurroundings(e *testscript.Env) error {
	dir, err := os.MkdirTemp("", "fl")
	if err != nil {
		return err
	}
	e.Setenv("XDG_RUNTIME_DIR", dir)
	places := keeper.Places{Socket: filepath.Join(dir, "fairlead", "keeper.sock")}
	e.Defer(func() {
		defer os.RemoveAll(dir)
		if _, err := os.Stat(filepath.Dir(places.Socket)); err != nil {
			return // none was ever started
		}
		ctx, cancel := context.WithTimeout(context.Background(), awaitAtMost)
		defer cancel()
		if err := keeper.Stop(ctx, places); err != nil && !errors.Is(err, keeper.ErrNone) {
			e.T().Log("the keeper does not end: ", err)
			e.T().FailNow()
		}
	})
	return nil
}

// What one command on one host does is the same with a keeper and without.
func TestExecIsTheSameWithAKeeperAndWithout(t *testing.T) {
	for name, mode := range map[string]string{"without": "off", "with": "require"} {
		t.Run(name, func(t *testing.T) {
			params := scriptParams(t)
			setup := params.Setup
			params.Dir, params.Setup = "testdata/both", func(e *testscript.Env) error {
				e.Setenv("FAIRLEAD_KEEPER", mode)
				return setup(e)
			}
			testscript.Run(t, params)
		})
	}
}

// program puts a copy of the program into dir: the binary of a test starts no keeper.
func program(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	name := filepath.Join(dir, "bin", "fairlead")
	require.NoError(t, os.Mkdir(filepath.Dir(name), 0o700))
	if os.Link(self, name) == nil {
		return name
	}
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return name
}

func TestAnOperatorIsAskedAtTheTerminalWhereverTheCommandRuns(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts:\n  - {name: web1, transport: demo, tier: prod}\n"), 0o600))
	places := keeper.Places{Socket: filepath.Join(dir, "fairlead", "keeper.sock")}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), awaitAtMost)
		defer cancel()
		assert.NoError(t, keeper.Stop(ctx, places))
		os.RemoveAll(dir)
	})
	self := program(t, dir)
	const forbidden = "echo ran; false && curl -s http://127.0.0.1:1/ | sh; true"
	for name, place := range map[string][]string{
		"from here": {"--keeper", "off", "exec", "web1"}, "in the keeper": {"--keeper", "require", "exec", "web1"},
		"in a session": {"exec", "-s", "s", "web1"},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(prompt, answer string, argv ...string) (int, string, string, string) {
				cmd := exec.Command(self, append(append([]string{"-i", inventory}, place...), argv...)...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir}
				return typeAt(t, cmd, true, prompt, answer)
			}
			code, stdout, stderr, screen := call("[y/N] ", "y\n", "--", "echo ran; systemctl --version stop x >/dev/null 2>&1; true")
			assert.Zero(t, code, stderr)
			assert.Equal(t, "ran\n", stdout)
			assert.Contains(t, screen, "fairlead: This needs a confirmation.\n  hosts    web1 (1 host)\n")
			code, stdout, stderr, _ = call("[y/N] ", "n\n", "--", "echo ran; systemctl --version stop x")
			assert.Equal(t, 5, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, "it was not confirmed")
			code, stdout, _, _ = call("[y/N] ", "\x03", "--", "echo ran; systemctl --version stop x")
			assert.Equal(t, 130, code)
			assert.Empty(t, stdout)
			code, stdout, stderr, _ = call("Type the name of the host: ", "web1\n", "--reason", "a drill", "--", forbidden)
			assert.Zero(t, code, stderr)
			assert.Equal(t, "ran\n", stdout)
			code, stdout, _, _ = call("Type the name of the host: ", "web2\n", "--yes", "--reason", "a drill", "--", forbidden)
			assert.Equal(t, 5, code)
			assert.Empty(t, stdout)
		})
	}
}

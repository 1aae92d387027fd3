package terminal_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// opener passes for what shows a file to a person: it tells which, who may read that, and what it says.
const opener = `#!/bin/sh
{ ls -l "$1"; cat "$1"; } >"$OPENED"
`

// The page is opened where somebody looks, and nobody reads the code off a command line.
func TestThePageIsOpenedWhereThereIsAScreen(t *testing.T) {
	home, _ := fairleadtest.KeeperHome(t)
	bin, opened := t.TempDir(), filepath.Join(t.TempDir(), "opened")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "open"), []byte(opener), 0o755))
	self := fairleadtest.Program(t, home)
	web := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.Command(self, append([]string{"web"}, args...)...)
		cmd.Env = append([]string{fairleadtest.Gorace, "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "OPENED=" + opened}, env...)
		tty, err := pty.Start(cmd)
		require.NoError(t, err)
		defer tty.Close()
		late := time.AfterFunc(fairleadtest.AwaitAtMost, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		said, _ := io.ReadAll(tty) // which ends with an error, as terminals do
		require.NoError(t, cmd.Wait(), "%s", said)
		return strings.ReplaceAll(string(said), "\r\n", "\n")
	}
	const link = `http://127\.0\.0\.1:[0-9]+/#[A-Z2-7]+`
	path := "PATH=" + bin + ":" + os.Getenv("PATH")

	assert.Regexp(t, "^"+link+"\n$", web([]string{path, "DISPLAY=:9"}))
	var text []byte
	require.Eventually(t, func() bool { // it is not waited for
		text, _ = os.ReadFile(opened)
		return strings.HasSuffix(string(text), "\">\n")
	}, fairleadtest.AwaitAtMost, 10*time.Millisecond)
	assert.Regexp(t, `^-rw------- .*/web\.html\n<!doctype html>.* content="0; url=`+link+`">\n$`, string(text))

	require.NoError(t, os.Remove(opened))
	assert.Regexp(t, "^"+link+"\n$", web([]string{path, "DISPLAY=:9"}, "--no-open"))
	assert.Regexp(t, "^"+link+"\nfairlead: no browser can be opened here: open the link in a browser on this machine\n$", web([]string{path}))
	assert.Regexp(t, "^"+link+`
fairlead: from the machine you sit at: ssh -L [0-9]+:127\.0\.0\.1:[0-9]+, and open the link there
$`, web([]string{path, "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22"}))
	assert.Regexp(t, "^"+link+`
fairlead: no browser could be opened \(.*xdg-open.*\): open the link yourself
$`, web([]string{"PATH=/nowhere", "DISPLAY=:9"}))
	assert.NoFileExists(t, opened)
}

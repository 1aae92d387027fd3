package become_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
)

// both is a program's terminal, as far as these programs need one.
type both struct {
	io.Reader
	io.WriteCloser
}

// Each shell says in words of its own that a program is not there, and begins with its $0, which is code of ours.
func TestAHostWithoutTheProgramSaysSo(t *testing.T) {
	for _, shell := range []string{"dash", "bash", "busybox", "mksh", "zsh", "ksh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue // sh is one of them
		}
		for _, method := range []string{"sudo", "doas", "su", "sudo-rs"} {
			t.Run(shell+" "+method, func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.Symlink(path, filepath.Join(dir, "sh")))
				b := hosts.Become{User: "app", Method: method}
				e, err := become.New(b, false)
				require.NoError(t, err)
				cmd := exec.Command(filepath.Join(dir, "sh"), "-c", e.Line)
				if shell == "busybox" && method == "su" {
					t.Skip("it has one built in")
				}
				cmd.Env = []string{"PATH=" + dir}
				in, err := cmd.StdinPipe()
				require.NoError(t, err)
				out, w := io.Pipe()
				cmd.Stdout, cmd.Stderr = w, w
				require.NoError(t, cmd.Start())
				go func() {
					_ = cmd.Wait()
					w.Close()
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = e.Converse(ctx, both{out, in}, become.Talk{Host: "web1", Login: "ada"}, "true")
				require.ErrorIs(t, err, become.ErrNoProgram)
				program := method
				if method == "sudo-rs" {
					program = "sudo"
				}
				assert.EqualError(t, err, program+" is not installed, or ada does not find it: install it, or name another method of become in the inventory")
			})
		}
	}
}

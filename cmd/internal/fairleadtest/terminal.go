package fairleadtest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// TypeAt runs a command whose input is piped, and answers a question that it asks at its terminal, if it has one.
func TypeAt(t *testing.T, cmd *exec.Cmd, tty bool, prompt, answer string) (code int, stdout, stderr, screen string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("piped"), &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	var seen bytes.Buffer
	var wg sync.WaitGroup
	if tty {
		master, slave, err := pty.Open()
		require.NoError(t, err)
		cmd.ExtraFiles = []*os.File{slave}
		cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 3
		defer master.Close()
		defer slave.Close()
		wg.Go(func() {
			buf := make([]byte, 4096)
			for said := false; ; {
				n, err := master.Read(buf)
				seen.Write(buf[:n])
				if err != nil {
					return
				}
				if !said && strings.HasSuffix(seen.String(), prompt) {
					said = true
					_, _ = master.WriteString(answer)
				}
			}
		})
		require.NoError(t, cmd.Start())
		require.NoError(t, slave.Close()) // the reading ends with the program
	} else {
		require.NoError(t, cmd.Start())
	}
	late := time.AfterFunc(AwaitAtMost, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
	wg.Wait()
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

// SitAt runs a command on a terminal where a person types, and returns what was to be seen there.
func SitAt(t *testing.T, cmd *exec.Cmd, typed []string) string {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 200}))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	var seen bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		from := 0
		for {
			n, err := master.Read(buf)
			seen.Write(buf[:n])
			if err != nil {
				return
			}
			for len(typed) > 1 {
				at := strings.Index(seen.String()[from:], typed[0])
				if at < 0 {
					break
				}
				from += at + len(typed[0])
				_, _ = master.WriteString(typed[1])
				typed = typed[2:]
			}
		}
	})
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	late := time.AfterFunc(AwaitAtMost, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
	wg.Wait()
	return strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

package mcp_test

import (
	"bytes"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// outside runs the program in a terminal whose process descends from nobody that hosts an agent, and answers what it shows.
func (p *place) outside(answers map[string]string, args ...string) (code int, screen string) {
	p.t.Helper()
	master, slave, err := pty.Open()
	require.NoError(p.t, err)
	defer master.Close()
	cmd := p.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(p.t, cmd.Start())
	require.NoError(p.t, slave.Close()) // the reading ends with the program
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var seen bytes.Buffer
	said := map[string]bool{}
	for buf := make([]byte, 4096); ; {
		n, err := master.Read(buf)
		seen.Write(buf[:n])
		for prompt, answer := range answers {
			if !said[prompt] && strings.Contains(seen.String(), prompt) {
				said[prompt] = true
				_, _ = master.WriteString(answer)
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

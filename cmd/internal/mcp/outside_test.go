package mcp_test

import (
	"bytes"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// typed is what somebody types when a prompt is shown.
type typed struct{ prompt, line string }

// outside runs the program in a terminal whose process descends from nobody that hosts an agent, and holds a dialogue with it:
// each prompt is waited for behind the one before, as its words may be in what else is shown.
func (p *place) outside(dialogue []typed, args ...string) (code int, screen string) {
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
	read := 0 // up to there the prompts were answered
	for buf := make([]byte, 4096); ; {
		n, err := master.Read(buf)
		seen.Write(buf[:n])
		for len(dialogue) > 0 {
			_, after, asked := strings.Cut(seen.String()[read:], dialogue[0].prompt)
			if !asked {
				break
			}
			read = seen.Len() - len(after)
			_, _ = master.WriteString(dialogue[0].line + "\r")
			dialogue = dialogue[1:]
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

package mcp_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that has stopped reading is a client that hangs: whoever ends its servers then sends one SIGTERM.
func TestASignalEndsAProgramWhoseClientReadsNothing(t *testing.T) {
	p := newPlace(t, here)
	for _, keeper := range []string{"require", "off"} {
		t.Run(keeper, func(t *testing.T) {
			cmd := p.command("--keeper", keeper, "mcp")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
			require.NoError(t, err)
			for id := range 50 { // the answers are more than a pipe holds
				_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id+1)
				require.NoError(t, err)
			}
			_, err = io.ReadFull(out, make([]byte, 20_000))
			require.NoError(t, err, "the answers have begun")
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			state, err := cmd.Process.Wait() // that of cmd closes the pipe
			require.NoError(t, err)
			assert.Equal(t, 128+int(syscall.SIGTERM), state.ExitCode())
			in.Close()
			out.Close()
		})
	}
}

// Without a keeper, what runs ends with this process, and is no reason to wait for it.
func TestASignalEndsAProgramWhoseCallsRun(t *testing.T) {
	p := newPlace(t, here)
	fifo := filepath.Join(p.dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	cmd := p.command("--keeper", "off", "mcp", "--allow-all")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"echo on >`+fifo+`; sleep 1000","wait_s":50}}}`+"\n")
	require.NoError(t, err)
	_, err = os.ReadFile(fifo)
	require.NoError(t, err, "it runs")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	answers, err := io.ReadAll(out)
	require.NoError(t, err)
	assert.NotContains(t, string(answers), `"running"`, "that is the answer after wait_s")
	_ = cmd.Wait()
	assert.Equal(t, 128+int(syscall.SIGTERM), cmd.ProcessState.ExitCode())
}

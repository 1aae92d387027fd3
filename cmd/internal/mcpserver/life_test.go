package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	command "github.com/fairlead-ssh/fairlead/cmd/internal/mcp"
)

// raw speaks the protocol by hand.
type raw struct {
	t   *testing.T
	in  io.WriteCloser
	out *json.Decoder
	end chan error
}

func (p place) raw(t *testing.T, args ...string) *raw {
	t.Helper()
	cmd := p.command(args...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := &raw{t: t, in: in, out: json.NewDecoder(out), end: make(chan error, 1)}
	r.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	r.answer()
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	t.Cleanup(func() { in.Close() })
	go func() {
		// Wait closes the pipe: what is still to be read is read first.
		var m json.RawMessage
		for r.out.Decode(&m) == nil {
			continue
		}
		r.end <- cmd.Wait()
	}()
	return r
}

func (r *raw) send(msg string) {
	r.t.Helper()
	_, err := io.WriteString(r.in, msg+"\n")
	require.NoError(r.t, err)
}

func (r *raw) answer() (m map[string]any) {
	r.t.Helper()
	require.NoError(r.t, r.out.Decode(&m))
	return m
}

func (r *raw) code() int {
	r.t.Helper()
	select {
	case err := <-r.end:
		if err == nil {
			return 0
		}
		return 1
	case <-time.After(time.Minute):
		r.t.Fatal("it does not end")
		return -1
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestTheEndOfStandardInputEndsEverything(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		gate := fifo(t)
		r := p.raw(t, "--allow-all")
		run := args{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": args{"name": "run", "arguments": args{
			"targets": p.host, "command": "echo $$ >" + gate + "; sleep 1000"}}}
		msg, err := json.Marshal(run)
		require.NoError(t, err)
		r.send(string(msg))
		pid, err := strconv.Atoi(strings.TrimSpace(read(t, gate)))
		require.NoError(t, err)
		require.True(t, alive(pid))
		began := time.Now()
		require.NoError(t, r.in.Close())
		assert.Equal(t, 0, r.code())
		t.Logf("it took %v", time.Since(began))
		for until := time.Now().Add(20 * time.Second); alive(pid) && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			continue // the server behind the connection may take its time
		}
		assert.False(t, alive(pid), "the shell goes with the session")
	})
}

func TestASignalEndsEverything(t *testing.T) {
	p := newPlace(t, here, "")
	cmd := p.command("--allow-all")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	cmd.Stderr = nil
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.NewDecoder(out).Decode(&m))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.Error(t, cmd.Wait())
}

func TestTheConfigurationForClientsIsPrinted(t *testing.T) {
	p := newPlace(t, here, "")
	cmd := p.command("--print-config", "--as", "claude")
	cmd.Args = append(cmd.Args[:1], cmd.Args[3:]...) // the inventory is the environment's, as FAIRLEAD_KEEPER is
	cmd.Env = append(cmd.Env, "FAIRLEAD_INVENTORY="+p.inventory)
	cmd.Stdout = nil
	text, err := cmd.Output()
	require.NoError(t, err)
	var got struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	require.NoError(t, json.Unmarshal(text, &got))
	s := got.MCPServers["fairlead"]
	exe, err := os.Executable()
	require.NoError(t, err)
	assert.Equal(t, exe, s.Command)
	assert.Equal(t, []string{"-i", p.inventory, "--keeper", "off", "mcp", "--as", "claude"}, s.Args)
	assert.True(t, filepath.IsAbs(s.Args[1]))
	_, err = os.Stat(filepath.Join(p.home, ".local"))
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing is opened for that")
}

func TestTheCommandLineIsParsed(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		as      string
		all     bool
		wantErr string
	}{
		"plain":           {as: "mcp"},
		"a name":          {args: []string{"--as", "claude-2"}, as: "claude-2"},
		"all":             {args: []string{"--allow-all"}, as: "mcp", all: true},
		"another role":    {args: []string{"--as", "operator/ada"}, wantErr: "--as takes a name"},
		"an empty name":   {args: []string{"--as", ""}, wantErr: "--as takes a name"},
		"an argument":     {args: []string{"x"}, wantErr: "no arguments"},
		"an unknown flag": {args: []string{"--port", "1"}, wantErr: "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, _ := iostreams.Test()
			var got *command.Options
			cmd := command.NewCmd(&cmdutil.Factory{IO: ios}, func(_ context.Context, o *command.Options) error { got = o; return nil })
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append([]string{}, tt.args...))
			err := cmd.ExecuteContext(t.Context())
			if tt.wantErr != "" {
				require.ErrorContains(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.as, got.As)
			assert.Equal(t, tt.all, got.AllowAll)
		})
	}
}

func TestAnAgentCannotAllowItselfEverything(t *testing.T) {
	p := newPlace(t, here, "")
	p.env = []string{"CLAUDECODE=1"}
	cmd := p.command("--allow-all")
	cmd.Stderr = nil
	cmd.Stdin = strings.NewReader("")
	out, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "--allow-all is for a person to give")
}

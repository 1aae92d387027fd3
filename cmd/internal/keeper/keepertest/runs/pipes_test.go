package runs_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// piping is a keeper with a host that OpenSSH serves.
func piping(t *testing.T) (*keepertest.World, *sessiontest.SSHD) {
	t.Helper()
	sshd := sessiontest.OpenSSHD(t)
	w := keepertest.Start(t)
	require.NoError(t, os.WriteFile(w.Inventory, fmt.Appendf(nil, "version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev}\n  - {name: here, transport: local}\n", sshd.Config), 0o600))
	c := client.New(client.Config{Socket: w.Places.Socket, Inventory: w.Inventory})
	t.Cleanup(c.Close)
	require.Eventually(t, func() bool {
		hs, err := c.Hosts(t.Context(), "")
		return err == nil && len(hs) == 2 && hs[0].Name == "sshd"
	}, 30*time.Second, 10*time.Millisecond)
	return w, sshd
}

// pipes asks for a program.
func pipes(t *testing.T, c *client.Client, r pipe.Request) (*pipe.Client, error) {
	t.Helper()
	conn, err := c.Streams(t.Context())
	require.NoError(t, err)
	p, err := pipe.NewClient(conn, conn, r)
	if err != nil {
		conn.Close()
		return nil, err
	}
	t.Cleanup(func() { p.Close() })
	return p, nil
}

func TestProgramsHaveExactStreamsThroughTheKeeper(t *testing.T) {
	w, _ := piping(t)
	p, err := pipes(t, w.Client, pipe.Request{Target: "sshd", Ask: pipe.Ask{Line: "cat; echo e >&2; exit 3", Caller: "rsync"}, Reason: "to see"})
	require.NoError(t, err)
	var out, errOut strings.Builder
	exit, err := p.Copy(strings.NewReader("in\x00"), &out, &errOut)
	require.NoError(t, err)
	assert.Equal(t, 3, exit.Code)
	assert.Equal(t, "in\x00", out.String())
	assert.Equal(t, "e\n", errOut.String())
	request, result := entriesOfCommand(t, w, "cat; echo e >&2; exit 3")
	assert.Equal(t, "rsync", request.Client)
	assert.Equal(t, "to see", request.Reason)
	assert.NotEmpty(t, request.HostKey)
	require.NotNil(t, result.ExitCode)
	assert.Equal(t, 3, *result.ExitCode)
	assert.Equal(t, int64(3), result.StdinBytes)
}

func TestAProgramWhoseClientGoesIsHungUpAndRecorded(t *testing.T) {
	w, _ := piping(t)
	line := "echo begun; exec sleep 1000"
	p, err := pipes(t, w.Client, pipe.Request{Target: "sshd", Ask: pipe.Ask{Line: line}})
	require.NoError(t, err)
	first := make(chan struct{})
	go func() { _, _ = p.Copy(neverEnds{t}, &signalling{first: first}, io.Discard) }()
	<-first
	p.Close()
	require.Eventually(t, func() bool {
		_, result := entriesOfCommand(t, w, line)
		return result.Status == "lost"
	}, 30*time.Second, 20*time.Millisecond)
	p, err = pipes(t, w.Client, pipe.Request{Target: "sshd", Ask: pipe.Ask{Line: "pkill -9 -P $PPID sleep; echo next"}})
	require.NoError(t, err)
	var out strings.Builder
	_, err = p.Copy(nil, &out, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "next\n", out.String())
}

func TestWhoMayNotHaveExactStreamsHearsItAndItIsRecorded(t *testing.T) {
	w, _ := piping(t)
	_, err := pipes(t, w.As("agent/a"), pipe.Request{Target: "sshd", Ask: pipe.Ask{Line: "echo secret"}})
	assert.ErrorContains(t, err, "exact streams are for operators")
	request, result := entriesOfCommand(t, w, "echo secret")
	assert.Equal(t, "deny", request.Verdict)
	assert.Equal(t, "denied", result.Status)
	for name, r := range map[string]pipe.Request{
		"no host named nowhere": {Target: "nowhere", Ask: pipe.Ask{Line: "x"}},
		"reached by local":      {Target: "here", Ask: pipe.Ask{Line: "x"}},
		"only one of":           {Target: "sshd", Ask: pipe.Ask{Line: "x", Subsystem: "sftp"}},
		"is not what it was":    {Target: "sshd", Sum: "other", Ask: pipe.Ask{Line: "x"}},
		"no subsystem nosuch":   {Target: "sshd", Ask: pipe.Ask{Subsystem: "nosuch"}},
	} {
		_, err := pipes(t, w.Client, r)
		var p *wire.Problem
		if assert.ErrorAs(t, err, &p, name) {
			assert.ErrorContains(t, err, name)
		}
	}
	status, _, _ := w.Send("GET", "/v1/pipes", "")
	assert.Equal(t, http.StatusUpgradeRequired, status)
	conn, err := w.Streams(t.Context())
	require.NoError(t, err)
	_, err = conn.Write([]byte("X\x00\x00\x00\x00"))
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "the first frame is not a request")
}

// entriesOfCommand are those of the command.
func entriesOfCommand(t *testing.T, w *keepertest.World, command string) (request, result audit.Event) {
	t.Helper()
	for _, e := range keepertest.AuditOf(t, w) {
		switch {
		case e.Kind == audit.CommandRequest && e.Command == command:
			request = e
		case e.Kind == audit.CommandResult && e.ID == request.ID && e.ID != "":
			result = e
		}
	}
	return request, result
}

// neverEnds is a standard input without an end.
type neverEnds struct{ t *testing.T }

func (n neverEnds) Read([]byte) (int, error) {
	<-n.t.Context().Done()
	return 0, io.EOF
}

// signalling closes first with the first byte.
type signalling struct{ first chan struct{} }

func (s *signalling) Write(p []byte) (int, error) {
	select {
	case <-s.first:
	default:
		close(s.first)
	}
	return len(p), nil
}

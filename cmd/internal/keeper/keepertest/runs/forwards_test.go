package runs_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// leads reports whether a port leads to an SSH server.
func leads(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	defer c.Close()
	greeting := make([]byte, 8)
	_, err = io.ReadFull(c, greeting)
	return err == nil && string(greeting) == "SSH-2.0-"
}

func TestThePolicyJudgesForwards(t *testing.T) {
	w, sshd := piping(t)
	host, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	local := wire.NewForward{Host: "sshd", Kind: wire.ForwardLocal, Listen: "127.0.0.1:0", To: sshd.Addr, Reason: "to see"}
	agent := w.As("agent/claude")
	for _, in := range []wire.NewForward{local, {Host: "sshd", Kind: wire.ForwardDynamic, Listen: "localhost:0"}, {Host: "sshd", Kind: wire.ForwardRemote, Listen: "localhost:0", To: sshd.Addr}} {
		_, err := agent.OpenForward(t.Context(), in)
		assert.Equal(t, "denied", keepertest.CodeOf(t, err), in.Kind)
	}
	rule := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte("version: 1\nrules:\n  - {name: forwards, hosts: sshd, principals: [\"*\"], "+text+"}\n"), 0o600))
	}
	rule(`programs: ["nc ` + host + ` ` + port + `"], verdict: allow`)
	f, err := agent.OpenForward(t.Context(), local)
	require.NoError(t, err)
	assert.True(t, leads(f.Listen), "a rule has allowed it")
	all, err := w.Forwards(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all, "it is the agent's")
	_, err = w.CloseForward(t.Context(), f.ID)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
	socket := filepath.Join(t.TempDir(), "s")
	rule(`programs: ["nc -U *", "nc ` + host + ` *"], verdict: allow`)
	far, err := agent.OpenForward(t.Context(), wire.NewForward{Host: "sshd", Kind: wire.ForwardLocal, Listen: "127.0.0.1:0", To: socket, Reason: "to see"})
	require.NoError(t, err, "a rule has allowed it")
	assert.Equal(t, socket, far.To)
	_, err = agent.CloseForward(t.Context(), far.ID)
	require.NoError(t, err)
	near := local
	near.Listen = socket
	_, err = agent.OpenForward(t.Context(), near)
	assert.Equal(t, "denied", keepertest.CodeOf(t, err))
	assert.ErrorContains(t, err, "sockets to listen on are for operators")
	assert.NoFileExists(t, socket)
	rule(`programs: ["nc *"], verdict: deny, reason: not today`)
	assert.False(t, leads(f.Listen), "the rule is gone")
	f, err = agent.CloseForward(t.Context(), f.ID)
	require.NoError(t, err)
	assert.Contains(t, f.Fault, "denied by now: not today")
	_, err = w.OpenForward(t.Context(), local)
	assert.Equal(t, "denied", keepertest.CodeOf(t, err))
	assert.ErrorContains(t, err, "not today")

	rule(`programs: ["nc *"], verdict: ask`)
	for name, tt := range map[string]struct {
		change func(*wire.NewForward)
		code   string
	}{
		"nothing":        {func(*wire.NewForward) {}, "denied"},
		"confirm":        {func(f *wire.NewForward) { f.Confirm = true }, ""},
		"break_glass":    {func(f *wire.NewForward) { f.BreakGlass = "sshd" }, ""},
		"another host's": {func(f *wire.NewForward) { f.BreakGlass = "here" }, "invalid"},
	} {
		in := local
		tt.change(&in)
		f, err := w.OpenForward(t.Context(), in)
		if tt.code != "" {
			assert.Equal(t, tt.code, keepertest.CodeOf(t, err), name)
			continue
		}
		require.NoError(t, err, name)
		assert.True(t, leads(f.Listen), "%s holds for its connections", name)
		_, err = w.CloseForward(t.Context(), f.ID)
		require.NoError(t, err)
	}
	denied := 0
	for _, e := range recordedForwards(t, w, audit.ForwardRequest) {
		if e.Verdict == "deny" {
			denied++
		}
	}
	assert.Equal(t, 6, denied, "what is refused is on record")
}

func TestForwardsOverTheAPI(t *testing.T) {
	w, sshd := piping(t)
	in := wire.NewForward{Host: "sshd", Kind: wire.ForwardLocal, Listen: "127.0.0.1:0", To: sshd.Addr}
	var first, again wire.Forward
	status, p := w.API("", "POST", "/v1/forwards", in, &first, wire.IdempotencyKey, "k")
	require.Equal(t, http.StatusCreated, status, p.Detail)
	status, p = w.API("", "POST", "/v1/forwards", in, &again, wire.IdempotencyKey, "k")
	require.Equal(t, http.StatusCreated, status, p.Detail)
	assert.Equal(t, first.ID, again.ID)
	assert.Equal(t, first.Listen, again.Listen)
	err := w.Leave(t.Context())
	assert.Error(t, err)
	for want, body := range map[string]string{
		"listen is address:port":        `{"host":"sshd","kind":"local","listen":"8080","to":"a:1"}`,
		"to: ":                          `{"host":"sshd","kind":"local","listen":":0","to":"a"}`,
		"-L needs a host and a port":    `{"host":"sshd","kind":"local","listen":":0"}`,
		"-D connects to where each":     `{"host":"sshd","kind":"dynamic","listen":":0","to":"a:1"}`,
		"kind":                          `{"host":"sshd","kind":"sideways","listen":":0","to":"a:1"}`,
		"ports are forwarded over ssh":  `{"host":"here","kind":"local","listen":":0","to":"a:1"}`,
		"no host named nowhere":         `{"host":"nowhere","kind":"local","listen":":0","to":"a:1"}`,
		"address already in use":        `{"host":"sshd","kind":"local","listen":"` + first.Listen + `","to":"a:1"}`,
		"has no blanks and no slashes":  `{"host":"sshd","kind":"local","listen":":0","to":"a b:1"}`,
		"the server refuses to listen":  `{"host":"sshd","kind":"remote","listen":"` + first.Listen + `","to":"a:1"}`,
		"break_glass takes a reason":    `{"host":"sshd","kind":"local","listen":":0","to":"a:1","break_glass":"sshd"}`,
		"body.via: unexpected property": `{"host":"sshd","kind":"local","listen":":0","to":"a:1","via":"x"}`,
	} {
		_, p, _ := w.Send("POST", "/v1/forwards", body)
		assert.Contains(t, p.Detail, want, body)
	}
	status, _ = w.API("", "DELETE", "/v1/forwards/"+first.ID, nil, &first)
	assert.Equal(t, http.StatusOK, status)
	status, p = w.API("", "POST", "/v1/forwards", in, nil, wire.IdempotencyKey, "k")
	assert.Equal(t, http.StatusGone, status, p.Detail)
}

// What PermitRemoteOpen would limit is not opened.
func TestAForwardThatLeadsAnywhereIsRefusedWherePermitRemoteOpenLimitsIt(t *testing.T) {
	w, sshd := piping(t)
	config := filepath.Join(w.Dir, "limited")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Include %s\nHost *\n  PermitRemoteOpen db1:5432\n", sshd.Config), 0o600))
	require.NoError(t, os.WriteFile(w.Inventory, fmt.Appendf(nil, "version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev}\n", config), 0o600))
	anywhere := wire.NewForward{Host: "sshd", Kind: wire.ForwardRemote, Listen: "localhost:0"}
	require.EventuallyWithT(t, func(t *assert.CollectT) { // the inventory is read again
		status, p := w.API("", "POST", "/v1/forwards", anywhere, nil)
		assert.NotEqual(t, http.StatusCreated, status)
		assert.Contains(t, p.Detail, config+":3: PermitRemoteOpen: not supported, and a -R without a destination would lead anywhere")
		assert.Equal(t, "unsupported", p.Code)
	}, 30*time.Second, 50*time.Millisecond)
	anywhere.To = sshd.Addr
	status, p := w.API("", "POST", "/v1/forwards", anywhere, nil)
	assert.Equal(t, http.StatusCreated, status, p.Detail)
}

// Nor is it opened again once the connection is lost.
func TestAForwardThatComesToLeadAnywhereEnds(t *testing.T) {
	w, sshd := piping(t)
	s := w.OpenSession("sshd", "work")
	server := w.RunIn(w.Client, s.ID, `p=$$; until [ "$(cat /proc/$p/comm)" = sshd ]; do p=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$p/status); done; echo $p`).Stdout
	_, err := w.OpenForward(t.Context(), wire.NewForward{Host: "sshd", Kind: wire.ForwardRemote, Listen: "localhost:0"})
	require.NoError(t, err)
	text, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sshd.Config, append(text, "\tPermitRemoteOpen db1:5432\n"...), 0o600))
	require.NoError(t, exec.Command("kill", "-9", strings.TrimSpace(server)).Run(), "both are on one connection")
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		all, err := w.Forwards(context.Background())
		assert.NoError(t, err)
		assert.Empty(t, all)
	}, 30*time.Second, 50*time.Millisecond)
}

// What a keeper forwards ends with it, or with the connection to its host, and that is on record.
func TestForwardsEndWithTheKeeperAndTheConnection(t *testing.T) {
	w, sshd := piping(t)
	f, err := w.OpenForward(t.Context(), wire.NewForward{Host: "sshd", Kind: wire.ForwardLocal, Listen: "127.0.0.1:0", To: sshd.Addr})
	require.NoError(t, err)
	c, err := net.Dial("tcp", f.Listen) // open until the end
	require.NoError(t, err)
	defer c.Close()
	greeting := make([]byte, 8)
	_, err = io.ReadFull(c, greeting)
	require.NoError(t, err)
	require.NoError(t, w.StopServing())
	assert.False(t, leads(f.Listen))
	ends := recordedForwards(t, w, audit.ForwardResult)
	require.Len(t, ends, 1)
	assert.Equal(t, f.ID, ends[0].ID)
	assert.Equal(t, "ok", ends[0].Status)
	assert.Positive(t, ends[0].StdoutBytes)
}

// A keeper over TCP listens for nobody there.
func TestForwardsAreForCallersOnTheSocket(t *testing.T) {
	r := keepertest.StartTCP(t)
	status, p := r.Over("POST", "/v1/forwards", r.Token("operator/bob", "operator"), `{"host":"here","kind":"local","listen":":0","to":"a:1"}`)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, p.Detail, "for callers on its socket")
}

func TestAHeldForwardIsRefusedWithItsReason(t *testing.T) {
	w, _ := piping(t)
	conn, err := w.Streams(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = pipe.NewHeld(conn, pipe.Request{Target: "nowhere", Forward: forwardOf(t, "-D 0")})
	assert.ErrorContains(t, err, "no host named nowhere")
}

func forwardOf(t *testing.T, line string) *hosts.Forward {
	t.Helper()
	f, err := hosts.ParseForwardLine(line)
	require.NoError(t, err)
	return &f
}

func recordedForwards(t *testing.T, w *keepertest.World, kind audit.Kind) (all []audit.Event) {
	t.Helper()
	for _, e := range keepertest.AuditOf(t, w) {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

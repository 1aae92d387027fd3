package restart_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// ran counts how often the marked command ran.
func ran(c *keepertest.ChildKeeper) int {
	c.T.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "box", "ran"))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(c.T, err)
	return strings.Count(string(text), "x\n")
}

// try sends a request whose answer may never come.
func try(c *keepertest.ChildKeeper, as, path string, in any, headers ...string) (done chan struct{}) {
	c.T.Helper()
	done = make(chan struct{})
	body, err := json.Marshal(in)
	require.NoError(c.T, err)
	req, err := http.NewRequestWithContext(c.T.Context(), "POST", "http://localhost"+path, strings.NewReader(string(body)))
	require.NoError(c.T, err)
	req.Header.Set("Content-Type", "application/json")
	if as != "" {
		headers = append(headers, wire.Principal, as)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	hc := c.HTTP()
	go func() {
		defer close(done)
		resp, err := hc.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	return done
}

func TestAKeeperThatIsKilledLosesNothingAndRunsNothingTwice(t *testing.T) {
	t.Parallel()
	const script = "echo x " + keepertest.Marked
	for _, tt := range []struct {
		name      string
		point     string // where it halts
		asks      bool   // it is a command that needs a yes
		yes       bool   // somebody has approved it by then
		ran       int    // how often it has run by then
		status    string // what is told of it later; "" is nothing, and it is asked for again
		outcome   string
		runsLater bool // it runs once in the end
	}{
		{name: "before it is judged", point: "judging", runsLater: true},
		{name: "before it asks", point: "before approval.request", asks: true, runsLater: true},
		{name: "before what it asks is kept", point: "after approval.request", asks: true, runsLater: true},
		{name: "while it waits", asks: true, status: "pending", runsLater: true},
		{name: "approved and not begun", asks: true, status: "rejected", outcome: "canceled"},
		{name: "approved and the answer not on record", asks: true, yes: true, point: "before approval.result", status: "rejected", outcome: "canceled"},
		{name: "approved, on record and not begun", asks: true, yes: true, point: "after approval.result", status: "rejected", outcome: "canceled"},
		{name: "approved, begun and not on record", asks: true, yes: true, point: "before command.request", status: "failed", outcome: "lost"},
		{name: "approved, on record and not sent", asks: true, yes: true, point: "after command.request", status: "failed", outcome: "lost"},
		{name: "approved and at its end, not on record", asks: true, yes: true, point: "before command.result", ran: 1, status: "failed", outcome: "lost"},
		{name: "approved and on record, not kept", asks: true, yes: true, point: "after command.result", ran: 1, status: "failed", outcome: "lost"},
		{name: "allowed, begun and not on record", point: "before command.request", status: "failed", outcome: "lost"},
		{name: "allowed, on record and not sent", point: "after command.request", status: "failed", outcome: "lost"},
		{name: "allowed and at its end, not on record", point: "before command.result", ran: 1, status: "failed", outcome: "lost"},
		{name: "allowed and on record, not kept", point: "after command.result", ran: 1, status: "failed", outcome: "lost"},
		{name: "kept", ran: 1, status: "executed", outcome: "ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := keepertest.ChildPlace(t)
			k := keepertest.StartChild(t, dir, tt.point)
			host := "here"
			if tt.asks {
				host = "there"
			}
			b, _ := k.Box(host)
			held := k.OpenSession("here", "held")
			in := wire.NewCommand{Sandbox: b.ID, Command: script}
			key := []string{wire.IdempotencyKey, "key"}
			var c wire.Command
			if tt.point == "judging" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "judge"), nil, 0o600))
				require.NoError(t, os.Chtimes(filepath.Join(dir, "policy.yaml"), time.Time{}, time.Unix(1, 0))) // so that it is read again
			}
			var pending []chan struct{}
			switch {
			case tt.yes:
				_, c = k.Post(in, key...)
				require.Equal(t, "pending", c.Status, c.Reason)
				pending = append(pending, try(k, "", keepertest.CommandsPath+"/"+c.ID+"/approve", nil))
			case tt.point != "":
				pending = append(pending, try(k, "agent/claude", keepertest.CommandsPath, in, key...))
			default:
				_, c = k.Post(in, key...)
			}
			if tt.point != "" {
				k.Said("at " + tt.point)
			}
			k.Kill()
			for _, p := range pending {
				<-p
			}
			assert.Equal(t, tt.ran, ran(k), "by then")
			if tt.outcome == "canceled" && !tt.yes { // as it is between the two steps
				approveInStore(t, dir, c.ID)
			}
			if tt.point == "judging" {
				require.NoError(t, os.Remove(filepath.Join(dir, "judge")))
			}

			k = keepertest.StartChild(t, dir, "")
			_, err := k.Session(t.Context(), held.ID)
			assert.Equal(t, "closed", keepertest.CodeOf(t, err), "its sessions are told as gone")
			_, got := k.Post(in, key...)
			if tt.status != "" {
				assert.Equal(t, tt.status, got.Status)
				assert.Equal(t, tt.outcome, got.Outcome)
				var l wire.Commands
				k.API("", "GET", keepertest.CommandsPath, nil, &l)
				require.Len(t, l.Items, 1)
				assert.Equal(t, got.ID, l.Items[0].ID, "the key is for the same one")
				if c.ID != "" {
					assert.Equal(t, c.ID, got.ID)
				}
			}
			list, err := k.Approvals(t.Context())
			require.NoError(t, err)
			status, p := k.API("", "POST", keepertest.CommandsPath+"/"+got.ID+"/approve", nil, &got)
			if got.Status == "executed" && tt.asks {
				assert.Len(t, list, 1, "it waits at the desk")
				assert.Equal(t, http.StatusOK, status, p.Detail)
			} else {
				assert.Empty(t, list)
				assert.Equal(t, http.StatusConflict, status)
			}
			k.Post(in, key...)
			want := tt.ran
			if tt.runsLater {
				want++
			}
			assert.Equal(t, want, ran(k), "in the end")
			var v wire.Verified
			k.API("", "GET", "/v1/audit/verify", nil, &v)
			assert.True(t, v.OK, "%v", v.Problems)
			k.End()
			if tt.yes || tt.outcome == "canceled" {
				about := keepertest.AboutCommand(t, filepath.Join(dir, "audit"), c.ID)
				assert.NotContains(t, about.Open, audit.ApprovalRequest, "its answer is known")
				assert.Equal(t, "operator/ada", about.Last[audit.ApprovalResult].ApprovedBy)
			}
		})
	}
}

func TestAKeeperThatIsKilledWhileItTellsThatNothingRanTellsIt(t *testing.T) {
	for _, point := range []string{"before command.request", "after command.request", "before command.result", "after command.result"} {
		t.Run(point, func(t *testing.T) {
			dir := keepertest.ChildPlace(t)
			k := keepertest.StartChild(t, dir, point)
			b, _ := k.Box("there")
			_, c := k.Post(wire.NewCommand{Sandbox: b.ID, Command: "echo x " + keepertest.Marked})
			require.Equal(t, "pending", c.Status)
			require.NoError(t, k.DeleteSandbox(t.Context(), b.ID))
			answer := try(k, "", keepertest.CommandsPath+"/"+c.ID+"/approve", nil)
			k.Said("at " + point)
			k.Kill()
			<-answer

			k = keepertest.StartChild(t, dir, "")
			k.API("", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &c)
			assert.Equal(t, "failed", c.Status)
			assert.Equal(t, "lost", c.Outcome)
			status, _ := k.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
			assert.Equal(t, http.StatusConflict, status)
			assert.Zero(t, ran(k))
			k.End()
			about := keepertest.AboutCommand(t, filepath.Join(dir, "audit"), c.ID)
			assert.NotContains(t, about.Open, audit.ApprovalRequest)
		})
	}
}

// approveInStore answers for a command as a keeper does before it begins it.
func approveInStore(t *testing.T, dir, id string) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "state", "store.db")})
	require.NoError(t, err)
	defer st.Close()
	a, err := st.Approval(t.Context(), id)
	require.NoError(t, err)
	_, err = st.Decide(t.Context(), id, store.Decision{Approve: true, By: "operator/ada", Proof: "unproven", Digest: a.Digest})
	require.NoError(t, err)
}

func TestAKeeperThatIsKilledWhileACommandRunsDoesNotRunItAgain(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	k := keepertest.StartChild(t, dir, "")
	b, box := k.Box("here")
	fifo := filepath.Join(box, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(box, "never"), 0o600))
	in := wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran; echo on > fifo; cat never", WaitS: new(float64)}
	_, c := k.Post(in, wire.IdempotencyKey, "key")
	require.Equal(t, "approved", c.Status, c.Reason)
	s := k.OpenSession("here", "work")
	run := wire.Run{Command: "echo x >> " + box + "/ran; echo on > " + fifo + "; sleep 1000"}
	for range 2 { // the sandbox's, and the session's
		_, err := os.ReadFile(fifo)
		require.NoError(t, err)
		if ran(k) == 1 {
			_, err = k.Start(t.Context(), s.ID, run, "key")
			require.NoError(t, err)
		}
	}
	require.Equal(t, 2, ran(k))
	k.Kill()

	k = keepertest.StartChild(t, dir, "")
	_, again := k.Post(in, wire.IdempotencyKey, "key")
	assert.Equal(t, c.ID, again.ID)
	assert.Equal(t, "failed", again.Status)
	assert.Equal(t, "lost", again.Outcome)
	assert.Nil(t, again.ExitCode)
	assert.NotEmpty(t, again.Reason)
	_, err := k.Session(t.Context(), "work")
	assert.Equal(t, "closed", keepertest.CodeOf(t, err))
	_, err = k.Start(t.Context(), s.ID, run, "key")
	assert.Equal(t, "closed", keepertest.CodeOf(t, err), "nor does the session's")
	assert.Equal(t, 2, ran(k))
	var v wire.Verified
	k.API("", "GET", "/v1/audit/verify", nil, &v)
	assert.True(t, v.OK, "%v", v.Problems)
	k.End()
}

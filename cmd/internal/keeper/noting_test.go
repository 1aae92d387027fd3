package keeper_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// rename changes a host's line in the inventory, and has the keeper read it.
func rename(w *keepertest.World, host, to string) {
	w.T.Helper()
	rewrite(w, strings.Replace(keepertest.Here, "name: "+host+",", "name: "+to+",", 1))
}

// rewrite changes the inventory, and has the keeper read it.
func rewrite(w *keepertest.World, text string) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(w.Inventory, []byte(text), 0o600))
	_, err := w.RunFleet(w.T.Context(), wire.NewRun{Hosts: []string{"here"}, Sums: []string{"0"}, Command: "true"}, (&keepertest.Told{}).Fleet())
	require.Equal(w.T, "stale", keepertest.CodeOf(w.T, err))
}

func TestTheRecordSaysWhoAnsweredForACommand(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	_, yes := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made", Reason: "to have it"})
	_, no := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch other"})
	docs := map[string]string{}
	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	for _, a := range list {
		d, err := w.Approval(t.Context(), a.ID)
		require.NoError(t, err)
		docs[a.Exec] = d.Digest
	}
	for c, verb := range map[*wire.Command]string{&yes: "approve", &no: "reject"} {
		status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/"+verb, wire.Reject{Reason: "because"}, c)
		require.Equal(t, http.StatusOK, status, p.Detail)
	}
	require.Equal(t, "executed", yes.Status, yes.Reason)
	for id, want := range map[string]string{yes.ID: "approved", no.ID: "rejected"} {
		about := keepertest.AboutCommand(t, w.Cfg.AuditDir, id)
		assert.Equal(t, []audit.Kind{audit.ApprovalRequest, audit.ApprovalResult}, about.Kinds, want)
		e := about.Last[audit.ApprovalResult]
		assert.Equal(t, want, e.Status)
		assert.Equal(t, "operator/ada", e.ApprovedBy)
		assert.Equal(t, "unproven", e.ApprovalProof)
		assert.NotEmpty(t, e.Approval)
		assert.Equal(t, docs[id], e.ApprovalDigest)
		assert.Equal(t, "because", e.Reason)
	}
	rep, err := audit.Verify(w.Cfg.AuditDir)
	require.NoError(t, err)
	assert.Empty(t, rep.Pending)
	asked := keepertest.AboutCommand(t, w.Cfg.AuditDir, yes.Exec.Exec).Last[audit.CommandRequest]
	assert.Equal(t, keepertest.AboutCommand(t, w.Cfg.AuditDir, yes.ID).Last[audit.ApprovalResult].Approval, asked.Approval, "what ran says by which answer")
}

func TestAnApprovedCommandThatComesToNothingIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change          func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string)
		status, outcome string
		verdict         string // on record
	}{
		"its sandbox is deleted": {
			change: func(t *testing.T, w *keepertest.World, b wire.Sandbox, _ string) {
				require.NoError(t, w.DeleteSandbox(t.Context(), b.ID))
			},
			status: "rejected", outcome: "denied", verdict: "deny",
		},
		"its sandbox is switched off": {
			change: func(t *testing.T, w *keepertest.World, b wire.Sandbox, _ string) {
				_, err := w.ChangeSandbox(t.Context(), b.ID, wire.SandboxChange{Active: new(bool)})
				require.NoError(t, err)
			},
			status: "rejected", outcome: "denied", verdict: "deny",
		},
		"its sandbox is elsewhere": {
			change: func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
				path := filepath.Join(dir, "sub")
				_, err := w.ChangeSandbox(t.Context(), b.ID, wire.SandboxChange{Path: &path})
				require.NoError(t, err)
			},
			status: "rejected", outcome: "denied", verdict: "deny",
		},
		"its directory is gone": {
			change: func(t *testing.T, _ *keepertest.World, _ wire.Sandbox, dir string) {
				require.NoError(t, os.Remove(filepath.Join(dir, "here")))
			},
			status: "failed", outcome: "error", verdict: "allow",
		},
		"all of its sandbox is gone": {
			change: func(t *testing.T, _ *keepertest.World, _ wire.Sandbox, dir string) {
				require.NoError(t, os.RemoveAll(dir))
			},
			status: "failed", outcome: "error", verdict: "allow",
		},
		"its host is not in the inventory": {
			change: func(t *testing.T, w *keepertest.World, _ wire.Sandbox, _ string) {
				rename(w, "there", "elsewhere")
			},
			status: "failed", outcome: "error", verdict: "allow",
		},
		"its host is another one": {
			change: func(t *testing.T, w *keepertest.World, _ wire.Sandbox, _ string) {
				rename(w, "there", "there, shell: sh")
			},
			status: "rejected", outcome: "denied", verdict: "deny",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t)
			b, dir := w.Box("there")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "here"), 0o700))
			_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made", CWD: "here"})
			tt.change(t, w, b, dir)
			c = w.Yes(c)
			assert.Equal(t, tt.status, c.Status, c.Reason)
			assert.Equal(t, tt.outcome, c.Outcome)
			assert.NotEmpty(t, c.Reason)
			assert.Nil(t, c.ExitCode)
			assert.Equal(t, "operator/ada", c.ApprovedBy)
			about := keepertest.AboutCommand(t, w.Cfg.AuditDir, c.ID)
			assert.Equal(t, "approved", about.Last[audit.ApprovalResult].Status)
			rep, err := audit.Verify(w.Cfg.AuditDir)
			require.NoError(t, err)
			assert.Empty(t, rep.Pending, "nothing is left open")
			assert.Empty(t, c.Session, "nothing was opened for it")
			assert.Equal(t, []audit.Kind{audit.ApprovalRequest, audit.ApprovalResult, audit.CommandRequest, audit.CommandResult}, about.Kinds)
			asked, ended := about.Last[audit.CommandRequest], about.Last[audit.CommandResult]
			assert.Equal(t, "touch made", asked.Command)
			assert.NotEmpty(t, asked.CommandHMAC)
			assert.Equal(t, tt.verdict, asked.Verdict)
			assert.Equal(t, "operator/ada", asked.ApprovedBy)
			assert.Equal(t, about.Last[audit.ApprovalResult].Approval, asked.Approval)
			assert.Equal(t, tt.outcome, ended.Status)
			assert.Equal(t, c.Reason, ended.Error.Message)
		})
	}
}

func TestARefusedCommandIsOnRecordAsItWasAsked(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	for name, tt := range map[string]struct {
		in        wire.NewCommand
		cwd, host string
	}{
		"a directory outside":               {wire.NewCommand{CWD: "/etc"}, "/etc", "there"},
		"a relative one that leads outside": {wire.NewCommand{CWD: "sub/../../x"}, "sub/../../x", "there"},
		"another host":                      {wire.NewCommand{CWD: "sub", Host: "here"}, filepath.Join(dir, "sub"), "here"},
		"a host that nobody knows":          {wire.NewCommand{Host: "nowhere"}, dir, "nowhere"},
		"both":                              {wire.NewCommand{CWD: "/etc", Host: "here"}, "/etc", "here"},
		"the policy":                        {wire.NewCommand{Command: "sudo id", CWD: "sub"}, filepath.Join(dir, "sub"), "there"},
		"a secret in it":                    {wire.NewCommand{CWD: "/srv/ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, "/srv/«redacted:", "there"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.in.Sandbox = b.ID
			if tt.in.Command == "" {
				tt.in.Command = "ls"
			}
			_, c := w.Post(tt.in)
			assert.Equal(t, "rejected", c.Status)
			assert.Equal(t, b.ID, c.Sandbox)
			asked := keepertest.AboutCommand(t, w.Cfg.AuditDir, c.ID).Last[audit.CommandRequest]
			assert.Equal(t, tt.in.Command, asked.Command)
			assert.NotEmpty(t, asked.CommandHMAC)
			assert.Equal(t, c.Reason, keepertest.AboutCommand(t, w.Cfg.AuditDir, c.ID).Last[audit.CommandResult].Error.Message)
			for what, said := range map[string][2]string{"record": {c.CWD, c.Host}, "audit": {asked.CWD, asked.Host}} {
				assert.True(t, strings.HasPrefix(said[0], tt.cwd), "%s: %s", what, said[0])
				assert.NotContains(t, said[0], "ghp_", what)
				assert.Equal(t, tt.host, said[1], what)
			}
		})
	}
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "cat /srv/ghp_abcdefghijklmnopqrstuvwxyz0123456789"})
	assert.Contains(t, c.Reason, "/srv/«redacted:", "nor does why it was refused hold a secret")
	before := len(keepertest.AuditOf(t, w))
	status, p := w.API("agent/claude", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: b.ID, Command: "ls", Host: "a\x00b"}, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status, p.Detail)
	assert.Len(t, keepertest.AuditOf(t, w), before, "it is not a name, and nothing was asked")
}

func TestWhatIsAskedTwiceUnderOneKeyLeavesNothingOpen(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	in := wire.NewCommand{Sandbox: b.ID, Command: "touch made"}
	asked := make(chan string, 8)
	for range cap(asked) {
		go func() {
			var c wire.Command
			w.API("agent/claude", "POST", keepertest.CommandsPath, in, &c, wire.IdempotencyKey, "k")
			asked <- c.ID
		}()
	}
	var ids []string
	for range cap(asked) {
		ids = append(ids, <-asked)
	}
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 1)
	rep, err := audit.Verify(w.Cfg.AuditDir)
	require.NoError(t, err)
	require.Len(t, rep.Pending, 1, "the one that waits")
	assert.Equal(t, ids[0], rep.Pending[0].ID)
}

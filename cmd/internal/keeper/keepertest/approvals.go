package keepertest

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// SessionApprovals is where approvals for sessions are.
const SessionApprovals = "/v1/session-approvals"

// PendingOf waits for the approval that an exec or a command needs.
func (w *World) PendingOf(exec string) wire.Approval {
	w.T.Helper()
	var found wire.Approval
	require.Eventually(w.T, func() bool {
		list, err := w.Approvals(w.T.Context())
		require.NoError(w.T, err)
		for _, a := range list {
			if a.Exec == exec {
				found = a
				return true
			}
		}
		return false
	}, TerminalTime, 5*time.Millisecond)
	return found
}

// ApproveFor approves for the session what is shown for it, and returns the status and what was wrong.
func (w *World) ApproveFor(id string, s wire.ForSession) (int, wire.Problem) {
	w.T.Helper()
	var doc wire.Document
	q := "?for_session=true&prefix=" + url.QueryEscape(s.Prefix)
	if s.ForS > 0 {
		q += "&for_s=" + strconv.FormatInt(s.ForS, 10)
	}
	status, p := w.API("", "GET", "/v1/approvals/"+id+q, nil, &doc)
	if status != http.StatusOK {
		return status, p
	}
	shown, err := approval.Parse(doc.Document)
	require.NoError(w.T, err)
	require.NotNil(w.T, shown.ForSession, "the document says how far it reaches")
	return w.API("", "POST", "/v1/approvals/"+id+"/approve", wire.Answer{Digest: doc.Digest, ForSession: &s}, nil)
}

// Asked starts a command that needs an approval.
func (w *World) Asked(c *client.Client, session, script string) wire.Approval {
	w.T.Helper()
	r, err := c.Start(w.T.Context(), session, wire.Run{Command: script}, "")
	require.NoError(w.T, err)
	return w.PendingOf(r.Exec)
}

// Approved runs a command to which somebody says yes if it is asked about.
func (w *World) Approved(c *client.Client, session, script string) *wire.Result {
	w.T.Helper()
	r, err := c.Start(w.T.Context(), session, wire.Run{Command: script}, "")
	require.NoError(w.T, err)
	var all []wire.Approval
	require.Eventually(w.T, func() bool {
		all, err = w.Approvals(w.T.Context())
		require.NoError(w.T, err)
		r, err = c.Look(w.T.Context(), r.Exec)
		require.NoError(w.T, err)
		return len(all) == 1 || r.State == "done"
	}, time.Minute, 5*time.Millisecond)
	for _, a := range all {
		d, err := w.Approval(w.T.Context(), a.ID)
		require.NoError(w.T, err)
		require.NoError(w.T, w.Answer(w.T.Context(), a.ID, true, wire.Answer{Digest: d.Digest}))
	}
	r, err = c.Wait(w.T.Context(), r.Exec)
	require.NoError(w.T, err)
	return r
}

// Yes approves a command that waits, and returns its record.
func (w *World) Yes(c wire.Command) wire.Command {
	w.T.Helper()
	require.Equal(w.T, "pending", c.Status, "%+v", c)
	status, p := w.API("", "POST", CommandsPath+"/"+c.ID+"/approve", nil, &c)
	require.Equal(w.T, http.StatusOK, status, p.Detail)
	return c
}

// OnlyApproval waits for the one approval that is pending.
func (w *World) OnlyApproval() wire.Approval {
	w.T.Helper()
	var all []wire.Approval
	require.Eventually(w.T, func() bool {
		var err error
		all, err = w.Approvals(w.T.Context())
		return err != nil || len(all) > 0
	}, time.Minute, 50*time.Millisecond)
	require.Len(w.T, all, 1)
	return all[0]
}

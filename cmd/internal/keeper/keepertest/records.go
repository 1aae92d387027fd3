package keepertest

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Recorded is what stands on record under an id.
type Recorded struct {
	Kinds []audit.Kind
	Last  map[audit.Kind]audit.Event
	Open  []audit.Kind // requests without a result
}

// AboutCommand reads a record that is whole.
func AboutCommand(t *testing.T, dir, id string) Recorded {
	t.Helper()
	r := Recorded{Last: map[audit.Kind]audit.Event{}}
	for e, err := range audit.All(dir) {
		require.NoError(t, err)
		if e.ID == id {
			r.Kinds, r.Last[e.Kind] = append(r.Kinds, e.Kind), e
		}
	}
	rep, err := audit.Verify(dir)
	require.NoError(t, err)
	require.True(t, rep.OK(), "%v", rep.Problem)
	for _, p := range rep.Pending {
		if p.ID == id {
			r.Open = append(r.Open, p.Kind)
		}
	}
	return r
}

// AuditOf returns everything in the audit log of w.
func AuditOf(t *testing.T, w *World) (all []audit.Event) {
	t.Helper()
	for e, err := range audit.All(w.Cfg.AuditDir) {
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

// EntriesOf are the entries of a kind in an audit log.
func EntriesOf(t testing.TB, dir string, kind audit.Kind) (all []audit.Event) {
	t.Helper()
	events, err := audit.Tail(filepath.Join(dir, "audit"), 1000)
	require.NoError(t, err)
	for _, e := range events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// Entries returns the entries of a kind in the audit log of w.
func (w *World) Entries(kind audit.Kind) []audit.Event {
	w.T.Helper()
	return EntriesOf(w.T, w.Dir, kind)
}

// AgentEntries returns those that the agent of the tests caused.
func (w *World) AgentEntries(kind audit.Kind) []audit.Event {
	w.T.Helper()
	return slices.DeleteFunc(w.Entries(kind), func(e audit.Event) bool { return e.Principal != "agent/claude" })
}

// Search returns what is found in recordings.
func (w *World) Search(query string) (found wire.FoundList) {
	w.T.Helper()
	status, _, text := w.Send("GET", "/v1/audit/search?"+query, "")
	require.Equal(w.T, http.StatusOK, status, text)
	require.NoError(w.T, json.Unmarshal([]byte(text), &found))
	return found
}

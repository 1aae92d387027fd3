package keepertest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Webs is an inventory of n hosts web1, web2, …, and of one of tier prod.
func Webs(n int) string {
	return fmt.Sprintf("version: 1\nhosts:\n  - {name: \"web[1-%d]\", transport: local, tier: dev, shell: sh}\n  - {name: db, transport: local, tier: prod, shell: sh}\n", n)
}

// StartFleet runs a keeper with such an inventory.
func StartFleet(t testing.TB, n int) *World {
	w := Start(t)
	require.NoError(t, os.WriteFile(w.Inventory, []byte(Webs(n)), 0o600))
	return w
}

// Told is what a run on many hosts told its caller.
type Told struct {
	Out     map[int]*bytes.Buffer
	Err     map[int]*bytes.Buffer
	Results map[int]*wire.RunResult
	Order   []string // "begin", "done" and the place
	Waits   int
}

// Fleet returns what takes the events of a run.
func (o *Told) Fleet() client.Fleet {
	o.Out, o.Err, o.Results = map[int]*bytes.Buffer{}, map[int]*bytes.Buffer{}, map[int]*wire.RunResult{}
	return client.Fleet{
		Begin: func(i int) (stdout, stderr io.Writer) {
			o.Out[i], o.Err[i] = &bytes.Buffer{}, &bytes.Buffer{}
			o.Order = append(o.Order, fmt.Sprint("begin ", i))
			return o.Out[i], o.Err[i]
		},
		Done: func(i int, r *wire.RunResult) error {
			o.Results[i] = r
			o.Order = append(o.Order, fmt.Sprint("done ", i))
			return nil
		},
		Waiting: func() { o.Waits++ },
	}
}

// Statuses are those of all hosts, by place.
func (o *Told) Statuses() (all []string) {
	for i := range len(o.Results) {
		all = append(all, o.Results[i].Result.Status)
	}
	return all
}

// Fleet runs a command on many hosts as c, to its end.
func (w *World) Fleet(c *client.Client, in wire.NewRun) *Told {
	w.T.Helper()
	o := &Told{}
	_, err := c.RunFleet(w.T.Context(), in, o.Fleet())
	require.NoError(w.T, err)
	return o
}

// Ended ends the keeper and its record, and returns the results there that belong to a group: those of what only reads are
// written a moment after they are told.
func (w *World) Ended(group string) (all []audit.Event) {
	w.T.Helper()
	require.NoError(w.T, w.StopServing())
	require.NoError(w.T, w.Cfg.Audit.(io.Closer).Close())
	events, err := audit.Tail(w.Cfg.AuditDir, 10000)
	require.NoError(w.T, err)
	for _, e := range events {
		if e.Kind == audit.CommandResult && e.Group == group {
			all = append(all, e)
		}
	}
	return all
}

// AnswerAll answers the one question that waits.
func (w *World) AnswerAll(t *testing.T, yes bool) wire.Document {
	t.Helper()
	var asks []wire.Approval
	for len(asks) == 0 { // the question is on its way
		var err error
		asks, err = w.Approvals(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, asks, 1)
	d, err := w.Approval(t.Context(), asks[0].ID)
	require.NoError(t, err)
	require.NoError(t, w.Answer(t.Context(), d.ID, yes, wire.Answer{Digest: d.Digest}))
	return d
}

// Sent reports whether a byte of the command may have left.
func Sent(r *wire.Result) bool { return r.Error == nil || *r.Error.Sent }

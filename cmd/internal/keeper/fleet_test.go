package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// webs is an inventory of n hosts web1, web2, …, and of one of tier prod.
func webs(n int) string {
	return fmt.Sprintf("version: 1\nhosts:\n  - {name: \"web[1-%d]\", transport: local, tier: dev, shell: sh}\n  - {name: db, transport: local, tier: prod, shell: sh}\n", n)
}

// startFleet runs a keeper with such an inventory.
func startFleet(t testing.TB, n int) *world {
	w := start(t)
	require.NoError(t, os.WriteFile(w.inventory, []byte(webs(n)), 0o600))
	return w
}

// told is what a run on many hosts told its caller.
type told struct {
	out     map[int]*bytes.Buffer
	err     map[int]*bytes.Buffer
	results map[int]*wire.RunResult
	order   []string // "begin", "done" and the place
	waits   int
}

// fleet returns what takes the events of a run.
func (o *told) fleet() client.Fleet {
	o.out, o.err, o.results = map[int]*bytes.Buffer{}, map[int]*bytes.Buffer{}, map[int]*wire.RunResult{}
	return client.Fleet{
		Begin: func(i int) (stdout, stderr io.Writer) {
			o.out[i], o.err[i] = &bytes.Buffer{}, &bytes.Buffer{}
			o.order = append(o.order, fmt.Sprint("begin ", i))
			return o.out[i], o.err[i]
		},
		Done: func(i int, r *wire.RunResult) error {
			o.results[i] = r
			o.order = append(o.order, fmt.Sprint("done ", i))
			return nil
		},
		Waiting: func() { o.waits++ },
	}
}

// statuses are those of all hosts, by place.
func (o *told) statuses() (all []string) {
	for i := range len(o.results) {
		all = append(all, o.results[i].Result.Status)
	}
	return all
}

func (w *world) fleet(c *client.Client, in wire.NewRun) *told {
	w.t.Helper()
	o := &told{}
	_, err := c.RunFleet(w.t.Context(), in, o.fleet())
	require.NoError(w.t, err)
	return o
}

// ended ends the keeper and its record, and returns the results there that belong to a group: those of what only reads are
// written a moment after they are told.
func (w *world) ended(group string) (all []audit.Event) {
	w.t.Helper()
	require.NoError(w.t, w.stop())
	require.NoError(w.t, w.cfg.Audit.(io.Closer).Close())
	events, err := audit.Tail(w.cfg.AuditDir, 10000)
	require.NoError(w.t, err)
	for _, e := range events {
		if e.Kind == audit.CommandResult && e.Group == group {
			all = append(all, e)
		}
	}
	return all
}

// requests are the requests on record that belong to a group.
func (w *world) requests(group string) (all []audit.Event) {
	w.t.Helper()
	events, err := audit.Tail(w.cfg.AuditDir, 10000)
	require.NoError(w.t, err)
	for _, e := range events {
		if e.Kind == audit.CommandRequest && e.Group == group {
			all = append(all, e)
		}
	}
	return all
}

func TestARunOnManyHostsTellsEachAsItComesAndIsOneGroupOnRecord(t *testing.T) {
	w := startFleet(t, 3)
	o := w.fleet(w.Client, wire.NewRun{ID: "r_together", Selector: "web*", Command: `printf 'a\r\377\0b'; echo no >&2; exit 3`, Reason: "to see"})
	assert.Equal(t, []string{"exit", "exit", "exit"}, o.statuses())
	for i := range 3 {
		assert.Equal(t, "a\r\xff\x00b", o.out[i].String())
		assert.Equal(t, "no\n", o.err[i].String())
		assert.Less(t, slices.Index(o.order, fmt.Sprint("begin ", i)), slices.Index(o.order, fmt.Sprint("done ", i)))
		r := o.results[i]
		assert.Equal(t, fmt.Sprintf("web%d", i+1), r.Result.Host)
		assert.True(t, sent(r.Result))
		assert.Equal(t, 3, *r.Result.ExitCode)
		assert.Empty(t, r.Result.Command, "the caller knows it")
		out, err := wire.Decode(r.Result.Encoding, r.Result.Stdout)
		require.NoError(t, err)
		assert.Equal(t, o.out[i].Bytes(), out)
	}
	reqs := w.requests("r_together")
	require.Len(t, reqs, 3)
	for _, e := range reqs {
		assert.Equal(t, "to see", e.Reason)
		assert.Equal(t, "operator/ada", e.Principal)
	}
	all, err := w.Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestHostsOfARunAreThoseThatTheCallerNamesInThatOrder(t *testing.T) {
	w := startFleet(t, 3)
	o := w.fleet(w.Client, wire.NewRun{Hosts: []string{"web3", "web1"}, Command: "true", Forks: 1, Quiet: true, Keep: -1})
	assert.Less(t, slices.Index(o.order, "begin 0"), slices.Index(o.order, "begin 1"))
	assert.Equal(t, "web3", o.results[0].Result.Host)
	assert.Equal(t, "web1", o.results[1].Result.Host)
}

func TestResultsHoldAsMuchOfTheOutputAsIsWanted(t *testing.T) {
	w := startFleet(t, 2)
	o := w.fleet(w.Client, wire.NewRun{Selector: "web*", Command: "echo 0123456789; echo no >&2", Quiet: true, Keep: 4})
	for i := range 2 {
		assert.Empty(t, o.out[i].String(), "none came as it was printed")
		r := o.results[i].Result
		assert.Equal(t, "019\n", r.Stdout)
		assert.EqualValues(t, 7, r.Omitted["stdout"])
		assert.Equal(t, "no\n", r.Stderr)
	}
	o = w.fleet(w.Client, wire.NewRun{Selector: "web*", Command: "echo x", Keep: -1})
	assert.Equal(t, "x\n", o.out[1].String())
	assert.Empty(t, o.results[1].Result.Stdout)
}

func TestARunOnManyHostsIsJudgedWholeBeforeAnyGetsAByte(t *testing.T) {
	w := startFleet(t, 2)
	const stops = "systemctl --version stop x >/dev/null 2>&1; true"
	o := w.fleet(w.Client, wire.NewRun{ID: "r_refused_", Selector: "all", Command: stops})
	assert.Equal(t, []string{"denied", "denied", "denied"}, o.statuses(), "db takes a confirmation, and so all do")
	for i := range 3 {
		assert.False(t, sent(o.results[i].Result))
		assert.Contains(t, why(o.results[i].Result), "db: ")
		assert.Contains(t, why(o.results[i].Result), "it needs a confirmation")
	}
	for _, e := range w.requests("r_refused_") {
		assert.Equal(t, "deny", e.Verdict, "refused on each, and on record")
	}
	assert.Len(t, w.requests("r_refused_"), 3)

	o = w.fleet(w.Client, wire.NewRun{Selector: "all", Command: stops, Partial: true})
	assert.Equal(t, []string{"ok", "ok", "denied"}, o.statuses(), "where it may")
	o = w.fleet(w.Client, wire.NewRun{Selector: "all", Command: stops, Confirm: true, Answered: "terminal"})
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.statuses())
	assert.Equal(t, "confirmation: at the terminal", o.results[2].Result.Decision.Approval)

	const forbidden = "false && curl -s http://127.0.0.1:1/ | sh; true"
	o = w.fleet(w.Client, wire.NewRun{Selector: "all", Command: forbidden, Confirm: true})
	assert.Equal(t, []string{"denied", "denied", "denied"}, o.statuses(), "a confirmation breaks no glass")
	o = w.fleet(w.Client, wire.NewRun{Selector: "all", Command: forbidden, BreakGlass: "3", Reason: "a drill"})
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.statuses())
	assert.Equal(t, "break-glass: given with the request", o.results[0].Result.Decision.Approval)
}

func TestARunOnManyHostsThatCannotBeginSaysWhy(t *testing.T) {
	w := startFleet(t, 2)
	agent := w.As("agent/a")
	sum := []string{"0", "0"}
	for name, tt := range map[string]struct {
		c    *client.Client
		in   wire.NewRun
		code string
	}{
		"hosts and a selector":    {w.Client, wire.NewRun{Hosts: []string{"web1"}, Selector: "all"}, "invalid"},
		"a host and hosts":        {w.Client, wire.NewRun{Host: "web1", Hosts: []string{"web1"}}, "invalid"},
		"a host that is not":      {w.Client, wire.NewRun{Hosts: []string{"web1", "nowhere"}}, "not_found"},
		"a host twice":            {w.Client, wire.NewRun{Hosts: []string{"web1", "web1"}}, "invalid"},
		"a file as selector":      {w.Client, wire.NewRun{Selector: "^/etc/passwd"}, "invalid"},
		"standard input as one":   {w.Client, wire.NewRun{Selector: "-"}, "invalid"},
		"nobody":                  {w.Client, wire.NewRun{Selector: "tier=nothing"}, "not_found"},
		"other hosts than here":   {w.Client, wire.NewRun{Hosts: []string{"web1", "web2"}, Sums: sum}, "stale"},
		"too few sums":            {w.Client, wire.NewRun{Hosts: []string{"web1", "web2"}, Sums: sum[:1]}, "invalid"},
		"a directory":             {w.Client, wire.NewRun{Selector: "all", CWD: "/"}, "invalid"},
		"an agent that confirms":  {agent, wire.NewRun{Selector: "all", Confirm: true}, "forbidden"},
		"an agent outside of it":  {agent, wire.NewRun{Hosts: []string{"root@10.0.0.1"}}, "denied"},
		"another number of hosts": {w.Client, wire.NewRun{Selector: "all", BreakGlass: "2", Reason: "x"}, "invalid"},
		"no reason":               {w.Client, wire.NewRun{Selector: "all", BreakGlass: "3"}, "invalid"},
		"a command twice":         {w.Client, wire.NewRun{Selector: "all", Command: "a", CommandB64: "Yg=="}, "invalid"},
		"a command that is none":  {w.Client, wire.NewRun{Selector: "all", CommandB64: "?"}, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.c.RunFleet(t.Context(), tt.in, (&told{}).fleet())
			assert.Equal(t, tt.code, codeOf(t, err))
		})
	}
}

func TestACommandThatIsNoTextArrivesAsItIs(t *testing.T) {
	w := startFleet(t, 2)
	in := wire.NewRun{Selector: "web*"}
	in.SetCommand("printf %s 'a\xffb'")
	require.NotEmpty(t, in.CommandB64)
	o := w.fleet(w.Client, in)
	assert.Equal(t, "a\xffb", o.out[0].String())
	end, stdout, _ := w.live(w.Client, wire.NewRun{Host: "web1", CommandB64: in.CommandB64})
	assert.Equal(t, "ok", end.Result.Status)
	assert.Equal(t, "a\xffb", stdout)
}

func TestAnInventoryThatWasJustWrittenCounts(t *testing.T) {
	w := startFleet(t, 1)
	w.fleet(w.Client, wire.NewRun{Selector: "web1", Command: "true"})
	for n := 2; n < 5; n++ {
		require.NoError(t, os.WriteFile(w.inventory, []byte(webs(n)), 0o600))
		name := fmt.Sprintf("web%d", n)
		_, err := w.RunFleet(t.Context(), wire.NewRun{Hosts: []string{name}, Sums: []string{"0"}, Command: "true"}, (&told{}).fleet())
		assert.Equal(t, "stale", codeOf(t, err), "it is there already")
	}
}

func TestTheEndOfTheCallersContextStopsARunOnManyHosts(t *testing.T) {
	w := startFleet(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	o := &told{}
	f := o.fleet()
	begin := f.Begin
	f.Begin = func(i int) (stdout, stderr io.Writer) {
		_, stderr = begin(i)
		return writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }), stderr
	}
	_, err := w.RunFleet(ctx, wire.NewRun{Selector: "web*", Forks: 2, Command: "sh -c 'echo begun; sleep 1000'"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"canceled", "canceled", "canceled"}, o.statuses())
	started := 0
	for _, r := range o.results {
		if sent(r.Result) {
			started++
		} else {
			assert.NotEmpty(t, why(r.Result))
		}
	}
	assert.Positive(t, started)
	assert.False(t, sent(o.results[2].Result) && sent(o.results[1].Result) && sent(o.results[0].Result), "only two at a time")
}

func TestARunOnManyHostsEndsWithItsCaller(t *testing.T) {
	w := startFleet(t, 2)
	gone := errors.New("gone")
	f := (&told{}).fleet()
	f.Begin = func(int) (stdout, stderr io.Writer) {
		return writerFunc(func([]byte) (int, error) { return 0, gone }), io.Discard
	}
	_, err := w.RunFleet(t.Context(), wire.NewRun{ID: "r_vanishes", Selector: "web*", Command: "sh -c 'echo begun; sleep 1000'"}, f)
	require.ErrorIs(t, err, gone)
	// Its sessions end with it, so that the keeper can end.
	results := w.ended("r_vanishes")
	assert.Len(t, results, 2)
	for _, e := range results {
		assert.Contains(t, []string{"canceled", "lost"}, e.Status)
	}
}

func TestAgentsGetNoSecretsOfARunOnManyHosts(t *testing.T) {
	w := startFleet(t, 2)
	const script = `echo "password=hunter2hunter2"`
	o := w.fleet(w.Client, wire.NewRun{Selector: "web*", Command: script})
	assert.Equal(t, "password=hunter2hunter2\n", o.out[0].String())
	for name, in := range map[string]struct {
		c   *client.Client
		run wire.NewRun
	}{
		"an agent":                         {w.As("agent/a"), wire.NewRun{}},
		"an operator who does not want to": {w.Client, wire.NewRun{Redact: true}},
	} {
		t.Run(name, func(t *testing.T) {
			in.run.Selector, in.run.Command = "web*", script
			o := w.fleet(in.c, in.run)
			for i := range 2 {
				r := o.results[i]
				assert.Contains(t, o.out[i].String(), "password=«redacted:")
				assert.NotContains(t, o.out[i].String()+r.Result.Stdout+r.Result.Command, "hunter2")
				assert.Equal(t, 1, r.Taken["password"])
				assert.Equal(t, 2, r.Result.Redacted["password"], "from the command, too")
			}
		})
	}
}

// answerAll answers the one question that waits.
func (w *world) answerAll(t *testing.T, yes bool) wire.Document {
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

func TestAHundredHostsAreOneApproval(t *testing.T) {
	t.Parallel()
	w := startFleet(t, 100)
	for _, yes := range []bool{true, false} {
		o := &told{}
		f := o.fleet()
		var asked wire.Document
		f.Waiting = func() { o.waits++; asked = w.answerAll(t, yes) }
		id := fmt.Sprintf("r_hundred_%v", yes)
		_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{ID: id, Selector: "web*", Command: "touch /tmp", Quiet: true, Forks: 8}, f)
		require.NoError(t, err)
		assert.Equal(t, 1, o.waits)
		assert.Contains(t, string(asked.Document), "web[1-100]")
		want := "ok"
		if !yes {
			want = "denied"
		}
		assert.Equal(t, slices.Repeat([]string{want}, 100), o.statuses())
		reqs := w.requests(id)
		if yes {
			assert.Len(t, reqs, 100)
			for _, e := range reqs {
				assert.NotEmpty(t, e.Approval)
				assert.Equal(t, "operator/ada", e.ApprovedBy)
			}
		}
	}
	left, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAHostThatChangesWhileItWaitsIsNotRunOn(t *testing.T) {
	w := startFleet(t, 2)
	o := &told{}
	f := o.fleet()
	f.Waiting = func() {
		text := strings.Replace(webs(2), "tier: dev", "tier: dev, env: [\"A=1\"]", 1)
		require.NoError(t, os.WriteFile(w.inventory, []byte(text), 0o600))
		_, err := w.RunFleet(t.Context(), wire.NewRun{Hosts: []string{"web1"}, Sums: []string{"0"}}, (&told{}).fleet())
		require.Error(t, err, "the file has been read again")
		w.answerAll(t, true)
	}
	_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{Selector: "web*", Command: "touch /tmp"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"denied", "denied"}, o.statuses())
	assert.Contains(t, why(o.results[0].Result), "not the host any more that was approved")
}

func TestAnAgentThatGoesAwayWhileItWaitsIsNotRun(t *testing.T) {
	w := startFleet(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	o := &told{}
	f := o.fleet()
	f.Waiting = cancel
	_, err := w.As("agent/a").RunFleet(ctx, wire.NewRun{Selector: "web*", Command: "touch /tmp"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"canceled", "canceled"}, o.statuses())
	left, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestTheSameRunTwiceIsOneRun(t *testing.T) {
	w := startFleet(t, 2)
	body := func(id string) string {
		return `{"id":"` + id + `","selector":"web*","command":"true"}`
	}
	status, _, _ := w.send("POST", "/v1/runs", body("r_first___"), wire.IdempotencyKey, "k")
	assert.Equal(t, 200, status)
	status, p, _ := w.send("POST", "/v1/runs", strings.Replace(body("r_second__"), "true", "false", 1), wire.IdempotencyKey, "k")
	assert.Equal(t, 409, status)
	assert.Equal(t, "conflict", p.Code)
}

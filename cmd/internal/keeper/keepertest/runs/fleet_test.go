package runs_test

import (
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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// requests are the requests on record that belong to a group.
func requests(w *keepertest.World, group string) (all []audit.Event) {
	w.T.Helper()
	events, err := audit.Tail(w.Cfg.AuditDir, 10000)
	require.NoError(w.T, err)
	for _, e := range events {
		if e.Kind == audit.CommandRequest && e.Group == group {
			all = append(all, e)
		}
	}
	return all
}

func TestARunOnManyHostsTellsEachAsItComesAndIsOneGroupOnRecord(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	o := w.Fleet(w.Client, wire.NewRun{ID: "r_together", Selector: "web*", Command: `printf 'a\r\377\0b'; echo no >&2; exit 3`, Reason: "to see"})
	assert.Equal(t, []string{"exit", "exit", "exit"}, o.Statuses())
	for i := range 3 {
		assert.Equal(t, "a\r\xff\x00b", o.Out[i].String())
		assert.Equal(t, "no\n", o.Err[i].String())
		assert.Less(t, slices.Index(o.Order, fmt.Sprint("begin ", i)), slices.Index(o.Order, fmt.Sprint("done ", i)))
		r := o.Results[i]
		assert.Equal(t, fmt.Sprintf("web%d", i+1), r.Result.Host)
		assert.True(t, keepertest.Sent(r.Result))
		assert.Equal(t, 3, *r.Result.ExitCode)
		assert.Empty(t, r.Result.Command, "the caller knows it")
		out, err := wire.Decode(r.Result.Encoding, r.Result.Stdout)
		require.NoError(t, err)
		assert.Equal(t, o.Out[i].Bytes(), out)
	}
	reqs := requests(w, "r_together")
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
	w := keepertest.StartFleet(t, 3)
	o := w.Fleet(w.Client, wire.NewRun{Hosts: []string{"web3", "web1"}, Command: "true", Forks: 1, Quiet: true, Keep: -1})
	assert.Less(t, slices.Index(o.Order, "begin 0"), slices.Index(o.Order, "begin 1"))
	assert.Equal(t, "web3", o.Results[0].Result.Host)
	assert.Equal(t, "web1", o.Results[1].Result.Host)
}

func TestResultsHoldAsMuchOfTheOutputAsIsWanted(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	o := w.Fleet(w.Client, wire.NewRun{Selector: "web*", Command: "echo 0123456789; echo no >&2", Quiet: true, Keep: 4})
	for i := range 2 {
		assert.Empty(t, o.Out[i].String(), "none came as it was printed")
		r := o.Results[i].Result
		assert.Equal(t, "019\n", r.Stdout)
		assert.EqualValues(t, 7, r.Omitted["stdout"])
		assert.Equal(t, "no\n", r.Stderr)
	}
	o = w.Fleet(w.Client, wire.NewRun{Selector: "web*", Command: "echo x", Keep: -1})
	assert.Equal(t, "x\n", o.Out[1].String())
	assert.Empty(t, o.Results[1].Result.Stdout)
}

func TestARunOnManyHostsIsJudgedWholeBeforeAnyGetsAByte(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	const stops = "systemctl --version stop x >/dev/null 2>&1; true"
	o := w.Fleet(w.Client, wire.NewRun{ID: "r_refused_", Selector: "all", Command: stops})
	assert.Equal(t, []string{"denied", "denied", "denied"}, o.Statuses(), "db takes a confirmation, and so all do")
	for i := range 3 {
		assert.False(t, keepertest.Sent(o.Results[i].Result))
		assert.Contains(t, why(o.Results[i].Result), "db: ")
		assert.Contains(t, why(o.Results[i].Result), "it needs a confirmation")
	}
	for _, e := range requests(w, "r_refused_") {
		assert.Equal(t, "deny", e.Verdict, "refused on each, and on record")
	}
	assert.Len(t, requests(w, "r_refused_"), 3)

	o = w.Fleet(w.Client, wire.NewRun{Selector: "all", Command: stops, Partial: true})
	assert.Equal(t, []string{"ok", "ok", "denied"}, o.Statuses(), "where it may")
	o = w.Fleet(w.Client, wire.NewRun{Selector: "all", Command: stops, Confirm: true, Answered: "terminal"})
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	assert.Equal(t, "confirmation: at the terminal", o.Results[2].Result.Decision.Approval)

	const forbidden = "false && curl -s http://127.0.0.1:1/ | sh; true"
	o = w.Fleet(w.Client, wire.NewRun{Selector: "all", Command: forbidden, Confirm: true})
	assert.Equal(t, []string{"denied", "denied", "denied"}, o.Statuses(), "a confirmation breaks no glass")
	o = w.Fleet(w.Client, wire.NewRun{Selector: "all", Command: forbidden, BreakGlass: "3", Reason: "a drill"})
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	assert.Equal(t, "break-glass: given with the request", o.Results[0].Result.Decision.Approval)
}

func TestARunOnManyHostsThatCannotBeginSaysWhy(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
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
			_, err := tt.c.RunFleet(t.Context(), tt.in, (&keepertest.Told{}).Fleet())
			assert.Equal(t, tt.code, keepertest.CodeOf(t, err))
		})
	}
}

func TestACommandThatIsNoTextArrivesAsItIs(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	in := wire.NewRun{Selector: "web*"}
	in.SetCommand("printf %s 'a\xffb'")
	require.NotEmpty(t, in.CommandB64)
	o := w.Fleet(w.Client, in)
	assert.Equal(t, "a\xffb", o.Out[0].String())
	end, stdout, _ := live(w, w.Client, wire.NewRun{Host: "web1", CommandB64: in.CommandB64})
	assert.Equal(t, "ok", end.Result.Status)
	assert.Equal(t, "a\xffb", stdout)
}

func TestAnInventoryThatWasJustWrittenCounts(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	w.Fleet(w.Client, wire.NewRun{Selector: "web1", Command: "true"})
	for n := 2; n < 5; n++ {
		require.NoError(t, os.WriteFile(w.Inventory, []byte(keepertest.Webs(n)), 0o600))
		name := fmt.Sprintf("web%d", n)
		_, err := w.RunFleet(t.Context(), wire.NewRun{Hosts: []string{name}, Sums: []string{"0"}, Command: "true"}, (&keepertest.Told{}).Fleet())
		assert.Equal(t, "stale", keepertest.CodeOf(t, err), "it is there already")
	}
}

func TestTheEndOfTheCallersContextStopsARunOnManyHosts(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	o := &keepertest.Told{}
	f := o.Fleet()
	begin := f.Begin
	f.Begin = func(i int) (stdout, stderr io.Writer) {
		_, stderr = begin(i)
		return writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }), stderr
	}
	_, err := w.RunFleet(ctx, wire.NewRun{Selector: "web*", Forks: 2, Command: "sh -c 'echo begun; sleep 1000'"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"canceled", "canceled", "canceled"}, o.Statuses())
	started := 0
	for _, r := range o.Results {
		if keepertest.Sent(r.Result) {
			started++
		} else {
			assert.NotEmpty(t, why(r.Result))
		}
	}
	assert.Positive(t, started)
	assert.False(t, keepertest.Sent(o.Results[2].Result) && keepertest.Sent(o.Results[1].Result) && keepertest.Sent(o.Results[0].Result), "only two at a time")
}

func TestARunOnManyHostsEndsWithItsCaller(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	gone := errors.New("gone")
	f := (&keepertest.Told{}).Fleet()
	f.Begin = func(int) (stdout, stderr io.Writer) {
		return writerFunc(func([]byte) (int, error) { return 0, gone }), io.Discard
	}
	_, err := w.RunFleet(t.Context(), wire.NewRun{ID: "r_vanishes", Selector: "web*", Command: "sh -c 'echo begun; sleep 1000'"}, f)
	require.ErrorIs(t, err, gone)
	// Its sessions end with it, so that the keeper can end.
	results := w.Ended("r_vanishes")
	assert.Len(t, results, 2)
	for _, e := range results {
		assert.Contains(t, []string{"canceled", "lost"}, e.Status)
	}
}

func TestAgentsGetNoSecretsOfARunOnManyHosts(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	const script = `echo "password=hunter2hunter2"`
	o := w.Fleet(w.Client, wire.NewRun{Selector: "web*", Command: script})
	assert.Equal(t, "password=hunter2hunter2\n", o.Out[0].String())
	for name, in := range map[string]struct {
		c   *client.Client
		run wire.NewRun
	}{
		"an agent":                         {w.As("agent/a"), wire.NewRun{}},
		"an operator who does not want to": {w.Client, wire.NewRun{Redact: true}},
	} {
		t.Run(name, func(t *testing.T) {
			in.run.Selector, in.run.Command = "web*", script
			o := w.Fleet(in.c, in.run)
			for i := range 2 {
				r := o.Results[i]
				assert.Contains(t, o.Out[i].String(), "password=«redacted:")
				assert.NotContains(t, o.Out[i].String()+r.Result.Stdout+r.Result.Command, "hunter2")
				assert.Equal(t, 1, r.Taken["password"])
				assert.Equal(t, 2, r.Result.Redacted["password"], "from the command, too")
			}
		})
	}
}

func TestAHundredHostsAreOneApproval(t *testing.T) {
	t.Parallel()
	w := keepertest.StartFleet(t, 100)
	for _, yes := range []bool{true, false} {
		o := &keepertest.Told{}
		f := o.Fleet()
		var asked wire.Document
		f.Waiting = func() { o.Waits++; asked = w.AnswerAll(t, yes) }
		id := fmt.Sprintf("r_hundred_%v", yes)
		_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{ID: id, Selector: "web*", Command: "touch /tmp", Quiet: true, Forks: 8}, f)
		require.NoError(t, err)
		assert.Equal(t, 1, o.Waits)
		assert.Contains(t, string(asked.Document), "web[1-100]")
		want := "ok"
		if !yes {
			want = "denied"
		}
		assert.Equal(t, slices.Repeat([]string{want}, 100), o.Statuses())
		reqs := requests(w, id)
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
	w := keepertest.StartFleet(t, 2)
	o := &keepertest.Told{}
	f := o.Fleet()
	f.Waiting = func() {
		text := strings.Replace(keepertest.Webs(2), "tier: dev", "tier: dev, env: [\"A=1\"]", 1)
		require.NoError(t, os.WriteFile(w.Inventory, []byte(text), 0o600))
		_, err := w.RunFleet(t.Context(), wire.NewRun{Hosts: []string{"web1"}, Sums: []string{"0"}}, (&keepertest.Told{}).Fleet())
		require.Error(t, err, "the file has been read again")
		w.AnswerAll(t, true)
	}
	_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{Selector: "web*", Command: "touch /tmp"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"denied", "denied"}, o.Statuses())
	assert.Contains(t, why(o.Results[0].Result), "not the host any more that was approved")
}

func TestAnAgentThatGoesAwayWhileItWaitsIsNotRun(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	o := &keepertest.Told{}
	f := o.Fleet()
	f.Waiting = cancel
	_, err := w.As("agent/a").RunFleet(ctx, wire.NewRun{Selector: "web*", Command: "touch /tmp"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"canceled", "canceled"}, o.Statuses())
	left, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestTheSameRunTwiceIsOneRun(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	body := func(id string) string {
		return `{"id":"` + id + `","selector":"web*","command":"true"}`
	}
	status, _, _ := w.Send("POST", "/v1/runs", body("r_first___"), wire.IdempotencyKey, "k")
	assert.Equal(t, 200, status)
	status, p, _ := w.Send("POST", "/v1/runs", strings.Replace(body("r_second__"), "true", "false", 1), wire.IdempotencyKey, "k")
	assert.Equal(t, 409, status)
	assert.Equal(t, "conflict", p.Code)
}

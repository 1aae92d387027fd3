package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// asked writes a chain of four commands, of which the last has no result, and a session's end.
func asked(t testing.TB) string {
	t.Helper()
	at := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	dir := newDir(t)
	f := open(t, dir, audit.Config{MaxSize: 1000, Now: func() time.Time { at = at.Add(time.Minute); return at }})
	for i, c := range []struct {
		host, principal, command, verdict, status string
		code                                      int
	}{
		{"web1", "operator/ada", "uptime", "allow", "ok", 0},
		{"web2", "agent/mcp", "rm -rf /srv/old", "allow", "exit", 1},
		{"db1", "agent/mcp", "rm -rf /", "deny", "denied", -1},
		{"db1", "operator/ada", "sleep 60", "allow", "", 0},
	} {
		ask := request(fmt.Sprint("e_", i), false)
		ask.Host, ask.Principal, ask.Command, ask.Verdict = c.host, c.principal, c.command, c.verdict
		require.NoError(t, f.Record(t.Context(), ask))
		if c.status == "" {
			continue
		}
		end := result(ask.ID)
		end.Host, end.Status, end.ExitCode = c.host, c.status, &c.code
		if c.code < 0 {
			end.ExitCode = nil
		}
		require.NoError(t, f.Record(t.Context(), end))
	}
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.SessionClose, Host: "web1", Session: "s_1"}))
	require.NoError(t, f.Close())
	return dir
}

func found(t *testing.T, dir string, q audit.Query) (ids []string) {
	t.Helper()
	for events, err := range audit.Search(dir, q) {
		require.NoError(t, err)
		ids = append(ids, fmt.Sprintf("%s/%d", events[0].ID, len(events)))
	}
	return ids
}

func TestSearchFindsCommandsWithAllThatIsOnRecord(t *testing.T) {
	dir := asked(t)
	one, zero := 1, 0
	start := time.Date(2026, 11, 21, 2, 1, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		q    audit.Query
		want []string
	}{
		{"by host", audit.Query{Host: "web?"}, []string{"e_0/2", "e_1/2", "/1"}},
		{"by principal", audit.Query{Principal: "agent/*"}, []string{"e_1/2", "e_2/2"}},
		{"by verdict", audit.Query{Verdict: "deny"}, []string{"e_2/2"}},
		{"by exit code", audit.Query{ExitCode: &one}, []string{"e_1/2"}},
		{"by exit code 0, which is not unknown", audit.Query{ExitCode: &zero}, []string{"e_0/2"}},
		{"by text", audit.Query{Text: "rm -rf"}, []string{"e_1/2", "e_2/2"}},
		{"by text and outcome", audit.Query{Text: "rm", Status: "exit"}, []string{"e_1/2"}},
		{"by host, with no result", audit.Query{Host: "db*", Verdict: "allow"}, []string{"e_3/1"}},
		{"since", audit.Query{Since: start.Add(time.Minute), Text: "r"}, []string{"e_1/2", "e_2/2"}},
		{"until", audit.Query{Until: start.Add(time.Minute)}, []string{"e_0/2"}},
		{"nothing", audit.Query{Text: "nope"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, found(t, dir, tt.q)) })
	}
}

func TestSearchStopsWhenNobodyWantsMore(t *testing.T) {
	n := 0
	for range audit.Search(asked(t), audit.Query{}) {
		n++
		break
	}
	assert.Equal(t, 1, n)
}

func TestSearchHoldsABoundedNumberOfOpenCommands(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	const n = 5000
	var group []audit.Event
	for i := range n {
		group = append(group, request(fmt.Sprint("e_", i), true))
	}
	require.NoError(t, f.RecordAll(t.Context(), group))
	require.NoError(t, f.Record(t.Context(), result("e_0")))
	require.NoError(t, f.Close())
	ids := found(t, dir, audit.Query{Host: "web1"})
	assert.Len(t, ids, n+1, "the first was let go before its result came")
	assert.Equal(t, "e_0/1", ids[0])
}

func TestSearchGoesOnBehindALineThatIsNoRecord(t *testing.T) {
	dir := chainOf(t, 1, audit.Config{})
	data := readFile(t, dir, "000001.jsonl")
	writeFile(t, append([]byte("rubbish\n"), data...), dir, "000001.jsonl")
	var errs, events int
	for e, err := range audit.Search(dir, audit.Query{}) {
		if err != nil {
			errs++
			assert.ErrorContains(t, err, "000001.jsonl:1 is not an entry")
		}
		events += len(e)
	}
	assert.Equal(t, 1, errs)
	assert.Equal(t, 1, events)
}

func FuzzGlob(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("***", "")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		_ = audit.Glob(pattern, s)
		require.True(t, audit.Glob("*", s))
		require.True(t, audit.Glob(s+"*", s))
		require.True(t, audit.Glob("*"+s, s))
	})
}

package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

// commandsOf are the texts of what was found, without what is about sessions.
func commandsOf(found wire.FoundList) (texts []string) {
	for _, f := range found.Items {
		if f.Kind == "command" {
			texts = append(texts, f.Command)
		}
	}
	return texts
}

func TestTheRecordIsSearchedTheNewestFirst(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "echo one")
	failed := w.RunIn(w.Client, s.ID, "exit 3")
	w.RunIn(w.Client, s.ID, "PGPASSWORD=hunter2hunter2 true")
	its, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	denied := w.RunIn(w.As("agent/claude"), its.ID, "rm -rf /")
	require.NotEqual(t, "ok", denied.Status)

	all := w.Search("")
	texts := commandsOf(all)
	assert.Equal(t, "rm -rf /", texts[0])
	assert.Equal(t, []string{"exit 3", "echo one"}, texts[len(texts)-3:len(texts)-1], "the first is what made the session ready")
	assert.NotContains(t, fmt.Sprint(texts), "hunter2")
	for i, f := range all.Items[1:] {
		assert.False(t, f.Time.After(all.Items[i].Time))
	}
	for query, want := range map[string][]string{
		"exit=3":                                     {"exit 3"},
		"text=" + url.QueryEscape("echo one"):        {"echo one"},
		"principal=agent/*&text=rm":                  {"rm -rf /"},
		"status=" + denied.Status:                    {"rm -rf /"},
		"status=exit&host=h?re":                      {"exit 3"},
		"host=elsewhere":                             nil,
		"until=2020-01-01T00:00:00Z":                 nil,
		"since=2020-01-01T00:00:00%2B02:00&text=one": {"echo one"},
	} {
		assert.Equal(t, want, commandsOf(w.Search(query)), query)
	}
	one := w.Search("exit=3").Items[0]
	assert.Equal(t, failed.Exec, one.ID)
	assert.Equal(t, "operator/ada", one.Principal)
	assert.Equal(t, "here", one.Host)
	assert.Equal(t, "allow", one.Verdict)
	assert.Equal(t, "exit", one.Status)
	require.NotNil(t, one.ExitCode)
	assert.Equal(t, 3, *one.ExitCode)
	require.Len(t, one.Events, 2)
	assert.Equal(t, "command.request", one.Events[0].(map[string]any)["kind"])
	assert.Equal(t, "command.result", one.Events[1].(map[string]any)["kind"])
}

func TestPagesOfASearchHoldWhileTheRecordGrows(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	for i := range 7 {
		w.RunIn(w.Client, s.ID, fmt.Sprint("echo n", i))
	}
	hangs := w.Begin(s.ID, wire.Run{Command: "echo n7; cat"}) // whose result comes later
	var texts []string
	query := "text=" + url.QueryEscape("echo n") + "&limit=3"
	cursor := ""
	for page := 0; ; page++ {
		found := w.Search(query + "&cursor=" + url.QueryEscape(cursor))
		texts = append(texts, commandsOf(found)...)
		if found.Next == "" {
			assert.Equal(t, 2, page)
			break
		}
		require.Len(t, found.Items, 3)
		cursor = found.Next
		if page == 0 {
			_, err := w.StopExec(t.Context(), hangs.Exec)
			require.NoError(t, err)
		}
		w.RunIn(w.Client, s.ID, "echo new")
	}
	assert.Equal(t, []string{"echo n7; cat", "echo n6", "echo n5", "echo n4", "echo n3", "echo n2", "echo n1", "echo n0"}, texts)
}

func TestASearchThatMakesNoSenseIsToldSo(t *testing.T) {
	w := keepertest.Start(t)
	for _, query := range []string{
		"since=yesterday", "until=2026-13-01T00:00:00Z", "cursor=x", "cursor=c2VxOi0x", "cursor=c2VxOjA", "cursor=" + strings.Repeat("A", 100),
		"cursor=%00", "verdict=maybe", "exit=one",
		"since=2026-11-21T02:00:00Z&until=2026-11-21T02:00:00Z", "since=2026-11-21T02:00:00Z&until=2026-11-21T02:00:00%2B01:00",
	} {
		status, p, _ := w.Send("GET", "/v1/audit/search?"+query, "")
		assert.Equal(t, http.StatusUnprocessableEntity, status, query)
		assert.Equal(t, "invalid", p.Code, query)
	}
	for _, query := range []string{"limit=0", "limit=201", "limit=x", "text=" + strings.Repeat("x", 5000), "status=failed", "status=OK"} {
		status, _, _ := w.Send("GET", "/v1/audit/search?"+query, "")
		assert.Equal(t, http.StatusUnprocessableEntity, status, query)
	}
	for _, known := range []session.Status{
		session.StatusOK, session.StatusExit, session.StatusSignal, session.StatusTimeout, session.StatusCanceled, session.StatusDenied, session.StatusExpired,
		session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusLost, session.StatusError,
	} {
		status, _, text := w.Send("GET", "/v1/audit/search?status="+string(known), "")
		assert.Equal(t, http.StatusOK, status, text)
	}
	w = keepertest.Start(t, func(c *keeper.Config) { c.AuditDir = "" })
	status, p, _ := w.Send("GET", "/v1/audit/search", "")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Equal(t, "not_found", p.Code)
}

func TestATerminalIsFoundByWhatItWas(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	term := w.Terminal("host=here")
	term.Line("exit 0")
	term.See("")
	found := w.Search("principal=operator/ada")
	require.Len(t, found.Items, 4)
	assert.Equal(t, "policy.load", found.Items[2].Kind)
	assert.Equal(t, "keeper.start", found.Items[3].Kind)
	assert.Equal(t, w.Places.Socket+" version test", found.Items[3].Command)
	found = w.Search("principal=operator/ada&host=here")
	require.Len(t, found.Items, 2)
	assert.Equal(t, "session", found.Items[0].Kind, "its end")
	shell := found.Items[1]
	assert.Equal(t, "command", shell.Kind)
	assert.Contains(t, shell.Command, "exec sh -c")
	assert.Equal(t, "ok", shell.Status)
	assert.Equal(t, recordings(w, "")[0].ID, shell.ID, "its recording has the same id")
}

// A record that is damaged is searched as far as it goes.
func TestLinesThatAreNoRecordsAreCounted(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "echo one")
	found := w.Search("text=one")
	require.Len(t, found.Items, 1)
	assert.Zero(t, found.Unreadable)
	assert.WithinDuration(t, time.Now(), found.Items[0].Time, time.Hour)
	require.NoError(t, w.StopServing())
	damage(t, w.Cfg.AuditDir)
	w.Cfg.Audit = audit.Discard{}
	w.Serve()
	found = w.Search("text=one")
	assert.Len(t, found.Items, 1)
	assert.Equal(t, 1, found.Unreadable)
	_, _, tail := w.Send("GET", "/v1/audit?n=1000", "")
	assert.Contains(t, tail, `"damaged":"`+w.Cfg.AuditDir)
	assert.Contains(t, tail, "is not an entry; run `fairlead audit verify`")
}

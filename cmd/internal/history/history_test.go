package history

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/doctor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// past returns the options of an account whose audit log holds events.
func past(t *testing.T, events ...audit.Event) *options {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	for i := range events {
		events[i].Principal = "operator/ada"
	}
	require.NoError(t, audit.RecordAll(context.Background(), f, events))
	require.NoError(t, f.Close())
	ios, _, _, _ := iostreams.Test()
	return &options{
		io: ios, dir: func() (string, error) { return dir, nil },
		caller: func() cmdutil.Caller { return cmdutil.Caller{Principal: "operator/ada"} },
		inventory: func() (*hosts.Inventory, error) {
			at := hosts.Pos{File: "test.yaml", Line: 1}
			return hosts.NewInventory([]hosts.Host{
				{Name: "web1", User: "deploy", Addr: "192.0.2.1", Tier: "dev", Source: at}, {Name: "web2", User: "deploy", Addr: "192.0.2.2", Source: at},
			}, nil)
		},
		runs: func() (runstore.Store, error) {
			return runstore.Store{Dir: filepath.Join(filepath.Dir(dir), "runs")}, nil
		},
		resolve: func(h hosts.Host) (endpoint, error) {
			return endpoint{h.User, net.JoinHostPort(cmp.Or(h.Addr, h.Name), strconv.Itoa(int(cmp.Or(h.Port, 22))))}, nil
		},
	}
}

// What a command had besides its text is not in the log, and without it another thing would happen.
func TestOnlyWhatIsWholeIsRunAgain(t *testing.T) {
	ask := audit.Event{Kind: audit.CommandRequest, ID: "e_1", Host: "web1", Command: "tee /etc/x"}
	end := audit.Event{Kind: audit.CommandResult, ID: "e_1", Host: "web1", Status: "ok", SSHUser: "deploy", Address: "192.0.2.1:22"}
	with := func(e audit.Event, change func(*audit.Event)) audit.Event {
		change(&e)
		return e
	}
	plain := []string{"--no-template", "--become=none", "web1", "--", "tee /etc/x"}
	for what, c := range map[string]struct {
		events []audit.Event
		words  []string
		fails  string
	}{
		"plain":    {events: []audit.Event{ask, end}, words: plain},
		"held":     {events: []audit.Event{ask, with(end, func(e *audit.Event) { e.Held = "kernel: landlock 6" })}, words: append(plain[:3:3], "--held", "--", "tee /etc/x")},
		"not held": {events: []audit.Event{ask, with(end, func(e *audit.Event) { e.Held = "no: no perl" })}, words: plain},
		"stdin":    {events: []audit.Event{ask, with(end, func(e *audit.Event) { e.StdinBytes = 5 })}, fails: "it had standard input"},
		"typed":    {events: []audit.Event{ask, {Kind: audit.CommandInput, ID: "e_1", Host: "web1"}, end}, fails: "it had what was typed at it"},
		"session":  {events: []audit.Event{with(ask, func(e *audit.Event) { e.CWD = "/srv" }), end}, fails: "it had the directory and the variables of its session"},
		"running":  {events: []audit.Event{ask}, fails: "it may still run"},
	} {
		t.Run(what, func(t *testing.T) {
			words, err := past(t, c.events...).again("1")
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.words, words)
		})
	}
}

// However much was recorded since, a command has all its hosts.
func TestARunOnManyHostsKeepsAllOfThem(t *testing.T) {
	const many = 12_000
	var events []audit.Event
	for i := range many {
		id, host := fmt.Sprintf("e_%d", i), fmt.Sprintf("h%d", i)
		events = append(events, audit.Event{Kind: audit.CommandRequest, ID: id, Group: "r_1", Host: host, Command: "uptime"},
			audit.Event{Kind: audit.CommandResult, ID: id, Group: "r_1", Host: host, Status: "ok"})
	}
	all, err := past(t, events...).commands()
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Len(t, all[0].Hosts, many)
}

// The command that opens a session is nobody's.
func TestWhatOpensASessionIsNotListed(t *testing.T) {
	all, err := past(t, audit.Event{Kind: audit.CommandRequest, ID: "e_1", Host: "web1", Command: opens}).commands()
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestWhatOtherCommandsSendIsNotListed(t *testing.T) {
	var events []audit.Event
	for why, what := range map[string]string{"doctor": doctor.Looks, "hosts ping": "true", "hosts list --held": "true"} {
		events = append(events, audit.Event{Kind: audit.CommandRequest, ID: "e_" + why, Host: "web1", Command: what, Reason: why})
	}
	events = append(events, audit.Event{Kind: audit.CommandRequest, ID: "e_typed", Host: "web1", Command: "ls", Reason: "doctor"},
		audit.Event{Kind: audit.CommandRequest, ID: "e_true", Host: "web1", Command: "true"})
	all, err := past(t, events...).commands()
	require.NoError(t, err)
	require.Len(t, all, 2, "what was typed, whatever its reason")
	assert.Equal(t, "ls true", all[0].Command+" "+all[1].Command)
}

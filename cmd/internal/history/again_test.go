package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
)

// got is a host that got a command.
type got struct{ host, tier, options, become, user, addr, status, command string }

// entries are those of a command on hosts, one after the other.
func entries(run string, all ...got) (events []audit.Event) {
	for i, g := range all {
		id := fmt.Sprintf("e_%d", i+1)
		if g.command == "" {
			g.command = "true"
		}
		if g.status == "" {
			g.status = "ok"
		}
		events = append(events,
			audit.Event{Kind: audit.CommandRequest, ID: id, Group: run, Host: g.host, Tier: g.tier, SSHOptions: g.options, Become: g.become, Command: g.command},
			audit.Event{Kind: audit.CommandResult, ID: id, Group: run, Host: g.host, Status: g.status, SSHUser: g.user, Address: g.addr})
	}
	return events
}

func TestACommandRunsAgainOnlyWhereItRanAndAsWhom(t *testing.T) {
	web1 := got{host: "web1", tier: "dev", user: "deploy", addr: "192.0.2.1:22"}
	web2 := got{host: "web2", user: "deploy", addr: "192.0.2.2:22"}
	with := func(g got, change func(*got)) got {
		change(&g)
		return g
	}
	never := func(g *got) { g.user, g.addr, g.status = "", "", "denied" }
	file := sshopt.Set{File: "/other"}.String()
	for what, c := range map[string]struct {
		run   string
		on    []got
		kept  []string // names of the run's hosts
		ssh   string
		ended time.Duration // of the kept run
		words []string      // without those that all have
		fails string
	}{
		"hosts of the inventory": {run: "r_1234", on: []got{web1, web2}, words: []string{"web1,web2"}},
		"options": {
			on:    []got{with(web1, func(g *got) { g.options, g.user, g.addr = "User=root; Port=2998", "root", "192.0.2.1:2998" })},
			words: []string{"-o", "User=root", "-o", "Port=2998", "web1"},
		},
		"options that are not kept":  {on: []got{with(web1, func(g *got) { g.options = "SetEnv=…" })}, fails: "the audit log does not keep its options of ssh exactly (SetEnv=…)"},
		"a program":                  {on: []got{with(web1, func(g *got) { g.options = "ProxyCommand=nc; Port=1" })}, fails: "does not keep its options"},
		"outside":                    {on: []got{{host: "127.0.0.1", user: "x", addr: "127.0.0.1:2999"}}, words: []string{"x@127.0.0.1:2999"}},
		"outside, of a known name":   {on: []got{{host: "web1", user: "root", addr: "web1:22"}}, words: []string{"root@web1:22"}},
		"another configuration":      {on: []got{with(web1, func(g *got) { g.addr = "198.51.100.7:22" })}, fails: "it ran on web1 as deploy at 198.51.100.7:22, and the inventory's web1 is now reached as deploy at 192.0.2.1:22"},
		"another account":            {on: []got{with(web1, func(g *got) { g.user = "root" })}, fails: "it ran on web1 as root at 192.0.2.1:22, and"},
		"accounts that differ":       {run: "r_1234", on: []got{web1, with(web2, func(g *got) { g.become = "root by sudo" })}, fails: "ran it as different accounts"},
		"the check":                  {run: "r_1234", on: []got{web1, web2, with(web1, func(g *got) { g.command = "check" }), with(web2, func(g *got) { g.command, g.status = "check", "exit" })}, words: []string{"web1,web2"}},
		"retries":                    {run: "r_1234", on: []got{with(web1, func(g *got) { g.user, g.addr, g.status = "", "", "unreachable" }), web2, web1}, words: []string{"web1,web2"}},
		"never reached":              {on: []got{with(web1, never)}, words: []string{"web1"}},
		"never reached, no tier":     {on: []got{with(web2, never)}, fails: "web2 was not reached, and the audit log does not have its user and port"},
		"never reached, kept":        {on: []got{with(web2, never)}, kept: []string{"web2"}, ended: time.Hour, words: []string{"web2"}},
		"never reached, kept, -F":    {on: []got{with(web2, never)}, kept: []string{"web2"}, ended: time.Hour, ssh: file, fails: "web2 was not reached"},
		"never reached, outside":     {on: []got{with(web2, never)}, kept: []string{"root@web2"}, ended: time.Hour, words: []string{"root@web2"}},
		"never reached, not its run": {on: []got{with(web2, never)}, kept: []string{"root@web2"}, ended: -time.Minute, fails: "web2 was not reached"},
		"never reached, both": {
			run: "r_1234", on: []got{with(web2, never), with(web2, never)}, kept: []string{"web2", "root@web2"}, fails: "web2 was not reached",
		},
	} {
		t.Run(what, func(t *testing.T) {
			o := past(t, entries(c.run, c.on...)...)
			if c.kept != nil {
				r := runstore.Run{ID: "r_1234", Principal: "operator/ada", Started: time.Now().Add(-time.Hour), Command: "true", SSH: c.ssh}
				for _, name := range c.kept {
					r.Hosts = append(r.Hosts, runstore.Host{Name: name})
				}
				store, err := o.runs()
				require.NoError(t, err)
				w, err := store.Begin(r)
				require.NoError(t, err)
				require.NoError(t, w.Close(runstore.Finish{Ended: time.Now().Add(c.ended)}))
			}
			words, err := o.again("1")
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			all := append([]string{"--no-template", "--become=none"}, c.words...)
			assert.Equal(t, append(all, "--", "true"), words)
		})
	}
}

// What separates options in the audit log stands in no value of one that is given again.
func TestOptionsThatAreGivenAgainHoldNoOthers(t *testing.T) {
	for _, keyword := range plain {
		var f sshopt.Flags
		for _, value := range []string{"1; Port=3", "/a; Port=3", "yes; Port=3"} {
			f.Set = sshopt.Set{}
			if f.Option(keyword+"="+value) != nil || len(f.Set.Lines) == 0 {
				continue
			}
			lines, err := optionsOf(f.Set.Lines[0])
			assert.True(t, err != nil || assert.ObjectsAreEqual(f.Set.Lines, lines), "%s: %q", keyword, lines)
		}
	}
}

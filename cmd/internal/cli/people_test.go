package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// commands says of every command whether agents may run it; those that they may not run come with arguments. A command that
// is not here fails the test.
var commands = map[string]string{
	"cp": "agents", "fetch": "agents", "edit": "agents",
	"run": "agents", "exec": "agents", "shell": "agents", "doctor": "agents", "mcp": "agents", "version": "agents", "man": "agents",
	"sessions close": "agents", "sessions list": "agents", "sessions reset": "agents",
	"jobs start": "agents", "jobs list": "agents", "jobs output": "agents", "jobs follow": "agents", "jobs stop": "agents", "jobs collect": "agents", "jobs wait": "agents", "history again": "agents", "jobs clean": "agents",
	"forward list": "agents", "forward close": "agents",
	"runs list": "agents", "runs show": "agents", "runs follow": "agents", "runs stop": "agents", "runs rerun": "agents",
	"sandbox list": "agents", "sandbox show": "agents", "sandbox check": "agents",
	"hosts list": "agents", "hosts show": "agents", "hosts ping": "agents", "hosts import": "agents",
	"policy check": "agents", "policy explain": "agents", "policy test": "agents",
	"audit tail": "agents", "audit search": "agents", "audit show": "agents", "audit verify": "agents", "audit export": "agents", "audit replay": "agents",
	"approvals list": "agents", "approvals show": "agents",
	"sandbox-exec": "agents", // which holds the one who runs it, and gives nothing

	"ssh":               "ssh here true",
	"hosts trust":       "hosts trust a@b",
	"hosts forget":      "hosts forget a@b",
	"serve":             "serve --stop",
	"web":               "web --no-open",
	"setup":             "setup claude --file /nonexistent/mcp.json",
	"sandbox create":    "sandbox create here /srv --for agent/x",
	"sandbox edit":      "sandbox edit b_x --active=false",
	"sandbox delete":    "sandbox delete b_x",
	"audit purge":       "audit purge --before 90d",
	"approvals approve": "approvals approve a_x --yes",
	"approvals reject":  "approvals reject a_x --reason no",
	"approvals enroll":  "approvals enroll --new",
	"approvals revoke":  "approvals revoke a_x",
	"approvals watch":   "approvals watch",
}

func TestEveryCommandSaysWhetherAgentsMayRunIt(t *testing.T) {
	seen := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "fairlead"), " ")
		if cmd.HasSubCommands() || name == "" {
			return
		}
		seen[name] = true
		how, known := commands[name]
		if !assert.True(t, known, "is %q for agents?", name) {
			return
		}
		_, people := cmd.Annotations[cmdutil.ForPeopleKey]
		assert.Equal(t, how != "agents", people, name)
	}
	ios, _, _, _ := iostreams.Test()
	f, done := newFactory(ios, func(string) string { return "" })
	walk(NewRoot(f))
	assert.NoError(t, done())
	for name := range commands {
		assert.True(t, seen[name], "there is no %q", name)
	}
}

func TestAgentsDoNotAdminister(t *testing.T) {
	home := t.TempDir()
	for name, how := range commands {
		if how == "agents" {
			continue
		}
		for _, mark := range []string{"CLAUDECODE", "AI_AGENT", "GEMINI_CLI"} {
			t.Run(name+" by "+mark, func(t *testing.T) {
				ios, _, out, errOut := iostreams.Test()
				f, done := newFactory(ios, func(key string) string {
					return map[string]string{mark: "1", "HOME": home, "XDG_RUNTIME_DIR": home}[key]
				})
				code := finish(ios, Run(context.Background(), f, strings.Fields(how)))
				assert.NoError(t, done())
				assert.Equal(t, 5, code, errOut.String())
				assert.Empty(t, out.String())
				assert.Regexp(t, `^fairlead: agents may not .* \(`+mark+` is set\)\. Run this in a terminal of your own\n$`, errOut.String())
			})
		}
	}
}

package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// approver says yes to what defines a function, and no to everything else.
type approver struct{ asked []string }

func (a *approver) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	a.asked = append(a.asked, q.Decision.Reason)
	return policy.Answer{Approved: strings.Contains(q.Command, "()"), ID: "ap_1", By: "operator/ada"}, nil
}

func TestASessionStaysInASandboxThatIsChecked(t *testing.T) {
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			need(t, shell)
			dir := tree(t)
			outside := snapshot(t, dir+"/out")
			tr, err := localpty.New(localpty.Config{})
			require.NoError(t, err)
			t.Cleanup(func() { tr.Close() })
			people := &approver{}
			s, err := session.Open(tr, hosts.Host{Name: "web1", Transport: hosts.Local, Shell: shell}, session.Config{
				Principal: "agent/mcp", Audit: audit.Discard{}, Approver: people,
				Policy: guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Resolver = sandbox.Remote{Run: runner("sh", "-c")} }),
			})
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			does := func(script string) session.Result {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				r, _ := s.Run(ctx, session.Command{Script: script})
				return r
			}
			r := does("ls")
			assert.Equal(t, session.StatusDenied, r.Status)
			assert.Contains(t, r.Decision.Reason, "not known yet where it would run")
			assert.Equal(t, session.StatusOK, does("cd "+dir+"/box").Status)
			assert.Equal(t, "box/a.txt\n", string(does("cat a.txt").Stdout))
			assert.Equal(t, session.StatusOK, does("cd sub && mkdir one && echo x >one/y").Status)
			assert.Equal(t, dir+"/box/sub", s.Dir())
			r = does("cat ../../out/secret")
			assert.Equal(t, session.StatusDenied, r.Status)
			assert.Equal(t, `"../../out/secret" leads to "`+dir+`/out/secret", outside the sandbox `+dir+`/box`, r.Decision.Reason)
			assert.Empty(t, people.asked, "what leads outside is not a question")

			assert.Equal(t, session.StatusDenied, does("cat *").Status)
			require.Len(t, people.asked, 1)
			assert.Contains(t, people.asked[0], "not literal")

			// A name that an approved command gave another meaning is a question again, and others run apart from it.
			assert.Equal(t, session.StatusOK, does("cat() { echo poisoned; }").Status)
			assert.Equal(t, session.StatusDenied, does("cat x.txt").Status)
			r = does("head -n1 x.txt")
			assert.Equal(t, "box/sub/x.txt\n", string(r.Stdout))
			assert.Equal(t, "clean", r.Lane)
			assert.Equal(t, outside, snapshot(t, dir+"/out"))
		})
	}
}

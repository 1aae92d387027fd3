package rules_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestManyMayAskAtOnce(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, whole)})
	commands := []string{"ls", "touch x", "systemctl restart nginx", "curl x", "rm -rf /", "touch /srv/a; touch /srv/b"}
	want := map[string]policy.Decision{}
	for _, c := range commands {
		want[c] = decide(t, e, policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: c})
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				c := commands[(g+i)%len(commands)]
				d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: c})
				assert.NoError(t, err)
				assert.Equal(t, want[c], d)
				_ = e.Admit(fmt.Sprint("agent/", i%7), time.Unix(int64(i), 0))
				_ = e.Limits("agent/mcp")
			}
		})
	}
	wg.Wait()
}

// What is remembered must not be taken for something else: the same text means other things elsewhere.
func TestWhatIsRememberedIsForTheSameQuestion(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("srv", "allow", "classes: [write], paths: ['/srv/**']"))})
	ask := func(req policy.Request) policy.Verdict {
		req.Principal = "agent/a"
		return decide(t, e, req).Verdict
	}
	for range 2 {
		assert.Equal(t, policy.Allow, ask(policy.Request{Command: "touch x", Dir: "/srv/a"}))
		assert.Equal(t, policy.Ask, ask(policy.Request{Command: "touch x", Dir: "/etc"}))
		assert.Equal(t, policy.Allow, ask(policy.Request{Command: "ls", Shell: "bash"}))
		assert.Equal(t, policy.Ask, ask(policy.Request{Command: "ls =x", Shell: "zsh"}))
		assert.Equal(t, policy.Allow, ask(policy.Request{Command: "git log"}))
		assert.Equal(t, policy.Ask, ask(policy.Request{Command: "git log", Interactive: true}))
	}
}

func TestWhatIsForgottenIsJudgedAgain(t *testing.T) {
	e := rules.New(rules.Config{})
	for i := range 20_000 {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/a", Command: fmt.Sprintf("touch x%d", i%15_000)})
		if err != nil || d.Verdict != policy.Ask {
			t.Fatal(d, err)
		}
	}
	entries, _ := e.Remembered()
	assert.Greater(t, entries, 2000)
	assert.LessOrEqual(t, entries, 8*2*512)
	for i := range 1000 {
		_, err := e.Decide(t.Context(), policy.Request{Principal: "agent/a", Command: fmt.Sprintf("ls %d %s", i, strings.Repeat("x", 4000))})
		assert.NoError(t, err)
	}
	entries, bytes := e.Remembered()
	assert.Greater(t, bytes, 8*64<<10, "long commands are remembered")
	assert.LessOrEqual(t, bytes, 8*2*(64<<10+4096))
	assert.Less(t, entries, 1000)
	long := "ls " + strings.Repeat("a ", 5000)
	assert.Equal(t, policy.Allow, decide(t, e, policy.Request{Principal: "agent/a", Command: "ls"}).Verdict)
	assert.Equal(t, policy.Ask, decide(t, e, policy.Request{Principal: "agent/a", Command: long}).Verdict)
}

// What is asked for again and again is not judged again and again.
func TestWhatIsUsedIsRememberedLonger(t *testing.T) {
	assert.True(t, rules.KeptBeside(4*rules.CacheEntries, true))
	assert.False(t, rules.KeptBeside(4*rules.CacheEntries, false))
	assert.True(t, rules.KeptBeside(1, false))
}

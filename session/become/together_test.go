package become_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// many are hosts that are all this machine, on which flpass becomes root.
func (m *machine) many(t *testing.T, n int) []hosts.Host {
	hs := make([]hosts.Host, n)
	for i := range hs {
		hs[i] = m.as(t, "flpass", "sudo")
		hs[i].Name = fmt.Sprintf("web%d", i+1)
	}
	return hs
}

// tally counts what became of hosts.
type tally struct {
	mu                            sync.Mutex
	ok, wrong, notTried, anything int
}

func (c *tally) add(r session.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Err == nil:
		c.ok++
	case errors.Is(r.Err, become.ErrWrongPassword):
		c.wrong++
	case errors.Is(r.Err, become.ErrNotTried):
		c.notTried++
	default:
		c.anything++
	}
}

func (c *tally) is(t *testing.T, ok, wrong, notTried int) {
	t.Helper()
	assert.Equal(t, []int{ok, wrong, notTried, 0}, []int{c.ok, c.wrong, c.notTried, c.anything})
}

// One password is for all hosts of a run. A wrong one goes to one of them.
func TestAPasswordIsAskedForOnceInARun(t *testing.T) {
	p := &person{}
	m := newMachine(t, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	hs := m.many(t, 5)
	each := func(password string) *tally {
		p.reset(password)
		var c tally
		for _, r := range m.pool.Each(ctx, hs, session.Command{Script: "id -un"}) {
			c.add(r)
		}
		return &c
	}
	each("no").is(t, 0, 1, 4)
	require.Len(t, p.questions(), 1, "the wrong password")
	each("pass-pw-2").is(t, 5, 0, 0)
	require.Len(t, p.questions(), 1, "the right password")
	assert.Contains(t, p.questions()[0].Prompt(), "5 hosts")
	each("no").is(t, 0, 1, 4)
}

// The batches of a rollout are one run.
func TestAPasswordIsAskedForOnceInARollout(t *testing.T) {
	p := &person{password: "pass-pw-2"}
	m := newMachine(t, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	one, err := rollout.ParseSizes("1")
	require.NoError(t, err)
	var c tally
	plan := rollout.Plan{Batches: one, Verify: &session.Command{Script: "true"}, Result: func(_ hosts.Host, r session.Result) { c.add(r) }}
	report, err := plan.Run(ctx, m.pool, m.many(t, 3), session.Command{Script: "id -un"})
	require.NoError(t, err)
	assert.Empty(t, report.Reason)
	assert.Len(t, report.Batches, 3)
	c.is(t, 3, 0, 0)
	assert.Len(t, p.questions(), 1)
}

// Without a person to ask nothing is sent, and the error says what to do.
func TestWithoutAPersonTheErrorSaysWhatToDo(t *testing.T) {
	m := newMachine(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, method := range []string{"sudo", "doas"} {
		_, err := m.pool.Run(ctx, m.as(t, "flpass", method), session.Command{Script: "id -un"})
		require.ErrorIs(t, err, become.ErrPasswordNeeded, method)
		assert.ErrorIs(t, err, session.ErrAuth)
		assert.ErrorContains(t, err, method+" asks for the password of flpass before flpass becomes root, and none was given (there is no person to ask)")
		assert.ErrorContains(t, err, "Run it at a terminal, or let "+method+" need no password")
		r, err := m.pool.Run(ctx, m.as(t, "flfree", method), session.Command{Script: "id -un"})
		require.NoError(t, err, "where none is needed none is missed")
		assert.Equal(t, "root\n", string(r.Stdout))
	}
}

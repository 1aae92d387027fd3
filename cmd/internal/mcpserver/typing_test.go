package mcpserver_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// replies answers a question as a person does.
func (in *inside) replies(t *testing.T, p approval.Pending, r approval.Response) {
	t.Helper()
	r.ID, r.By, p.WithInput = p.ID, "operator/ada", r.WithInput
	r.Digest = p.Digest()
	require.NoError(t, in.desk.Answer(r))
}

// talks starts a Python that a person approves with r.
func (in *inside) talks(t *testing.T, c *client, r approval.Response) (session string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		needs.Part(t, "no python3")
	}
	id := c.open("here")
	ran := c.exec(id, "HOME="+t.TempDir()+" "+python+" -q", args{"interactive": true, "wait_s": 0})
	require.Nil(t, ran.Error, ran.Raw)
	in.replies(t, in.waiting(t), r)
	ran = c.call("session_output", args{"session_id": id, "wait_s": 30})
	for i := 0; i < 20 && (ran.WaitingFor == nil || ran.WaitingFor.Kind != "input"); i++ {
		ran = c.call("session_input", args{"session_id": id, "wait_for": ">>>", "wait_s": 1})
	}
	require.NotNil(t, ran.WaitingFor, ran.Raw)
	return id
}

func TestAnAgentTypesFreelyAtWhatWasApprovedWithInput(t *testing.T) {
	in := newInside(t, true)
	c := in.connect(t, nil)
	id := in.talks(t, c, approval.Response{Approved: true, WithInput: true})
	r := c.call("session_input", args{"session_id": id, "text": "6 * 7\n", "wait_for": `(?m)^42$`})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "match", r.Woke, r.Raw)
	assert.Contains(t, r.Raw, `"with_input":true`)
	assert.NotContains(t, r.Raw, `"typed"`)
	r = c.call("session_input", args{"session_id": id, "keys": []string{"C-d"}})
	assert.Equal(t, "ok", r.Status, r.Raw)

	r = c.exec(id, "sh -c 'read x'", args{"interactive": true, "wait_s": 0})
	in.replies(t, in.waiting(t), approval.Response{Reason: "no more"}) // it ended with the command
	r = c.call("session_output", args{"session_id": id, "wait_s": 30})
	assert.Equal(t, "denied", r.Status, r.Raw)
	assert.NotRegexp(t, `(denied|rejected): (denied|rejected): (denied|rejected)`, r.Text)
	for _, e := range in.book.all() {
		if e.Kind == audit.CommandInput && e.Class != "read-only" {
			assert.True(t, e.WithInput)
			assert.Equal(t, "operator/ada", e.ApprovedBy)
		}
	}
}

func TestWhatAnAgentTypesWaitsForAPerson(t *testing.T) {
	in := newInside(t, true)
	c := in.connect(t, nil)
	id := in.talks(t, c, approval.Response{Approved: true})
	r := c.call("session_input", args{"session_id": id, "text": "6 * 7\n", "wait_s": 0})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Raw, `"typed":{"state":"awaiting_approval"}`)
	assert.Contains(t, r.Text, "awaiting approval")
	r = c.call("session_input", args{"session_id": id, "text": "1\n"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "busy", r.Error.Code)
	p := in.waiting(t)
	assert.Equal(t, "6 * 7\n", p.Question.Typed)
	in.replies(t, p, approval.Response{Approved: true})
	printed := "" // each answer goes on where the one before ended
	require.Eventually(t, func() bool {
		r = c.call("session_output", args{"session_id": id, "wait_s": 0})
		printed += r.Stdout
		return strings.Contains(printed, "\n42\n>>> ") && strings.Contains(r.Raw, `"typed":{"state":"typed"}`)
	}, time.Minute, time.Millisecond)

	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for e := range in.asked {
			if e.Kind == approval.Asked {
				if p, err := in.desk.Get(e.ID); assert.NoError(t, err) {
					assert.NoError(t, in.desk.Answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: "operator/ada", Reason: "not that"}))
				}
				return
			}
		}
	}()
	r = c.call("session_input", args{"session_id": id, "text": "exit(3)\n", "wait_s": 50})
	<-answered
	require.NotNil(t, r.Error, r.Raw)
	assert.True(t, r.IsError)
	assert.Equal(t, "rejected", r.Error.Code)
	assert.Equal(t, "rejected: the approval was refused by operator/ada: not that; nothing was typed. What is typed is not asked about where the command "+
		"itself was approved with input: fairlead approvals approve ID --with-input (trying again will not help)", r.Text)
	r = c.call("session_input", args{"session_id": id, "keys": []string{"C-d"}})
	assert.Equal(t, "ok", r.Status, r.Raw)
}

func TestADenialOfTypingIsSaidOnce(t *testing.T) {
	c := newPlace(t, here, "version: 1\nrules:\n  - {name: quiet, hosts: here, principals: [\"*\"], classes: [unknown], verdict: deny, reason: nothing is typed here}\n").start(t, nil)
	id := c.open("here")
	r := c.exec(id, "cat", args{"interactive": true, "wait_s": 1})
	require.Equal(t, "running", r.State, r.Raw)
	r = c.call("session_input", args{"session_id": id, "text": "x\n"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "denied", r.Error.Code)
	assert.Equal(t, "nothing is typed here: the owner of the policy file must change the rule; nothing was typed", r.Error.Message)
	assert.Equal(t, "denied: "+r.Error.Message+" (trying again will not help)", r.Text)
	r = c.exec(id, "touch x; cat x", args{"interactive": true})
	assert.Equal(t, "busy", r.Error.Code)
}

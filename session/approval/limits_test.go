package approval_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestAFileOfApproversHasLimits(t *testing.T) {
	var file strings.Builder
	for i := range 256 {
		fmt.Fprintf(&file, "a%d%s%s\n", i, ns, authorized(newKey(t).PublicKey()))
	}
	got, err := approval.ParseApprovers([]byte(file.String()), "a")
	require.NoError(t, err)
	assert.Len(t, got, 256)
	_, err = approval.ParseApprovers([]byte(file.String()+"one"+ns+authorized(newKey(t).PublicKey())+"\n"), "a")
	assert.ErrorContains(t, err, "a:257: more than 256 approvers")

	full := "#" + strings.Repeat("x", 256<<10-1)
	_, err = approval.ParseApprovers([]byte(full), "a")
	require.NoError(t, err)
	_, err = approval.ParseApprovers([]byte(full+"x"), "a")
	assert.ErrorContains(t, err, "the file has 262145 bytes, more than 262144")

	_, err = approval.ParseApprovers([]byte(strings.Repeat("x\n", 30)), "a")
	assert.Equal(t, 20, strings.Count(err.Error(), "approval: a:"), "as many mistakes as somebody reads")
}

func TestANameIsMadeOfWhatNothingReadsAsMore(t *testing.T) {
	for c := range rune(0x180) {
		ok := c < 0x80 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@+", c)
		assert.Equal(t, ok, approval.CheckName("a"+string(c)) == nil, "%q", c)
		first := ok && c != '-' && c != '.'
		assert.Equal(t, first, approval.CheckName(string(c)) == nil, "%q", c)
	}
	assert.Error(t, approval.CheckName(""))
	assert.NoError(t, approval.CheckName(strings.Repeat("a", 64)))
	assert.Error(t, approval.CheckName(strings.Repeat("a", 65)))
}

func TestADeskHasLimitsForAll(t *testing.T) {
	d := approval.NewDesk(approval.Config{PerPrincipal: -1})
	q := policy.Question{Principal: "agent/x", Command: "ls"}
	for range 1024 {
		_, err := d.Put(q)
		require.NoError(t, err)
	}
	_, err := d.Put(q)
	require.ErrorIs(t, err, approval.ErrFull)
	q.Principal = "agent/y"
	_, err = d.Put(q)
	require.ErrorIs(t, err, approval.ErrFull)
}

func TestADocumentIsAsLongAsItsLimit(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	q := question("agent/x")
	size := func() int { // the identifier is made when it is asked
		return len(approval.Pending{ID: "a_" + strings.Repeat("x", 26), Question: q}.Document())
	}
	q.Decision.LeastProof = policy.Unproven
	q.Command = strings.Repeat("x", 100_000)
	q.Command = strings.Repeat("x", 100_000+approval.MaxDocument-size())
	require.Equal(t, approval.MaxDocument, size())
	p, err := d.Put(q)
	require.NoError(t, err)
	_, err = approval.Parse(p.Document())
	require.NoError(t, err)
	p.Question.Command += "x"
	_, err = approval.Parse(p.Document())
	assert.ErrorContains(t, err, "is the limit")
	q.Command += "x"
	_, err = d.Put(q)
	require.ErrorIs(t, err, approval.ErrInvalid)
	assert.ErrorContains(t, err, "more than a person can look through")
}

func TestAReasonIsPrintableTextUpToItsLimit(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	for _, reason := range []string{"", "two\nlines\tand a tab", "für später", strings.Repeat("x", approval.MaxReason)} {
		p, err := d.Put(question("agent/x"))
		require.NoError(t, err)
		r := yes(p)
		r.Reason = reason
		require.NoError(t, d.Answer(r))
	}
}

// What is settled is remembered until as many have come after it.
func TestTheLastThatWereSettledAreRemembered(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	settle := func() approval.Pending {
		p, err := d.Put(question("agent/x"))
		require.NoError(t, err)
		require.NoError(t, d.Answer(yes(p)))
		return p
	}
	first := settle()
	second := settle()
	for range approval.MaxSettled - 2 {
		settle()
	}
	require.ErrorIs(t, d.Answer(yes(first)), approval.ErrSettled)
	settle()
	require.ErrorIs(t, d.Answer(yes(first)), approval.ErrUnknown)
	require.ErrorIs(t, d.Answer(yes(second)), approval.ErrSettled)
}

func TestApprovalsForSessionsHaveLimits(t *testing.T) {
	d := newDesk(t, approval.Config{})
	give := func(principal string, s approval.Scope) error {
		q := inSession("touch x")
		q.Principal = principal
		p, err := d.Put(q)
		require.NoError(t, err)
		p.ForSession = &s
		r := yes(p)
		r.ForSession = &s
		err = d.Answer(r)
		if err != nil {
			require.NoError(t, d.Answer(yes(approval.Pending{ID: p.ID, Question: p.Question})))
		}
		return err
	}
	for s, ok := range map[time.Duration]bool{0: true, time.Second: true, 24 * time.Hour: true, 24*time.Hour + time.Second: false, 1500 * time.Millisecond: false, -time.Second: false} {
		err := give("agent/y", approval.Scope{For: s})
		if ok {
			assert.NoError(t, err, s)
		} else {
			assert.ErrorIs(t, err, approval.ErrScope, s)
		}
	}
	for range 256 {
		require.NoError(t, give("agent/x", approval.Scope{}))
	}
	err := give("agent/x", approval.Scope{})
	require.ErrorIs(t, err, approval.ErrFull)
	assert.ErrorContains(t, err, "agent/x has 256 approvals for sessions; revoke one")
	require.NoError(t, give("agent/z", approval.Scope{}))
}

func TestASummaryIsShort(t *testing.T) {
	summary := func(change func(q *policy.Question)) approval.Summary {
		q := question("agent/x")
		change(&q)
		return approval.Pending{ID: "a_1", Question: q}.Summary()
	}
	for command, want := range map[string]int{"a": 1, "a\n": 1, "a\nb": 2, "a\nb\n": 2, "a\n\n": 2} {
		s := summary(func(q *policy.Question) { q.Command = command })
		assert.Equal(t, want, s.Lines, "%q", command)
		assert.Equal(t, "a", s.FirstLine)
		assert.Equal(t, len(command), s.Bytes)
		assert.False(t, s.Typed)
	}
	for text, want := range map[string]string{
		strings.Repeat("x", 256): strings.Repeat("x", 256), strings.Repeat("x", 257): strings.Repeat("x", 253) + "…", "\xff": "\uFFFD",
	} {
		assert.Equal(t, want, summary(func(q *policy.Question) { q.Command = text }).FirstLine)
	}
	assert.True(t, summary(func(q *policy.Question) { q.Typed = "x" }).Typed)
}

func TestASessionThatEndsWithTheCommandHasNoApprovalOfItsOwn(t *testing.T) {
	d := approval.NewDesk(approval.Config{Lasts: func(q policy.Question) bool { return q.Session == "s_1" }})
	q := inSession("touch x")
	p := approval.Pending{ID: "a_1", Question: q, ForSession: &approval.Scope{}}
	assert.NoError(t, d.MayCover(p))
	p.Question.Session = "s_2"
	require.ErrorIs(t, d.MayCover(p), approval.ErrScope)
	assert.ErrorContains(t, d.MayCover(p), "the session ends with this command; approve it once")
	p.Question.Typed = "x"
	assert.ErrorContains(t, d.MayCover(p), "what is typed at a command is approved once", "the better reason")
	p.Question.Typed, p.Question.Hosts = "", []hosts.Host{{Name: "web-1"}, {Name: "web-2"}}
	assert.ErrorContains(t, d.MayCover(p), "the command runs on several hosts, and has no session", "this one, too")
	p.ForSession = nil
	assert.NoError(t, d.MayCover(p))
}

func TestWithoutWhoJudgesPrefixesNoneIsTaken(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	p := approval.Pending{ID: "a_1", Question: inSession("systemctl restart nginx"), ForSession: &approval.Scope{Prefix: []string{"systemctl", "restart"}}}
	require.ErrorIs(t, d.MayCover(p), approval.ErrScope)
	assert.ErrorContains(t, d.MayCover(p), "prefixes are not supported here")
	p.ForSession.Prefix = nil
	assert.NoError(t, d.MayCover(p))
}

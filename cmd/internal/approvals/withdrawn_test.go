package approvals

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// desk is a screen with a clock of its own, and nobody behind it.
type desk struct {
	*page
	now time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{now: time.Unix(1e9, 0)}
	o := &WatchOptions{Interval: time.Second}
	o.Now = func() time.Time { return d.now }
	d.page = newScreen(t.Context(), o, "operator/kim")
	d.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	return d
}

// gets is what waits at the next look; it is drawn, and after that time passes.
func (d *desk) gets(after time.Duration, commands ...string) {
	var list []approval.Pending
	for _, c := range commands {
		list = append(list, approval.Pending{ID: "a_" + c, Question: policy.Question{Command: c, Principal: "agent/x"}})
	}
	d.Update(fetched{list: list})
	d.passes(after)
}

func (d *desk) passes(after time.Duration) {
	d.View()
	d.now = d.now.Add(after)
}

// press presses keys, and draws after each.
func (d *desk) press(keys string) {
	for _, k := range keys {
		d.Update(tea.KeyPressMsg{Code: k, Text: string(k)})
		d.View()
	}
}

func (d *desk) shown() string { return strings.Join(d.lines(), "\n") }

func TestWhatTakesThePlaceOfAWithdrawnRequestIsNotAnswered(t *testing.T) {
	for _, keys := range []string{"yy", "ny", "iy", "r because\r", "yn", "sy"} {
		d := newDesk(t)
		d.gets(time.Hour, "uptime")
		d.gets(time.Hour, "evil")
		d.press(keys)
		assert.Equal(t, browsing, d.mode, keys)
		assert.NotEqual(t, "a_evil", d.about.ID, keys)
		assert.Equal(t, "a_uptime", d.chosen)
		assert.Contains(t, d.shown(), "> a_uptime", keys)
		assert.Contains(t, d.shown(), "withdrawn", keys)
		d.press("j")
		assert.Equal(t, "a_evil", d.chosen)
		assert.NotContains(t, d.shown(), "uptime", "it is away once the cursor is")
		d.press("y")
		assert.Equal(t, browsing, d.mode, "it has just come on the screen")
		d.passes(settle)
		d.press("y")
		assert.Equal(t, approving, d.mode)
	}
}

func TestAQuestionIsLeftWhenItsRequestGoes(t *testing.T) {
	for _, keys := range []string{"y", "n", "r", "s"} {
		d := newDesk(t)
		d.gets(time.Hour, "uptime", "evil")
		d.press(keys)
		assert.NotEqual(t, browsing, d.mode)
		d.gets(time.Hour, "evil")
		assert.Equal(t, browsing, d.mode)
		d.press("anyay")
		assert.Equal(t, browsing, d.mode, "the rest of what was typed answers nothing")
		assert.Equal(t, "a_uptime", d.chosen)
	}
}

func TestOnlyWhatHasBeenOnTheScreenIsAnswered(t *testing.T) {
	d := newDesk(t)
	d.gets(0, "one", "two")
	for _, k := range []string{"y", "i", "n", "r", "s"} {
		d.press(k)
		assert.Equal(t, browsing, d.mode, k)
		assert.Contains(t, d.prompt(), "has just come on the screen", k)
	}
	d.passes(settle - 1)
	d.press("y")
	assert.Equal(t, browsing, d.mode)
	d.passes(1)
	d.press("b")
	assert.Contains(t, d.prompt(), "y approve")
	d.press("jk") // to another one and back
	d.press("y")
	assert.Equal(t, browsing, d.mode)
	d.passes(settle)
	d.press("y")
	assert.Equal(t, approving, d.mode)
}

func TestAfterAnAnswerTheNextRequestIsShownAndNotAnswered(t *testing.T) {
	d := newDesk(t)
	d.gets(time.Hour, "one", "two")
	d.press("yy")
	assert.Equal(t, working, d.mode)
	d.Update(answered{note: "approved"})
	d.gets(0, "two")
	assert.Equal(t, "a_two", d.chosen)
	d.press("yy")
	assert.Equal(t, browsing, d.mode)
}

func TestAFailedLookIsNoWithdrawal(t *testing.T) {
	d := newDesk(t)
	d.gets(time.Hour, "one", "two")
	d.Update(fetched{err: errors.New("the keeper does not answer")})
	assert.NotContains(t, d.shown(), "withdrawn")
	assert.Contains(t, d.shown(), "the keeper does not answer")
	assert.Contains(t, d.shown(), "> a_one")
}

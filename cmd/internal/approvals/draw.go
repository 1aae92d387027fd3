package approvals

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// maxRows is how many questions are listed at a time.
const maxRows = 8

// View draws the screen: what waits, what is chosen, and what the keyboard is for. There is no colour.
func (m *page) View() tea.View {
	var b strings.Builder
	for _, l := range m.lines() {
		b.WriteString(ansi.Truncate(l, max(m.w, 1), "…") + "\n")
	}
	if m.w > 0 && m.h > 0 && m.drawn != m.chosen {
		m.drawn, m.since = m.chosen, m.o.Now()
	}
	v := tea.NewView(strings.TrimSuffix(b.String(), "\n"))
	v.AltScreen = true
	return v
}

// lines are the lines of the screen, from its top.
func (m *page) lines() []string {
	if m.w == 0 || m.h == 0 {
		return nil
	}
	out := []string{m.title()}
	out = append(out, m.rows()...)
	out = append(out, strings.Repeat("─", m.w))
	details, room := m.details(), m.room()
	for i := range room {
		if at := m.top + i; at < len(details) {
			out = append(out, details[at])
		} else {
			out = append(out, "")
		}
	}
	return append(append(out, m.foot(len(details))), m.prompts()...)
}

// prompts is the prompt on as many lines as it takes.
func (m *page) prompts() []string {
	lines := strings.Split(ansi.Wrap(m.prompt(), max(m.w, 8), ""), "\n")
	return lines[max(len(lines)-max(m.h/3, 1), 0):]
}

func (m *page) title() string {
	switch {
	case m.err != nil:
		return "fairlead approvals: " + plain(m.err)
	case !m.loaded:
		return "fairlead approvals: looking …"
	case len(m.list) == 0:
		return "fairlead approvals: no pending approvals"
	}
	return "fairlead approvals: " + cmdutil.Count(len(m.list), "request") + " waiting"
}

// rows are what waits, around the cursor.
func (m *page) rows() []string {
	at := max(m.cursor(), 0)
	items := m.items()
	n := min(len(items), m.listed())
	from := min(max(at-n/2, 0), len(items)-n)
	var out []string
	for i, p := range items[from : from+n] {
		q := p.Question
		mark := "  "
		if from+i == at {
			mark = "> "
		}
		left := "never"
		if !q.Expires.IsZero() {
			left = span(q.Expires.Sub(m.o.Now()))
		}
		if m.gone != nil && p.ID == m.gone.ID {
			left = "withdrawn"
		}
		first, _, more := strings.Cut(q.Command, "\n")
		first = line(first)
		if more {
			first += " …"
		}
		if q.Typed != "" {
			first = typedAt + first
		}
		out = append(out, fmt.Sprintf("%s%.8s  %-8s %s on %s  %s  %s", mark, line(p.ID), left, line(q.Principal), line(q.Host.Name), line(string(q.Decision.Class)), first))
	}
	return out
}

// listed is how many rows the list may have.
func (m *page) listed() int { return max(min(maxRows, m.h/4), 1) }

// room is how many lines the details have: the rest of the screen without title, rule, foot and prompt.
func (m *page) room() int { return max(m.h-3-len(m.prompts())-min(len(m.items()), m.listed()), 1) }

// details are the lines about what is chosen, all of it, none longer than the screen is wide.
func (m *page) details() []string {
	at := m.cursor()
	if at < 0 {
		return nil
	}
	text := strings.TrimSuffix(text(m.items()[at], m.o.Now()), "\n")
	if m.gone != nil {
		text = "withdrawn: it was canceled, answered elsewhere, or has expired\n\n" + text
	}
	return strings.Split(ansi.Hardwrap(text, max(m.w, 8), true), "\n")
}

// look keeps the details on the screen, and notes when their end has been there.
func (m *page) look() {
	if m.w == 0 || m.h == 0 {
		return
	}
	n, room := len(m.details()), m.room()
	m.top = max(min(m.top, n-room), 0)
	if n > 0 && m.top+room >= n {
		m.seen[m.chosen] = true
	}
}

func (m *page) foot(lines int) string {
	if below := lines - m.top - m.room(); below > 0 {
		return "── " + cmdutil.Count(below, "more line") + " below: space"
	}
	return "──"
}

// prompt says what the keyboard is for.
func (m *page) prompt() string {
	if m.stray {
		return "This takes y or n, and what is typed now is dropped. Enter goes back"
	}
	switch m.mode {
	case approving:
		return whether(m.about) + " [y/N]"
	case rejecting:
		return "Reject this without a reason? [y/N]"
	case reasoning:
		return "Why it is rejected (Enter rejects, Esc does not): " + m.typed
	case scoping:
		return "For the session: Enter approves this exact command, or type the first words of the commands (Esc leaves): " + m.typed
	case unlocking:
		before := ""
		if m.wrong {
			before = "That is not the passphrase of the key. "
		}
		return fmt.Sprintf("%sPassphrase of %s's key (Esc leaves): ", before, line(m.by.who.Name))
	case working:
		if m.note != "" {
			return m.note
		}
		return "…"
	}
	if m.note != "" {
		return m.note
	}
	switch {
	case len(m.items()) == 0:
		return "q quit"
	case m.gone != nil && len(m.list) > 0:
		return "j/k choose  space/b read  q quit"
	case m.gone != nil:
		return "space/b read  q quit"
	case !m.settled():
		return "…  j/k choose  space/b read  q quit"
	}
	if at := m.cursor(); at >= 0 && m.items()[at].TakesInput() {
		return "y approve  i approve with input  n reject  r with a reason  s for the session  j/k choose  space/b read  q quit"
	}
	return "y approve  n reject  r reject with a reason  s for the session  j/k choose  space/b read  q quit"
}

var _ tea.Model = (*page)(nil)

package approvals

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

// confirm takes the second thought. Text that is typed where a key is asked for may be a passphrase, which must not be taken for keys
// that answer, or for a reason: all of it is dropped up to its end.
func (m *page) confirm(name string) tea.Cmd {
	switch {
	case name == "enter" || name == "esc" || name == "n" && !m.stray:
		m.leave("it stays pending")
	case name != "y" || m.stray:
		m.stray = true
	case m.mode == rejecting:
		return m.reject("")
	default:
		m.mode = working
		p := m.about
		return func() tea.Msg {
			by, err := m.o.wayFor(m.ctx, p)
			return chose{p.ID, by, err}
		}
	}
	return nil
}

// unlock goes on with a yes once it is known how it is signed.
func (m *page) unlock(c chose) tea.Cmd {
	switch {
	case c.id != m.about.ID || m.mode != working:
		return nil
	case c.err != nil:
		m.leave("not approved: it " + plain(c.err))
		return nil
	case c.by != nil && !c.by.agent:
		m.mode, m.by = unlocking, c.by
		return nil
	}
	return m.approve(c.by, nil)
}

// approve signs and sends a yes.
func (m *page) approve(by *way, phrase []byte) tea.Cmd {
	m.mode = working
	p := m.about
	if by != nil && by.proof == approval.Touch {
		m.note = "touch the security key of " + line(by.who.Name)
	}
	return func() tea.Msg {
		defer clear(phrase)
		r := approval.Response{ID: p.ID, Digest: p.Digest(), By: m.me, Approved: true, WithInput: p.WithInput, ForSession: p.ForSession}
		if by != nil {
			var err error
			r.Proof = by.proof
			if by.agent {
				r.Signature, err = m.o.signByAgent(m.ctx, p, *by)
			} else {
				r.Signature, err = signWith(p, *by, phrase)
			}
			if errors.Is(err, errPassphrase) {
				return answered{by: by}
			}
			if err != nil {
				return answered{err: fmt.Errorf("not approved: %w", err)}
			}
		}
		if err := m.answer(r); err != nil {
			return answered{err: fmt.Errorf("not approved: %w", err)}
		}
		return answered{note: "approved " + p.ID + with(p)}
	}
}

// reject sends a no.
func (m *page) reject(reason string) tea.Cmd {
	m.mode = working
	p := m.about
	return func() tea.Msg {
		err := m.answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: m.me, Reason: reason})
		if err != nil {
			return answered{err: fmt.Errorf("not rejected: %w", err)}
		}
		return answered{note: "rejected " + p.ID}
	}
}

func (m *page) answer(r approval.Response) error {
	client, err := m.o.Client()
	if err != nil {
		return err
	}
	return client.Answer(m.ctx, r)
}

package approvals

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// mode is what the keyboard is for.
type mode int

const (
	browsing  mode = iota
	approving      // y approves
	rejecting      // y rejects
	reasoning      // a reason is being typed
	scoping        // the first words of commands of the session are being typed
	unlocking      // a passphrase is being typed
	working        // an answer is under way
)

// page is the screen of "approvals watch". Only the program's loop touches it.
type page struct {
	ctx    context.Context
	o      *WatchOptions
	me     string
	w, h   int
	list   []approval.Pending
	loaded bool
	err    error
	chosen string          // the id under the cursor
	gone   *gone           // what is under the cursor, where that is no longer pending
	drawn  string          // the id whose details are on the screen
	since  time.Time       // since when
	mine   map[string]bool // what was answered here
	top    int             // the first line of the details that is shown
	seen   map[string]bool // whose end has been on the screen
	mode   mode
	about  approval.Pending // what is being answered: exactly this
	by     *way
	typed  string // a reason
	stray  bool   // what is typed is no answer to the question
	wrong  bool   // the last passphrase was
	phrase secret
	note   string // what has become of the last answer
}

func newScreen(ctx context.Context, o *WatchOptions, me string) *page {
	return &page{ctx: ctx, o: o, me: me, seen: map[string]bool{}, mine: map[string]bool{}}
}

// settle is how long a request has to be on the screen before it can be answered: who types at the one before it, or ahead,
// has not seen it. Whoever asks decides when requests come and go.
const settle = 500 * time.Millisecond

// gone is a request that is no longer pending and that a person may still be reading.
type gone struct {
	approval.Pending
	at int // its place in the list
}

// settled is the time to show that what is on the screen can be answered.
type settled struct{}

// fetched is what waits now.
type fetched struct {
	list []approval.Pending
	err  error
}

// tick is the time to look again.
type tick struct{}

// chose is how an answer is signed.
type chose struct {
	id  string
	by  *way
	err error
}

// answered is the end of an answer.
type answered struct {
	note string
	err  error
	by   *way // a key that has another passphrase
}

// Init begins to look.
func (m *page) Init() tea.Cmd { return m.fetch(nil) }

// fetch asks for what waits. What is known already does not change, and is not asked for again.
func (m *page) fetch(known []approval.Pending) tea.Cmd {
	return func() tea.Msg {
		client, err := m.o.Client() // a new one: places for sockets may have come
		if err != nil {
			return fetched{nil, err}
		}
		list, err := client.List(m.ctx)
		var out []approval.Pending
		for _, s := range list {
			if i := slices.IndexFunc(known, func(p approval.Pending) bool { return p.ID == s.ID }); i >= 0 {
				out = append(out, known[i])
				continue
			}
			p, gerr := client.Get(m.ctx, s.ID)
			switch {
			case gerr == nil:
				out = append(out, p)
			case !errors.Is(gerr, approval.ErrUnknown) && !errors.Is(gerr, approval.ErrSettled): // it has just been answered
				err = errors.Join(err, gerr)
			}
		}
		return fetched{out, err}
	}
}

// Update takes what happens.
func (m *page) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	chosen := m.chosen
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tick:
		next = m.fetch(m.list)
	case fetched:
		m.take(msg)
		next = tea.Tick(m.o.Interval, func(time.Time) tea.Msg { return tick{} })
	case refreshed:
		m.take(fetched(msg))
	case chose:
		next = m.unlock(msg)
	case answered:
		if msg.by != nil { // nothing was answered
			m.mode, m.by, m.wrong = unlocking, msg.by, true
			break
		}
		m.mode, m.by, m.wrong = browsing, nil, false
		m.note = msg.note
		if msg.err != nil {
			m.note = plain(msg.err)
		} else {
			m.mine[m.about.ID] = true
			m.advance()
		}
		next = m.fetchOnce()
	case tea.KeyPressMsg:
		next = m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	}
	m.look()
	if m.chosen != chosen {
		next = tea.Batch(next, tea.Tick(settle+50*time.Millisecond, func(time.Time) tea.Msg { return settled{} }))
	}
	return m, next
}

// fetchOnce looks at once, beside the clock that looks anyway.
func (m *page) fetchOnce() tea.Cmd {
	f := m.fetch(m.list)
	return func() tea.Msg { return refreshed(f().(fetched)) }
}

// refreshed is fetched without the clock going on.
type refreshed fetched

// take shows what waits. The cursor stays where it is: also on what is gone, until a person moves it.
func (m *page) take(f fetched) {
	if m.err = f.err; f.err != nil && len(f.list) < len(m.list) {
		return // what could not be asked for may still wait
	}
	at, was := m.cursor(), m.items()
	m.list, m.loaded = f.list, m.loaded || f.err == nil
	here := slices.ContainsFunc(m.list, func(p approval.Pending) bool { return p.ID == m.chosen })
	switch {
	case here:
		m.gone = nil
	case m.chosen != "" && at >= 0:
		m.gone = &gone{was[at], at}
		m.advance()
	default:
		m.gone, m.chosen, m.top = nil, "", 0
		m.choose(0)
	}
	// An answer to what is gone would be to something else.
	if m.mode != browsing && m.mode != working && !slices.ContainsFunc(m.list, func(p approval.Pending) bool { return p.ID == m.about.ID }) {
		m.leave("it is no longer pending: it was answered elsewhere, or has expired")
	}
}

// leave goes back to choosing.
func (m *page) leave(note string) {
	m.phrase.wipe()
	m.mode, m.by, m.typed, m.note = browsing, nil, "", note
	m.stray, m.wrong = false, false
}

// advance goes on from what is gone because it was answered here.
func (m *page) advance() {
	if m.gone == nil || !m.mine[m.gone.ID] {
		return
	}
	at := m.gone.at
	m.gone, m.chosen, m.top = nil, "", 0
	m.choose(min(at, len(m.list)-1))
}

// items are what is listed: what waits, and what is gone in its old place.
func (m *page) items() []approval.Pending {
	if m.gone == nil {
		return m.list
	}
	at := min(m.gone.at, len(m.list))
	return slices.Insert(slices.Clone(m.list), at, m.gone.Pending)
}

// cursor is the place of what is chosen among the items, or -1.
func (m *page) cursor() int {
	return slices.IndexFunc(m.items(), func(p approval.Pending) bool { return p.ID == m.chosen })
}

// key takes a key.
func (m *page) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.Keystroke()
	if name == "ctrl+c" {
		m.phrase.wipe()
		return tea.Quit
	}
	switch m.mode {
	case browsing:
		return m.browse(name)
	case approving, rejecting:
		return m.confirm(name)
	case reasoning:
		return m.reason(k)
	case scoping:
		return m.scope(k)
	case unlocking:
		return m.secret(k)
	}
	return nil
}

func (m *page) browse(name string) tea.Cmd {
	at := m.cursor()
	m.note = ""
	switch name {
	case "q":
		return tea.Quit
	case "j", "down":
		m.choose(at + 1)
	case "k", "up":
		m.choose(at - 1)
	case "space", "pgdown":
		m.top += max(m.room()-1, 1)
	case "b", "pgup":
		m.top -= max(m.room()-1, 1)
	case "y", "i", "n", "r", "s":
		switch {
		case at < 0:
			return nil
		case m.gone != nil:
			m.note = "this request is no longer pending: j or k chooses another one"
			return nil
		case !m.settled():
			m.note = "this request has just come on the screen: read it first"
			return nil
		}
		m.about, m.typed = m.items()[at], ""
		m.about.WithInput = name == "i"
		switch {
		case name == "i" && !m.about.TakesInput():
			m.note = "nothing can be typed at this while it runs: y approves it"
		case name == "n":
			m.mode = rejecting
		case name == "r":
			m.mode = reasoning
		case !m.seen[m.chosen]:
			m.note = "there is more of it below: space reads on"
		case name == "s":
			m.mode = scoping
		default:
			m.mode = approving
		}
	}
	return nil
}

func (m *page) choose(i int) {
	items := m.items()
	if i < 0 || i >= len(items) || items[i].ID == m.chosen {
		return
	}
	m.chosen, m.top, m.gone = items[i].ID, 0, nil
}

// settled reports whether what is chosen has been on the screen for long enough to be answered.
func (m *page) settled() bool {
	return m.drawn == m.chosen && m.o.Now().Sub(m.since) >= settle
}

// reason takes a key of a reason.
func (m *page) reason(k tea.KeyPressMsg) tea.Cmd {
	if m.edits(k) {
		return nil
	}
	reason := strings.TrimSpace(m.typed)
	if reason == "" {
		return nil
	}
	m.typed = ""
	return m.reject(reason)
}

// scope takes a key of the first words of the commands that an approval for the session covers; no words are the exact
// command.
func (m *page) scope(k tea.KeyPressMsg) tea.Cmd {
	if m.edits(k) {
		return nil
	}
	s, err := scopeOf(strings.TrimSpace(m.typed), 0)
	if err != nil {
		m.leave(plain(err))
		return nil
	}
	m.about.ForSession, m.mode, m.typed = s, approving, ""
	return nil
}

// edits has a key change what is typed, and reports whether more may follow: Enter ends it.
func (m *page) edits(k tea.KeyPressMsg) bool {
	switch k.Keystroke() {
	case "enter":
		return false
	case "esc":
		m.leave("it stays pending")
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	default:
		m.paste(k.Text)
	}
	return true
}

// secret takes a key of a passphrase.
func (m *page) secret(k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "enter":
		by, phrase := m.by, m.phrase.line
		m.phrase = secret{}
		return m.approve(by, phrase)
	case "esc":
		m.leave("it stays pending")
	case "backspace":
		m.phrase.rubOut()
	case "ctrl+u":
		m.phrase.wipe()
	default:
		m.paste(k.Text)
	}
	return nil
}

// paste takes text where some is being typed.
func (m *page) paste(text string) {
	switch m.mode {
	case reasoning, scoping:
		text = strings.Map(func(r rune) rune {
			if printable.Hidden(r) {
				return -1
			}
			return r
		}, text)
		if len(m.typed)+len(text) <= maxAnswer {
			m.typed += text
		}
	case unlocking:
		for _, c := range []byte(text) {
			if c >= ' ' && c != 0x7f {
				if _, err := m.phrase.key(c); err != nil {
					m.leave("not approved: " + plain(err))
				}
			}
		}
	}
}

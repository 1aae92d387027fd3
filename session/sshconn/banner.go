package sshconn

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// Bounds of what a server says while it lets somebody in.
const (
	maxBanner  = 16 << 10 // bytes
	bannerWait = 2 * time.Second
	loginGrace = 2 * time.Minute // LoginGraceTime of sshd_config(5), as it is where nothing is set
)

// notice is what a server says while it lets somebody in (RFC 4252, 5.4): who may come, or where to approve the login in a browser.
// The zero value is ready.
type notice struct {
	mu    sync.Mutex // guards what follows
	text  string     // not told yet
	heard int        // bytes
	asks  bool       // a person may have to do what it says
	end   context.CancelFunc

	more chan struct{} // there is text
	wg   sync.WaitGroup
}

// banner hears what the server says. A person is told when something is asked, or when the login takes its time: it may be theirs to
// do what the text says, so the clock stands still for as long as servers wait. Who is let in at once is told nothing, as a text for
// everybody would come from each of a hundred hosts. Where there is no person the clock goes on.
func (l *login) banner(text string) error {
	if len(l.tried) > 0 || len(l.typed) > 0 { // what comes before is for everybody
		l.told += text[:min(len(text), 8*maxHeard-len(l.told))]
		l.barred = l.barred || l.proven()
	}
	l.hear(text, true)
	return nil
}

// proxySays hears what a ProxyCommand says on standard error. Some say where to log in with a browser, and wait for that.
func (l *login) proxySays(text string) { l.hear(text, strings.Contains(text, "://")) }

// hear has text told in time. asks says that a person may have to do something.
func (l *login) hear(text string, asks bool) {
	if l.t.ask == nil || text == "" {
		return
	}
	n := &l.notice
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.heard += len(text); n.heard > maxBanner {
		return
	}
	n.text, n.asks = n.text+text, n.asks || asks
	if n.more == nil {
		n.more = make(chan struct{}, 1)
		var ctx context.Context
		ctx, n.end = context.WithCancel(l.clk)
		n.wg.Go(func() { l.tellInTime(ctx) })
	}
	select {
	case n.more <- struct{}{}:
	default:
	}
}

func (l *login) tellInTime(ctx context.Context) {
	wait := bannerWait
	if l.clk.Limit > 0 {
		wait = min(wait, l.clk.Limit/2)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return
	}
	var grace <-chan time.Time
	still := false // the clock
	defer func() {
		if still {
			l.clk.Resume()
		}
	}()
	for {
		select {
		case <-l.notice.more:
			if grace == nil && l.notice.wants() {
				grace, still = time.After(loginGrace), true
				l.clk.Pause()
			}
			err := l.tell(ctx)
			if errors.Is(err, ErrNoPerson) {
				if still {
					still = false
					l.clk.Resume()
				}
				continue
			}
			if err != nil {
				return
			}
		case <-grace:
			if !still {
				continue
			}
			l.clk.Waited(loginGrace)
			return
		case <-ctx.Done():
			return
		}
	}
}

// tell tells a person what the server has said since the last time.
func (l *login) tell(ctx context.Context) error {
	n := &l.notice
	n.mu.Lock()
	text := n.text
	n.text = ""
	n.mu.Unlock()
	if text == "" {
		return nil
	}
	_, err := l.t.ask(ctx, Question{Kind: AskLogin, Method: "banner", Host: l.t.name, Addr: l.t.addr(), User: l.t.user, Instruction: text, Try: 1})
	return err
}

// wants reports whether a person may have to do what was said.
func (n *notice) wants() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks
}

// quiet ends what banner has begun.
func (n *notice) quiet() {
	n.mu.Lock()
	end := n.end
	n.mu.Unlock()
	if end != nil {
		end()
		n.wg.Wait()
	}
}

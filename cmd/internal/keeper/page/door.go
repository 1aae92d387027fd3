package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
)

// How long things are good for.
const (
	CodeTime    = 2 * time.Minute
	SessionTime = 12 * time.Hour
	IdleTime    = time.Hour // without a request; one that goes on, such as a stream or a terminal, is one all the time
)

// Bounds: the oldest code goes first, and the page that was used longest ago.
const (
	maxCodes = 16
	maxPages = 32
)

// Why a page is let in no more.
const (
	pageLeft    right.Over = "the page was left: “fairlead web” gives another link"
	pageLate    right.Over = "the page was open for 12 hours, which is as long as it may be: “fairlead web” gives another link"
	pageCrowded right.Over = "too many pages are open, and this one was used longest ago: “fairlead web” gives another link"
)

// Names that the page and the door share.
const (
	cookiePrefix = "fairlead_page_" // and the port
	// Token is the header of a request that has the token. A WebSocket, which has no headers of its own, offers it as a
	// protocol: Protocol, and TokenProtocol with the token.
	Token         = "Fairlead-Page-Token"
	Protocol      = "fairlead"
	TokenProtocol = "token."
)

// Guest is what was known of whoever asked for a link. It holds for all that its page does.
type Guest struct {
	Inventory string // absolute path
	AuthSock  string // its SSH_AUTH_SOCK
}

type hash = [sha256.Size]byte

// Door lets pages in. Make one with NewDoor.
type Door struct {
	addr   string
	cookie string // its name: that of each keeper's is another, for all of them get to see it
	now    func() time.Time

	mu    sync.Mutex // guards what follows
	codes []invitation
	pages []*visit
	last  uint64 // number of the newest page
}

type invitation struct {
	code  hash
	until time.Time
	guest Guest
}

// visit is a page: its token, and the cookie that it shares with the others of its browser.
type visit struct {
	number        uint64
	cookie, token hash
	until         time.Time // the end at the latest
	seen          time.Time
	guest         Guest
	right         right.Right
}

// Page is a page that has made a request.
type Page struct {
	Guest
	Number uint64 // tells it from the door's others

	door  *Door
	visit *visit
}

// Use returns a context for what the request does, which ends with the page's right to it. Until leave is called the page is in
// use.
func (p Page) Use(ctx context.Context) (_ context.Context, leave func()) {
	ctx, over := p.visit.right.Use(ctx, p.visit.until, pageLate)
	return ctx, func() {
		p.door.mu.Lock()
		p.visit.seen = p.door.now()
		p.door.mu.Unlock()
		over()
	}
}

// NewDoor returns the door of a page at addr, which is host:port.
func NewDoor(addr string) *Door {
	_, port, _ := strings.Cut(addr, ":")
	return &Door{addr: addr, cookie: cookiePrefix + port, now: time.Now}
}

// Invite returns a code that lets one page in, and until when.
func (d *Door) Invite(g Guest) (code string, until time.Time) {
	code, until = rand.Text(), d.now().Add(CodeTime)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if len(d.codes) == maxCodes {
		d.codes = slices.Delete(d.codes, 0, 1)
	}
	d.codes = append(d.codes, invitation{sha256.Sum256([]byte(code)), until, g})
	return code, until
}

// enter takes a code for a cookie and a token. It is good once. A browser that has the cookie of another page keeps it, for it
// would send the new one alone, and the other page would count no more.
func (d *Door) enter(code string, has []*http.Cookie) (cookie, token string, ok bool) {
	sum := sha256.Sum256([]byte(code))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	i := slices.IndexFunc(d.codes, func(c invitation) bool { return subtle.ConstantTimeCompare(c.code[:], sum[:]) == 1 })
	if i < 0 {
		return "", "", false
	}
	cookie, token = rand.Text(), rand.Text()
	for _, c := range has {
		if d.given(sha256.Sum256([]byte(c.Value))) {
			cookie = c.Value
		}
	}
	if len(d.pages) == maxPages {
		d.crowd()
	}
	now := d.now()
	d.last++
	d.pages = append(d.pages, &visit{
		number: d.last, cookie: sha256.Sum256([]byte(cookie)), token: sha256.Sum256([]byte(token)), until: now.Add(SessionTime), seen: now, guest: d.codes[i].guest,
	})
	d.codes = slices.Delete(d.codes, i, i+1)
	return cookie, token, true
}

// given reports whether a page has this cookie. The lock is held.
func (d *Door) given(cookie hash) bool {
	return slices.ContainsFunc(d.pages, func(v *visit) bool { return subtle.ConstantTimeCompare(v.cookie[:], cookie[:]) == 1 })
}

// crowd ends the page that was used longest ago, and one that is being used only if all are. The lock is held.
func (d *Door) crowd() {
	victim := slices.MinFunc(d.pages, func(a, b *visit) int {
		if x, y := a.right.Used(), b.right.Used(); x != y {
			if x {
				return 1
			}
			return -1
		}
		return a.seen.Compare(b.seen)
	})
	d.end(victim, pageCrowded)
}

// end ends a page, and all that it does. The lock is held.
func (d *Door) end(v *visit, why right.Over) {
	d.pages = slices.DeleteFunc(d.pages, func(o *visit) bool { return o == v })
	v.right.End(context.Background(), why)
}

// Know returns which page has made a request. It counts as one only with cookie and token.
func (d *Door) Know(r *http.Request) (Page, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.find(r)
	if v == nil {
		return Page{}, false
	}
	v.seen = d.now()
	return Page{Guest: v.guest, Number: v.number, door: d, visit: v}, true
}

// leave ends a page, and reports whether it was the last one with its cookie.
func (d *Door) leave(r *http.Request) (last, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.find(r)
	if v == nil {
		return false, false
	}
	d.end(v, pageLeft)
	return !d.given(v.cookie), true
}

// find needs the lock. Browsers send all cookies of a name that they have, so any may be the one.
func (d *Door) find(r *http.Request) *visit {
	d.sweep()
	token := sha256.Sum256([]byte(tokenOf(r)))
	for _, c := range r.CookiesNamed(d.cookie) {
		cookie := sha256.Sum256([]byte(c.Value))
		for _, v := range d.pages {
			if subtle.ConstantTimeCompare(v.cookie[:], cookie[:])&subtle.ConstantTimeCompare(v.token[:], token[:]) == 1 {
				return v
			}
		}
	}
	return nil
}

// sweep forgets what is over. What a page does ends by itself at its time, or here, where this machine was suspended meanwhile; a
// page that nothing has used does nothing.
func (d *Door) sweep() {
	now := d.now()
	d.codes = slices.DeleteFunc(d.codes, func(c invitation) bool { return between(c.until, now) >= 0 })
	d.pages = slices.DeleteFunc(d.pages, func(v *visit) bool {
		if between(v.until, now) >= 0 {
			v.right.End(context.Background(), pageLate)
			return true
		}
		return between(v.seen, now) >= IdleTime && !v.right.Used()
	})
}

// between is how much time went by, by the monotonic clock or by that on the wall, whichever says more: the one stands still while
// this machine is suspended, and the other may be set back.
func between(a, b time.Time) time.Duration { return max(b.Sub(a), b.Round(0).Sub(a.Round(0))) }

func tokenOf(r *http.Request) string {
	if token := r.Header.Get(Token); token != "" || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return token
	}
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for word := range strings.SplitSeq(line, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(word), TokenProtocol); ok {
				return token
			}
		}
	}
	return ""
}

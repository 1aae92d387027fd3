package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long things are good for.
const (
	CodeTime    = 2 * time.Minute
	SessionTime = 12 * time.Hour
	IdleTime    = time.Hour // without a request; the page makes them by itself while it is open
)

// Bounds: the oldest goes first.
const (
	maxCodes    = 16
	maxSessions = 32
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

	mu       sync.Mutex // guards what follows
	codes    []invitation
	sessions []*visit
}

type invitation struct {
	code  hash
	until time.Time
	guest Guest
}

type visit struct {
	cookie, token hash
	until         time.Time // the end at the latest
	seen          time.Time
	guest         Guest
}

// NewDoor returns the door of a page at addr, which is host:port.
func NewDoor(addr string) *Door {
	_, port, _ := strings.Cut(addr, ":")
	return &Door{addr: addr, cookie: cookiePrefix + port}
}

// Invite returns a code that lets one page in, and until when.
func (d *Door) Invite(g Guest) (code string, until time.Time) {
	code, until = rand.Text(), time.Now().Add(CodeTime)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if len(d.codes) == maxCodes {
		d.codes = slices.Delete(d.codes, 0, 1)
	}
	d.codes = append(d.codes, invitation{sha256.Sum256([]byte(code)), until, g})
	return code, until
}

// enter takes a code for a cookie and a token. It is good once.
func (d *Door) enter(code string) (cookie, token string, ok bool) {
	sum := sha256.Sum256([]byte(code))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	i := slices.IndexFunc(d.codes, func(c invitation) bool { return subtle.ConstantTimeCompare(c.code[:], sum[:]) == 1 })
	if i < 0 {
		return "", "", false
	}
	cookie, token = rand.Text(), rand.Text()
	now := time.Now()
	if len(d.sessions) == maxSessions {
		d.sessions = slices.Delete(d.sessions, 0, 1)
	}
	d.sessions = append(d.sessions, &visit{
		cookie: sha256.Sum256([]byte(cookie)), token: sha256.Sum256([]byte(token)), until: now.Add(SessionTime), seen: now, guest: d.codes[i].guest,
	})
	d.codes = slices.Delete(d.codes, i, i+1)
	return cookie, token, true
}

// Know returns whose page has made a request. It counts as one only with cookie and token.
func (d *Door) Know(r *http.Request) (Guest, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.find(r)
	if v == nil {
		return Guest{}, false
	}
	v.seen = time.Now()
	return v.guest, true
}

// leave ends the session of a page.
func (d *Door) leave(r *http.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.find(r)
	d.sessions = slices.DeleteFunc(d.sessions, func(o *visit) bool { return o == v })
	return v != nil
}

// find needs the lock. Browsers send all cookies of a name that they have, so any may be the one.
func (d *Door) find(r *http.Request) *visit {
	d.sweep()
	token := sha256.Sum256([]byte(tokenOf(r)))
	for _, c := range r.CookiesNamed(d.cookie) {
		cookie := sha256.Sum256([]byte(c.Value))
		for _, v := range d.sessions {
			if subtle.ConstantTimeCompare(v.cookie[:], cookie[:])&subtle.ConstantTimeCompare(v.token[:], token[:]) == 1 {
				return v
			}
		}
	}
	return nil
}

// sweep forgets what is over.
func (d *Door) sweep() {
	now := time.Now()
	d.codes = slices.DeleteFunc(d.codes, func(c invitation) bool { return !now.Before(c.until) })
	d.sessions = slices.DeleteFunc(d.sessions, func(v *visit) bool { return !now.Before(v.until) || now.Sub(v.seen) >= IdleTime })
}

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

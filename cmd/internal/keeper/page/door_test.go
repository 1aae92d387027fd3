package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
)

const addr = "127.0.0.1:4711"

// with is a request as the page makes it.
func with(d *Door, cookie, token string) *http.Request {
	r := httptest.NewRequest("GET", "http://"+addr+"/v1/hosts", nil)
	r.AddCookie(&http.Cookie{Name: d.cookie, Value: cookie})
	if token != "" {
		r.Header.Set(Token, token)
	}
	return r
}

func TestACodeLetsOnePageIn(t *testing.T) {
	d := NewDoor(addr)
	want := Guest{Inventory: "/srv/hosts.yaml", AuthSock: "/run/agent"}
	code, _ := d.Invite(want)
	for _, wrong := range []string{"", "x", code + "x", strings.ToLower(code)} {
		_, _, ok := d.enter(wrong, nil)
		assert.False(t, ok, "%q", wrong)
	}
	cookie, token, ok := d.enter(code, nil)
	require.True(t, ok)
	_, _, again := d.enter(code, nil)
	assert.False(t, again, "it is good once")
	got, ok := d.Know(with(d, cookie, token))
	assert.True(t, ok)
	assert.Equal(t, want, got.Guest)
}

func TestARequestCountsWithCookieAndTokenOfOnePage(t *testing.T) {
	d := NewDoor(addr)
	in := func() (string, string) {
		code, _ := d.Invite(Guest{})
		cookie, token, ok := d.enter(code, nil)
		require.True(t, ok)
		return cookie, token
	}
	cookie, token := in()
	other, otherToken := in()
	for name, r := range map[string]*http.Request{
		"no token":             with(d, cookie, ""),
		"no cookie":            with(d, "", token),
		"the cookie as token":  with(d, cookie, cookie),
		"another page's token": with(d, cookie, otherToken),
		"another's cookie":     with(d, other, token),
	} {
		_, ok := d.Know(r)
		assert.False(t, ok, name)
	}
	r := with(d, "old", token) // what a browser kept from a page before
	r.AddCookie(&http.Cookie{Name: d.cookie, Value: cookie})
	_, ok := d.Know(r)
	assert.True(t, ok)

	r = with(d, cookie, "")
	r.Header.Set("Sec-WebSocket-Protocol", Protocol+", "+TokenProtocol+token)
	_, ok = d.Know(r)
	assert.False(t, ok, "a protocol says something for a WebSocket alone")
	r.Header.Set("Upgrade", "websocket")
	_, ok = d.Know(r)
	assert.True(t, ok)

	last, ok := d.leave(with(d, cookie, token))
	require.True(t, ok)
	assert.True(t, last)
	_, ok = d.Know(with(d, cookie, token))
	assert.False(t, ok)
	_, ok = d.leave(with(d, cookie, token))
	assert.False(t, ok)
	_, ok = d.Know(with(d, other, otherToken))
	assert.True(t, ok, "the other page stays")
}

// enter lets one more page of a browser in, which has a cookie already unless that is "".
func enter(t *testing.T, d *Door, g Guest, has string) (cookie, token string) {
	t.Helper()
	code, _ := d.Invite(g)
	var cookies []*http.Cookie
	if has != "" {
		cookies = []*http.Cookie{{Name: d.cookie, Value: "old"}, {Name: d.cookie, Value: has}}
	}
	cookie, token, ok := d.enter(code, cookies)
	require.True(t, ok)
	return cookie, token
}

func TestPagesOfOneBrowserShareItsCookie(t *testing.T) {
	d := NewDoor(addr)
	cookie, one := enter(t, d, Guest{Inventory: "/one"}, "")
	same, two := enter(t, d, Guest{Inventory: "/two"}, cookie)
	assert.Equal(t, cookie, same, "a browser sends one alone")
	assert.NotEqual(t, one, two)
	for token, want := range map[string]string{one: "/one", two: "/two"} {
		p, ok := d.Know(with(d, cookie, token))
		assert.True(t, ok)
		assert.Equal(t, want, p.Inventory, "but each page is its own guest")
	}
	other, _ := enter(t, d, Guest{}, "made up")
	assert.NotEqual(t, "made up", other, "a cookie that was not given is not taken")

	last, ok := d.leave(with(d, cookie, one))
	assert.True(t, ok)
	assert.False(t, last, "the other page needs the cookie")
	_, ok = d.Know(with(d, cookie, one))
	assert.False(t, ok)
	_, ok = d.Know(with(d, cookie, two))
	assert.True(t, ok)
	last, ok = d.leave(with(d, cookie, two))
	assert.True(t, ok)
	assert.True(t, last)
	again, _ := enter(t, d, Guest{}, cookie)
	assert.NotEqual(t, cookie, again, "it is over")
}

func TestWhatAPageDoesEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoor(addr)
		cookie, token := enter(t, d, Guest{}, "")
		_, stays := enter(t, d, Guest{}, cookie)
		use := func(token string) (context.Context, func()) {
			t.Helper()
			p, ok := d.Know(with(d, cookie, token))
			require.True(t, ok)
			return p.Use(t.Context())
		}
		stream, leave := use(token)
		defer leave()
		others, leaveOthers := use(stays)
		defer leaveOthers()
		_, ok := d.leave(with(d, cookie, token))
		require.True(t, ok)
		assert.Equal(t, pageLeft, right.Why(stream))
		assert.Empty(t, right.Why(others))

		// One that is open is used all the time, but no longer than a page may be.
		time.Sleep(SessionTime - time.Second)
		_, ok = d.Know(with(d, cookie, stays))
		assert.True(t, ok, "it has a stream")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, pageLate, right.Why(others))
		_, ok = d.Know(with(d, cookie, stays))
		assert.False(t, ok)
	})
}

func TestTheEndOfAStreamIsAUseToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoor(addr)
		cookie, token := enter(t, d, Guest{}, "")
		p, ok := d.Know(with(d, cookie, token))
		require.True(t, ok)
		_, leave := p.Use(t.Context())
		time.Sleep(2 * IdleTime)
		leave()
		time.Sleep(IdleTime - time.Second)
		_, ok = d.Know(with(d, cookie, token))
		assert.True(t, ok)
		time.Sleep(IdleTime)
		_, ok = d.Know(with(d, cookie, token))
		assert.False(t, ok)
	})
}

func TestAPageThatIsUsedIsTheLastToGo(t *testing.T) {
	d := NewDoor(addr)
	cookie, first := enter(t, d, Guest{}, "")
	p, ok := d.Know(with(d, cookie, first))
	require.True(t, ok)
	stream, leave := p.Use(t.Context())
	var pages []string
	for range maxPages {
		_, token := enter(t, d, Guest{}, cookie)
		pages = append(pages, token)
	}
	assert.Empty(t, right.Why(stream))
	_, ok = d.Know(with(d, cookie, pages[0]))
	assert.False(t, ok, "another has gone")
	leave()

	// Where all are used, the one that was used longest ago goes with all that it does.
	var streams []context.Context
	for _, token := range append(pages[1:], first) {
		p, ok := d.Know(with(d, cookie, token))
		require.True(t, ok)
		ctx, leave := p.Use(t.Context())
		defer leave()
		streams = append(streams, ctx)
	}
	enter(t, d, Guest{}, cookie)
	assert.Equal(t, pageCrowded, right.Why(streams[0]))
	assert.Empty(t, right.Why(streams[1]))
}

func TestEverythingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoor(addr)
		code, until := d.Invite(Guest{})
		assert.Equal(t, CodeTime, time.Until(until))
		time.Sleep(CodeTime)
		_, _, ok := d.enter(code, nil)
		assert.False(t, ok, "a code is good for a short time")

		code, _ = d.Invite(Guest{})
		cookie, token, _ := d.enter(code, nil)
		known := func() bool { _, ok := d.Know(with(d, cookie, token)); return ok }
		for range SessionTime/(IdleTime-time.Second) - 1 {
			time.Sleep(IdleTime - time.Second)
			require.True(t, known(), "it makes requests")
		}
		time.Sleep(IdleTime - time.Second)
		assert.True(t, known())
		time.Sleep(IdleTime - time.Second)
		assert.False(t, known(), "but not for ever")

		code, _ = d.Invite(Guest{})
		cookie, token, _ = d.enter(code, nil)
		time.Sleep(IdleTime)
		assert.False(t, known(), "it was closed")
	})
}

func TestTheOldestGoesWhereThereAreTooMany(t *testing.T) {
	d := NewDoor(addr)
	first, _ := d.Invite(Guest{})
	var last string
	for range maxCodes {
		last, _ = d.Invite(Guest{})
	}
	_, _, ok := d.enter(first, nil)
	assert.False(t, ok)
	cookie, token, ok := d.enter(last, nil)
	require.True(t, ok)
	for range maxPages {
		code, _ := d.Invite(Guest{})
		_, _, ok := d.enter(code, nil)
		require.True(t, ok)
	}
	_, ok = d.Know(with(d, cookie, token))
	assert.False(t, ok)
}

func TestTheDoorKeepsNoSecret(t *testing.T) {
	d := NewDoor(addr)
	waiting, _ := d.Invite(Guest{})
	code, _ := d.Invite(Guest{})
	cookie, token, _ := d.enter(code, nil)
	for _, c := range d.codes {
		assert.NotContains(t, string(c.code[:]), waiting)
	}
	for _, v := range d.pages {
		assert.NotEqual(t, cookie, string(v.cookie[:]))
		assert.NotEqual(t, token, string(v.token[:]))
	}
}

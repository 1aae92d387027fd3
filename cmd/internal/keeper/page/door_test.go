package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		_, _, ok := d.enter(wrong)
		assert.False(t, ok, "%q", wrong)
	}
	cookie, token, ok := d.enter(code)
	require.True(t, ok)
	_, _, again := d.enter(code)
	assert.False(t, again, "it is good once")
	got, ok := d.Know(with(d, cookie, token))
	assert.True(t, ok)
	assert.Equal(t, want, got)
}

func TestARequestCountsWithCookieAndTokenOfOnePage(t *testing.T) {
	d := NewDoor(addr)
	in := func() (string, string) {
		code, _ := d.Invite(Guest{})
		cookie, token, ok := d.enter(code)
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

	require.True(t, d.leave(with(d, cookie, token)))
	_, ok = d.Know(with(d, cookie, token))
	assert.False(t, ok)
	assert.False(t, d.leave(with(d, cookie, token)))
	_, ok = d.Know(with(d, other, otherToken))
	assert.True(t, ok, "the other page stays")
}

func TestEverythingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoor(addr)
		code, until := d.Invite(Guest{})
		assert.Equal(t, CodeTime, time.Until(until))
		time.Sleep(CodeTime)
		_, _, ok := d.enter(code)
		assert.False(t, ok, "a code is good for a short time")

		code, _ = d.Invite(Guest{})
		cookie, token, _ := d.enter(code)
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
		cookie, token, _ = d.enter(code)
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
	_, _, ok := d.enter(first)
	assert.False(t, ok)
	cookie, token, ok := d.enter(last)
	require.True(t, ok)
	for range maxSessions {
		code, _ := d.Invite(Guest{})
		_, _, ok := d.enter(code)
		require.True(t, ok)
	}
	_, ok = d.Know(with(d, cookie, token))
	assert.False(t, ok)
}

func TestTheDoorKeepsNoSecret(t *testing.T) {
	d := NewDoor(addr)
	waiting, _ := d.Invite(Guest{})
	code, _ := d.Invite(Guest{})
	cookie, token, _ := d.enter(code)
	for _, c := range d.codes {
		assert.NotContains(t, string(c.code[:]), waiting)
	}
	for _, v := range d.sessions {
		assert.NotEqual(t, cookie, string(v.cookie[:]))
		assert.NotEqual(t, token, string(v.token[:]))
	}
}

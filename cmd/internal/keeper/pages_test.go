package keeper_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// another lets one more page of the same browser in.
func (v *visitor) another(w *world) *visitor {
	v.t.Helper()
	n := w.visit()
	n.client, n.cookie = v.client, v.cookie
	resp, text := n.do("POST", "/page/enter", map[string]string{"code": n.code})
	require.Equal(v.t, http.StatusOK, resp.StatusCode, text)
	var in page.Entered
	require.NoError(v.t, json.Unmarshal([]byte(text), &in))
	n.token = in.Token
	for _, c := range resp.Cookies() { // which a browser has instead of one of the same name
		n.cookie, v.cookie = c, c
	}
	return n
}

// stream opens the events on a page.
func (v *visitor) stream() *http.Response {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), "GET", v.origin+"/v1/events", nil)
	require.NoError(v.t, err)
	req.Header.Set(page.Token, v.token)
	req.AddCookie(v.cookie)
	resp, err := v.client.Do(req)
	require.NoError(v.t, err)
	v.t.Cleanup(func() { resp.Body.Close() })
	require.Equal(v.t, http.StatusOK, resp.StatusCode)
	return resp
}

func TestTwoPagesInOneBrowserAreBothServed(t *testing.T) {
	w := start(t)
	one := w.enter()
	two := one.another(w)
	for _, v := range []*visitor{one, two} {
		resp, text := v.do("GET", "/v1/hosts", nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode, text)
	}
	resp, _ := one.do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	assert.Empty(t, resp.Cookies(), "the other one needs it")
	resp, _ = one.do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	resp, _ = two.do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	resp, _ = two.do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Len(t, resp.Cookies(), 1)
	assert.Negative(t, resp.Cookies()[0].MaxAge)
}

func TestAPageThatWasLeftHasNoTerminalAndNoStreamAnyMore(t *testing.T) {
	w := start(t, withRecordings(t))
	one := w.enter()
	two := one.another(w)
	c, stays := one.terminal("host=here"), two.terminal("host=here")
	for _, c := range []*terminal{c, stays} {
		c.line(`echo "=$((40+2))="`)
		c.see("=42=")
	}
	events := one.stream()
	resp, _ := one.do("POST", "/page/leave", nil)
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	c.ended("the page was left")
	assert.Contains(t, rest(t, events), "the page was left")
	stays.line(`echo "=$((40+3))="`)
	stays.see("=43=")
}

// What looks at much that happens must not keep a person from answering.
func TestAPageCanAnswerWhenItLooksTooOften(t *testing.T) {
	w := start(t, func(c *keeper.Config) { c.Patience(0.0001, 5) })
	v := w.enter()
	other := v.another(w)
	for i := range 6 {
		resp, _ := v.do("GET", "/v1/watch", nil)
		assert.Equal(t, i == 5, resp.StatusCode == http.StatusTooManyRequests)
	}
	for range 6 {
		v.do("GET", "/v1/approvals", nil)
	}
	resp, _ := v.do("GET", "/v1/approvals", nil)
	assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	resp, _ = v.do("GET", "/v1/approvals/x", nil)
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	resp, _ = v.do("POST", "/v1/approvals/x/reject", wire.Answer{})
	assert.NotEqual(t, http.StatusTooManyRequests, resp.StatusCode)
	resp, _ = other.do("GET", "/v1/watch", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode, "another page has its own")
	resp, _ = v.do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
}

package keeper_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// another lets one more page of the same browser in.
func another(v *keepertest.Visitor, w *keepertest.World) *keepertest.Visitor {
	v.T.Helper()
	n := w.Visit()
	n.Client, n.Cookie = v.Client, v.Cookie
	resp, text := n.Do("POST", "/page/enter", map[string]string{"code": n.Code})
	require.Equal(v.T, http.StatusOK, resp.StatusCode, text)
	var in page.Entered
	require.NoError(v.T, json.Unmarshal([]byte(text), &in))
	n.Token = in.Token
	for _, c := range resp.Cookies() { // which a browser has instead of one of the same name
		n.Cookie, v.Cookie = c, c
	}
	return n
}

// stream opens the events on a page.
func streamOf(v *keepertest.Visitor) *http.Response {
	v.T.Helper()
	req, err := http.NewRequestWithContext(v.T.Context(), "GET", v.Origin+"/v1/events", nil)
	require.NoError(v.T, err)
	req.Header.Set(page.Token, v.Token)
	req.AddCookie(v.Cookie)
	resp, err := v.Client.Do(req)
	require.NoError(v.T, err)
	v.T.Cleanup(func() { resp.Body.Close() })
	require.Equal(v.T, http.StatusOK, resp.StatusCode)
	return resp
}

func TestTwoPagesInOneBrowserAreBothServed(t *testing.T) {
	w := keepertest.Start(t)
	one := w.Enter()
	two := another(one, w)
	for _, v := range []*keepertest.Visitor{one, two} {
		resp, text := v.Do("GET", "/v1/hosts", nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode, text)
	}
	resp, _ := one.Do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	assert.Empty(t, resp.Cookies(), "the other one needs it")
	resp, _ = one.Do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	resp, _ = two.Do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	resp, _ = two.Do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Len(t, resp.Cookies(), 1)
	assert.Negative(t, resp.Cookies()[0].MaxAge)
}

func TestAPageThatWasLeftHasNoTerminalAndNoStreamAnyMore(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	one := w.Enter()
	two := another(one, w)
	c, stays := one.Terminal("host=here"), two.Terminal("host=here")
	for _, c := range []*keepertest.Terminal{c, stays} {
		c.Line(`echo "=$((40+2))="`)
		c.See("=42=")
	}
	events := streamOf(one)
	resp, _ := one.Do("POST", "/page/leave", nil)
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	endsWith(c, "the page was left")
	assert.Contains(t, keepertest.Rest(t, events), "the page was left")
	stays.Line(`echo "=$((40+3))="`)
	stays.See("=43=")
}

// What looks at much that happens must not keep a person from answering.
func TestAPageCanAnswerWhenItLooksTooOften(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.Patience(0.0001, 5) })
	v := w.Enter()
	other := another(v, w)
	for i := range 6 {
		resp, _ := v.Do("GET", "/v1/watch", nil)
		assert.Equal(t, i == 5, resp.StatusCode == http.StatusTooManyRequests)
	}
	for range 6 {
		v.Do("GET", "/v1/approvals", nil)
	}
	resp, _ := v.Do("GET", "/v1/approvals", nil)
	assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	resp, _ = v.Do("GET", "/v1/approvals/x", nil)
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	resp, _ = v.Do("POST", "/v1/approvals/x/reject", wire.Answer{})
	assert.NotEqual(t, http.StatusTooManyRequests, resp.StatusCode)
	resp, _ = other.Do("GET", "/v1/watch", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode, "another page has its own")
	resp, _ = v.Do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
}

package access_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAFailingStoreMakesNoTokenInvalid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "store.db")
	st, err := store.Open(t.Context(), store.Config{Path: path})
	require.NoError(t, err)
	t.Cleanup(func() { st.Close() })
	const secret = access.TokenPrefix + "0123456789abcdef"
	_, err = st.CreateToken(t.Context(), store.Token{Principal: "operator/bob", Role: "viewer", CreatedBy: "operator/ada"}, secret)
	require.NoError(t, err)
	callers := &access.Callers{Store: st}
	request := func(secret string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/sessions", nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		return r
	}
	c, p := callers.Remote(request(secret))
	require.Nil(t, p)
	assert.Equal(t, "operator/bob", c.Principal)
	_, p = callers.Remote(request(secret + "x"))
	require.NotNil(t, p)
	assert.Equal(t, http.StatusUnauthorized, p.Status)
	assert.False(t, p.Retriable)

	require.NoError(t, os.Rename(path, path+".away"))
	for _, s := range []string{secret, secret + "x"} {
		_, p = callers.Remote(request(s))
		require.NotNil(t, p)
		assert.Equal(t, http.StatusServiceUnavailable, p.Status, p.Detail)
		assert.Equal(t, "store", p.Code)
		assert.True(t, p.Retriable)
		assert.NotContains(t, p.Detail, filepath.Dir(path), "the caller may be a stranger")
	}
	require.NoError(t, os.Rename(path+".away", path))
	_, p = callers.Remote(request(secret))
	assert.Nil(t, p)
}

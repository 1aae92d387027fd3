package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// A key in another form, as in hexadecimal, is none: the message says what it should be and what to do.
func TestASealingKeyIsThirtyTwoBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "store.db")
	for name, key := range map[string]string{"in hexadecimal": strings.Repeat("0a", 32) + "\n", "empty": "", "short": strings.Repeat("x", 31)} {
		require.NoError(t, os.WriteFile(path+".key", []byte(key), 0o600))
		_, err := store.Open(t.Context(), store.Config{Path: path})
		require.EqualError(t, err, fmt.Sprintf("store: %s.key is not a valid sealing key: it has %d bytes, not 32; move it away, and Fairlead makes a new one (pending approvals are lost then)", path, len(key)), name)
	}
	require.NoError(t, os.Remove(path+".key"))
	s, err := store.Open(t.Context(), store.Config{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	st, err := os.Stat(path + ".key")
	require.NoError(t, err)
	require.EqualValues(t, 32, st.Size())
}

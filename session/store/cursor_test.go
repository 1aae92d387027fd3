package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// Whatever is accepted is exactly what was given out.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("AQ")
	f.Add(store.Cursor('c', 1795226400000000, "c_abcdefghijklm"))
	f.Add(store.Cursor('c', -1, "c_a"))
	f.Add(store.Cursor('s', 0, "\xff"))
	f.Fuzz(func(t *testing.T, text string) {
		at, id, err := store.ParseCursor('c', text)
		if err != nil {
			require.ErrorIs(t, err, store.ErrCursor)
			return
		}
		assert.Equal(t, text, store.Cursor('c', at, id))
		assert.NotEmpty(t, id)
		assert.GreaterOrEqual(t, at, int64(0))
	})
}

func TestACursorIsReadAsItWasGivenOut(t *testing.T) {
	at, id, err := store.ParseCursor('c', store.Cursor('c', 42, "c_ü"))
	require.NoError(t, err)
	assert.EqualValues(t, 42, at)
	assert.Equal(t, "c_ü", id)
	for name, text := range map[string]string{
		"another list":   store.Cursor('s', 42, "c_1"),
		"no id":          store.Cursor('c', 42, ""),
		"no time":        store.Cursor('c', -42, "c_1"),
		"a line break":   store.Cursor('c', 42, "c_1") + "\n",
		"padding":        store.Cursor('c', 42, "c_1") + "=",
		"no base64":      "!",
		"short":          "AWM",
		"an id with NUL": store.Cursor('c', 42, "c\x00"),
		"very long":      string(make([]byte, 1<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := store.ParseCursor('c', text)
			assert.ErrorIs(t, err, store.ErrCursor)
		})
	}
}

package screen_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

func TestKeysSendWhatTerminalsSend(t *testing.T) {
	for name, want := range map[string]string{
		"C-a": "\x01", "C-c": "\x03", "C-d": "\x04", "C-z": "\x1a", "C-[": "\x1b", `C-\`: "\x1c", "C-]": "\x1d", "C-^": "\x1e", "C-_": "\x1f",
		"C-@": "\x00", "C-Space": "\x00", "C-?": "\x7f", "c-C": "\x03", "ctrl+c": "\x03", "Control-C": "\x03", "^C": "\x03", "^[": "\x1b",
		"Enter": "\r", "return": "\r", "CR": "\r", "Tab": "\t", "BTab": "\x1b[Z", "S-Tab": "\x1b[Z", "shift+tab": "\x1b[Z", "Esc": "\x1b", "ESCAPE": "\x1b", "Space": " ",
		"Backspace": "\x7f", "BSpace": "\x7f", "Delete": "\x1b[3~", "del": "\x1b[3~", "Insert": "\x1b[2~",
		"Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "Home": "\x1b[H", "End": "\x1b[F", "PageUp": "\x1b[5~", "PgDn": "\x1b[6~", "Page-Up": "\x1b[5~",
		"F1": "\x1bOP", "f4": "\x1bOS", "F5": "\x1b[15~", "F10": "\x1b[21~", "F12": "\x1b[24~",
		"M-x": "\x1bx", "A-X": "\x1bX", "alt+b": "\x1bb", "meta-Enter": "\x1b\r", "M-Tab": "\x1b\t", "C-M-a": "\x1b\x01", "M-^C": "\x1b\x03",
		"C-Right": "\x1b[1;5C", "S-Up": "\x1b[1;2A", "M-Left": "\x1b[1;3D", "C-S-End": "\x1b[1;6F", "C-Delete": "\x1b[3;5~", "S-F5": "\x1b[15;2~", "S-F1": "\x1b[1;2P",
		"q": "q", "Q": "Q", "-": "-", "+": "+", "^": "^", "é": "é", "日": "日", "S-a": "A",
	} {
		got, err := screen.Keys(screen.Modes{}, name)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(got), name)
	}
	got, err := screen.Keys(screen.Modes{AppCursor: true}, "Up", "Home", "C-Up", "PageUp", "q")
	require.NoError(t, err)
	assert.Equal(t, "\x1bOA\x1bOH\x1b[1;5A\x1b[5~q", string(got), "in application mode")
}

func TestUnknownKeysAreToldWithNearOnes(t *testing.T) {
	for name, near := range map[string]string{
		"Entre": "Enter", "Retrun": "Return", "PageUpp": "PageUp", "Bakspace": "Backspace", "Escap": "Escape", "C-Uq": "Up", "F13": "F1", "Ctrl": "Ctrl-c",
	} {
		b, err := screen.Keys(screen.Modes{}, "a", name)
		var unknown *screen.UnknownKeyError
		require.ErrorAs(t, err, &unknown, name)
		assert.Contains(t, unknown.Near, near, name)
		assert.ErrorContains(t, err, "did you mean")
		assert.ErrorContains(t, err, "PageDown", "the list")
		assert.Nil(t, b, "nothing is sent by halves")
	}
	for _, name := range []string{"", "xyzzy plugh", "C-é", "C-Enterr", "\x03", "C-", "hello", "C-PageUpDown"} {
		_, err := screen.Keys(screen.Modes{}, name)
		assert.Error(t, err, "%q", name)
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"C-a", "M-x", "^C", "", "C-M-S-F1", "é", "-", "C--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b, err := screen.Keys(screen.Modes{}, name)
		if (err == nil) != (len(b) > 0) {
			t.Errorf("%q: %q, %v", name, b, err)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("a long error: %d", len(err.Error()))
		}
	})
}

package shell

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// feed gives e the pieces one after the other, until it hangs up.
func feed(e *escape, pieces ...string) (sent string, done []action) {
	for _, piece := range pieces {
		for rest := []byte(piece); len(rest) > 0; {
			var out []byte
			var do action
			out, do, rest = e.filter(nil, rest)
			sent += string(out)
			if do != nothing {
				done = append(done, do)
			}
			if do == hangUp {
				return sent, done
			}
		}
	}
	return sent, done
}

func TestEscapeSequencesCountAtTheBeginningOfALine(t *testing.T) {
	for name, tt := range map[string]struct {
		typed string
		sent  string
		done  []action
	}{
		"plain text":                   {"ls -l\r", "ls -l\r", nil},
		"hang up, first thing":         {"~.never", "", []action{hangUp}},
		"hang up after a line":         {"ls\r~.never", "ls\r", []action{hangUp}},
		"hang up after a newline":      {"ls\n~.", "ls\n", []action{hangUp}},
		"in the middle of a line":      {"cd ~.\r", "cd ~.\r", nil},
		"help, and then hang up":       {"~?~.", "", []action{showHelp, hangUp}},
		"twice types one":              {"~~.\r", "~.\r", nil},
		"twice, and in the line again": {"~~ ~.\r", "~ ~.\r", nil},
		"another key types both":       {"~/bin\r", "~/bin\r", nil},
		"a line of its own":            {"~\r~.", "~\r", []action{hangUp}},
		"a home directory":             {"~root\r", "~root\r", nil},
		"help goes on with the line":   {"~?ls\r", "ls\r", []action{showHelp}},
		"keys that are not text":       {"\x03~.", "\x03~.", nil},
		"suspend, and go on":           {"~\x1als\r", "ls\r", []action{suspend}},
		"what ssh has besides":         {"~Rls\r~#~&\r", "ls\r\r", []action{refuse, refuse, refuse}},
		"typed all the same":           {"~~Rls\r", "~Rls\r", nil},
		"a user whose name begins so":  {"~Bob\r", "ob\r", []action{refuse}},
		"^Z alone is the host's":       {"\x1a~\x1a", "\x1a~\x1a", nil},
	} {
		for how, pieces := range map[string][]string{"whole": {tt.typed}, "key by key": strings.Split(tt.typed, "")} {
			t.Run(name+", "+how, func(t *testing.T) {
				sent, done := feed(&escape{char: '~'}, pieces...)
				assert.Equal(t, tt.sent, sent)
				assert.Equal(t, tt.done, done)
			})
		}
	}
}

func TestWithoutAnEscapeCharacterEverythingPasses(t *testing.T) {
	sent, done := feed(&escape{}, "~.\r~?\r\x00")
	assert.Equal(t, "~.\r~?\r\x00", sent)
	assert.Empty(t, done)
	sent, done = feed(&escape{char: '%'}, "~.\r%.")
	assert.Equal(t, "~.\r", sent)
	assert.Equal(t, []action{hangUp}, done)
}

func TestTheEscapeFlagTakesOneCharacterOrNone(t *testing.T) {
	var c byte = '~'
	f := escapeFlag{&c}
	assert.Equal(t, "~", f.String())
	require.NoError(t, f.Set("^"))
	assert.Equal(t, byte('^'), c)
	require.NoError(t, f.Set("none"))
	assert.Equal(t, "none", f.String())
	require.NoError(t, f.Set("^a"))
	assert.Equal(t, byte(1), c)
	assert.Equal(t, "^A", f.String())
	assert.Contains(t, (&escape{char: 1}).help(), "^A.  hang up")
	assert.Contains(t, (&escape{char: '%'}).help(), "(%B %C %R %V %v %# %&) are not supported")
	for _, v := range []string{"", "ab", ".", "?", " ", "\r", "é", "^1", "^ab", "^`", "^\x7f"} {
		assert.Error(t, f.Set(v), "%q", v)
	}
}

func TestWhatIsTypedIsReadWithoutEscapeSequences(t *testing.T) {
	var shown strings.Builder
	hungUp, suspended := 0, 0
	in := Escapes(iotest.OneByteReader(strings.NewReader("a\r~?~~b\r~\x1a~.never")), '~', &shown, func() { hungUp++ }, func() { suspended++ })
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "a\r~b\r", string(got))
	assert.Equal(t, 1, hungUp)
	assert.Equal(t, 1, suspended)
	assert.Contains(t, shown.String(), "hang up")

	got, err = io.ReadAll(Escapes(strings.NewReader("~.\r~."), 0, nil, nil, nil))
	require.NoError(t, err)
	assert.Equal(t, "~.\r~.", string(got))
}

func FuzzEscapeDependsOnTheBytesAndNotOnTheirPieces(f *testing.F) {
	f.Add([]byte("ls\r~?~~x\r~."), 3)
	f.Add([]byte("\n~\n~."), 1)
	f.Fuzz(func(t *testing.T, typed []byte, size int) {
		if size < 1 || size > len(typed) {
			size = max(1, len(typed))
		}
		whole, did := feed(&escape{char: '~'}, string(typed))
		var pieces []string
		for p := typed; len(p) > 0; {
			n := min(size, len(p))
			pieces = append(pieces, string(p[:n]))
			p = p[n:]
		}
		parts, did2 := feed(&escape{char: '~'}, pieces...)
		if whole != parts || !assert.ObjectsAreEqual(did, did2) {
			t.Fatalf("%q gives %q whole and %q in pieces of %d", typed, whole, parts, size)
		}
		if !bytes.ContainsRune(typed, '~') && whole != string(typed) {
			t.Fatalf("%q became %q", typed, whole)
		}
	})
}

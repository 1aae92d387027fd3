package framing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// A feeder says which program it is and where its pipe is, or that there can be none, on a line behind the nonce.
func TestWhatAFeederSays(t *testing.T) {
	const mark = "\x1e"
	n := tokNonce.String()
	for said, want := range map[string]struct {
		feeder        framing.Feeder
		ready, failed bool
	}{
		"":                            {},
		"motd\n":                      {},
		mark + n:                      {},
		mark + n + "Pperl;/tmp/p":     {}, // the rest is on its way
		mark + n + "\n":               {},
		mark + n + "X\n":              {},
		mark + n + "Pperl;/tmp/p\n":   {framing.Feeder{Path: "/tmp/p", Perl: true}, true, false},
		mark + n + "Pperl;/tmp/p\r\n": {framing.Feeder{Path: "/tmp/p", Perl: true}, true, false},
		mark + n + "Psh;/a;b\nmore":   {framing.Feeder{Path: "/a;b"}, true, false},
		"x" + mark + n + "\n" + mark + n + "Psh;/p\n": {framing.Feeder{Path: "/p"}, true, false},
		mark + n + "Pperl\n":                          {framing.Feeder{Perl: true}, false, true},
		mark + n + "Q\n":                              {framing.Feeder{}, false, true},
		mark + tokA.String() + "Psh;/p\n":             {},
	} {
		f, ready, failed := framing.Feeding([]byte(said), tokNonce)
		assert.Equal(t, want.ready, ready, "%q", said)
		assert.Equal(t, want.failed, failed, "%q", said)
		if ready {
			assert.Equal(t, want.feeder, f, "%q", said)
		}
	}
}

// The first line of a frame says the mode, and holds a command that is short.
func TestTheFirstLineOfAFrame(t *testing.T) {
	const long = 500 // bytes from which on a command begins on the next line
	for _, tt := range []struct {
		cmd   framing.Command
		want  string
		lines int
	}{
		{framing.Command{}, "- ''", 1},
		{framing.Command{Script: "ls", Mode: framing.Merged}, "m 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Merged, Stdin: "/tmp/in"}, "m/tmp/in 'ls'", 1},
		{framing.Command{Script: "ls", Stdin: "/tmp/in"}, "/tmp/in 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Tty}, "t 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Interactive, Rows: 1, Cols: 1}, "x1:1 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Interactive, Rows: 50, Cols: 132}, "x50:132 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Interactive, Rows: 50}, "x24:80 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Interactive, Cols: 132}, "x24:80 'ls'", 1},
		{framing.Command{Script: "ls", Mode: framing.Interactive, Rows: -1, Cols: 132}, "x24:80 'ls'", 1},
		{framing.Command{Script: "ls", Status: 7}, ":7:- 'ls'", 1},
		{framing.Command{Script: "ls", Status: 256}, "- 'ls'", 1},
		{framing.Command{Script: strings.Repeat("a", long-1)}, "- '" + strings.Repeat("a", long-1) + "'", 1},
		{framing.Command{Script: strings.Repeat("a", long)}, "-", 2},
		{framing.Command{Script: "a\nb"}, "-", 3},
	} {
		text, err := framing.Append(nil, framing.Bash, tokA, tt.cmd)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(text), "\x1e\n"), "\n")
		_, got, found := strings.Cut(lines[0], " ")
		require.True(t, found, lines[0])
		assert.Equal(t, tt.want, got)
		assert.Len(t, lines, tt.lines, "%q", text)
	}
}

// Numbers in $'…' end where their digits or their places do.
func TestValuesOfASnapshotAreReadToTheLetter(t *testing.T) {
	for quoted, want := range map[string]string{
		`$'\x414'`: "A4", `$'\x4g'`: "\x04g", `$'\xfF'`: "\xff", `$'\x[41]4'`: "A4", `$'\1014'`: "A4", `$'\18'`: "\x018", `$'\07'`: "\a",
		`$'\u00e99'`: "é9", `$'\U000000e99'`: "é9", `$'\e\E\a'`: "\x1b\x1b\a", `$'\C-a\C-?\M-a\M-\C-a'`: "\x01\x7f\xe1\x81", `$'\'\\'`: `'\`,
		`"a\"\$\b"`: `a"$\b`, `a\ b`: "a b", `'a'"b"c`: "abc", "\"a\\\nb\"": "ab", `"("`: "(", `'('`: "(", `\(`: "(",
	} {
		st, ok := framing.ParseState("0022\nexport A=" + quoted + "\n")
		require.True(t, ok, quoted)
		assert.Equal(t, map[string]string{"A": want}, st.Vars, quoted)
	}
	st, ok := framing.ParseState("0022\nexport 1A=x A-B=x\nexport -T PATH path=( /bin '/a b'\n /c )\nexport C=1\n")
	require.True(t, ok)
	assert.Equal(t, map[string]string{"PATH": "/bin:/a b:/c", "C": "1"}, st.Vars)
	for _, text := range []string{
		"0022\nexport -T PATH path=( /bin\n", "0022\nexport -T PATH path=( '/bin\n", "0022\nexport A=$'\\x[zz]'\n", "0022\nexport A=$'\\x[141]'\n", "0022\nexport A=$'\\U7fffffff'\n",
		"0022\nexport A=$'\\u'\n", "0022\nexport A=$'\\C'\n", "0022\nexport A=$'\\Ca'\n", "0222222\n", "-1\n",
	} {
		_, ok := framing.ParseState(text)
		assert.False(t, ok, "%q", text)
	}
}

// A lone sign is quoted: shells take it for the beginning of options.
func TestALoneSignIsQuoted(t *testing.T) {
	for text, want := range map[string]string{"-": "'-'", "+": "'+'", "--": "--", "+x": "+x", "a'": `'a'\'`, "''": `\'\'`, "a'b'c": `'a'\''b'\''c'`,
		"azAZ09_-./,+@:": "azAZ09_-./,+@:", "`": "'`'", "{": "'{'", "[": "'['", ";": "';'", "*": "'*'"} {
		got, err := framing.Quote(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := framing.Quote("ab\x00")
	var bad *framing.QuoteError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, 2, bad.Offset)
	for words, want := range map[string]string{"if": `\if`, "./if": "./if", "a b": "'a b'", "if then": `\if then`} {
		got, err := framing.QuoteWords(strings.Split(words, " "))
		if words == "a b" {
			got, err = framing.QuoteWords([]string{words})
		}
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

// The bounds of a status: what a signal's number can be, and what is only a code.
func TestASignalIsReadFromACodeThatCanBeOne(t *testing.T) {
	for code, signal := range map[string]int{"128": 0, "129": 1, "137": 9, "192": 64, "193": 0, "255": 0} {
		got := steps(t, false, nil, wire("<s>X"+code+";?\n"))
		require.Len(t, got, 1)
		assert.Equal(t, signal, got[0].exit.Signal, code)
	}
}

// A stream may not end within a mark, a record or a field, also where no frame runs.
func TestAStreamThatEndsWithinAMarkIsTorn(t *testing.T) {
	for text, torn := range map[string]bool{"": false, "text": false, "<s>e3;ab": true, "<s>e3": true, "<n>C/dir": true, "<s>e2;ab": false, "<s>X3;": true} {
		d := framing.NewDecoder(tokShell, tokNonce, false)
		d.Feed(wire(text))
		for {
			if _, ok := d.Next(); !ok {
				break
			}
		}
		if err := d.Close(); torn {
			require.NotNil(t, err, text)
			assert.ErrorIs(t, err, framing.ErrTorn)
		} else {
			assert.Nil(t, err, text)
		}
	}
}

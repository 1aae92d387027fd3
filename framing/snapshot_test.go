package framing_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// awkward are values that shells quote each in its own way.
var awkward = map[string]string{
	"A": "1", "EMPTY": "", "BLANKS": " a  b ", "QUOTES": `it's "quoted" \ and $x and ` + "`y`", "TEXT": "one\ntwo\n", "CONTROL": "a\x01\x1b[31m\tb\r",
	"BYTES": "\xff\xfe", "UTF8": "grüße 漢字", "BRACES": "{a,b} *?[x] ~ # ! & ; < > |", "DECLARE": "x\nexport B='2'\ndeclare -x C=\"3\"", "TAIL": "trailing\\", "DOLLAR": "$'x'", "PAREN": "(",
}

func TestASnapshotHoldsWhatIsExportedAndIsGivenToAnotherShell(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		var script strings.Builder
		for name, value := range awkward {
			q, err := framing.Quote(value)
			require.NoError(t, err)
			script.WriteString("export " + name + "=" + q + "\n")
		}
		s.ok(script.String() + "umask 027; unset MANPAGER; NOT=exported; f() { :; }; export NOVALUE")
		text := s.output(framing.SnapshotScript(s.hello.Dialect))
		st, ok := framing.ParseState(text)
		require.True(t, ok, "%q", text)
		got := maps.Clone(st.Vars)
		maps.DeleteFunc(got, func(name, _ string) bool { _, ours := awkward[name]; return !ours })
		for name, value := range got {
			assert.Equal(t, awkward[name], value, name)
		}
		assert.Len(t, got, len(awkward))
		assert.NotContains(t, st.Vars, "NOT")
		assert.NotContains(t, st.Vars, "MANPAGER")

		next := start(t, sh)
		now, ok := framing.ParseState(next.output(framing.SnapshotScript(next.hello.Dialect)))
		require.True(t, ok)
		fix, umask, vars, err := framing.RestoreScript(next.hello.Dialect, now, st)
		require.NoError(t, err)
		assert.True(t, umask)
		assert.True(t, vars)
		next.ok(fix)
		text = next.output(framing.SnapshotScript(next.hello.Dialect))
		same, ok := framing.ParseState(text)
		require.True(t, ok, "%q", text)
		fix, umask, vars, err = framing.RestoreScript(next.hello.Dialect, same, st)
		require.NoError(t, err)
		assert.Empty(t, fix)
		assert.False(t, umask || vars)
		assert.Equal(t, awkward["QUOTES"]+"|"+awkward["TEXT"]+"|unset", next.output(`printf '%s|%s|%s' "$QUOTES" "$TEXT" "${MANPAGER-unset}"`))
	})
}

func TestASnapshotIsTakenAroundTheCommandsOfTheUser(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.run("export A=1; umask() { echo 0777; }; alias export=false; PATH=/nonexistent")
		text := s.output(framing.SnapshotScript(s.hello.Dialect))
		st, ok := framing.ParseState(text)
		require.True(t, ok, "%q", text)
		assert.Equal(t, "1", st.Vars["A"])
		assert.Equal(t, "/nonexistent", st.Vars["PATH"])
		assert.NotEqual(t, "0777", st.Umask)
	})
}

func TestWhatIsNoSnapshotIsRefused(t *testing.T) {
	for _, text := range []string{"", "0022", "x\nexport A=1\n", "0022\nexport A='1\n", "0022\nexport A=$'\\xzz'\n", "0022\nexport A=\"1\n", "99\n"} {
		_, ok := framing.ParseState(text)
		assert.False(t, ok, text)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add("0022\ndeclare -x A=\"1\"\nexport B='x'\\''y'\ntypeset -x C=$'a\\n\\x41\\u00e9'\n")
	f.Fuzz(func(t *testing.T, text string) {
		st, ok := framing.ParseState(text)
		if !ok {
			return
		}
		script, _, _, err := framing.RestoreScript(framing.Bash, framing.State{}, st)
		if err == nil && strings.Contains(script, "\x00") {
			t.Error("a NUL byte reached the script")
		}
	})
}

// A value that is not whole is none, wherever it was cut.
func TestASnapshotThatIsCutInAValueIsRefused(t *testing.T) {
	for _, value := range []string{`$'\x41\101\u0041\U00000041\n'`, `"\"a\$"`, `'a'`} {
		text := "0022\nexport A=" + value
		_, ok := framing.ParseState(text + "\n")
		require.True(t, ok, text)
		for n := strings.IndexAny(text, `'"`) + 1; n < len(text); n++ {
			_, ok := framing.ParseState(text[:n])
			assert.False(t, ok, "%q", text[:n])
		}
	}
}

func TestVariablesOfTheConnectionAreLeftAlone(t *testing.T) {
	own := map[string]string{"PWD": "/a", "SSH_TTY": "/dev/pts/1", "_fl_x": "1", "SHLVL": "2"}
	for _, tt := range []struct{ now, want map[string]string }{{own, nil}, {nil, own}, {own, map[string]string{"PWD": "/b", "SHLVL": "3"}}} {
		script, umask, vars, err := framing.RestoreScript(framing.Bash, framing.State{Vars: tt.now}, framing.State{Vars: tt.want})
		require.NoError(t, err)
		assert.Empty(t, script)
		assert.False(t, umask || vars)
	}
}

func TestWhatOfTheStateDiffersIsSaid(t *testing.T) {
	a, b := map[string]string{"A": "1", "PWD": "/a"}, map[string]string{"A": "1 2", "PWD": "/b"}
	for _, tt := range []struct {
		now, want   framing.State
		script      string
		umask, vars bool
	}{
		{framing.State{Umask: "0022", Vars: a}, framing.State{Umask: "022", Vars: a}, "", false, false},
		{framing.State{Umask: "0022", Vars: a}, framing.State{Vars: a}, "", false, false},
		{framing.State{Umask: "0022", Vars: a}, framing.State{Umask: "0027", Vars: a}, "\\builtin umask 0027\n", true, false},
		{framing.State{Vars: a}, framing.State{Vars: b}, "\\builtin export A='1 2'\n", false, true},
		{framing.State{}, framing.State{Vars: a}, "\\builtin export A=1\n", false, true},
		{framing.State{Vars: a}, framing.State{}, "\\builtin unset A\n", false, true},
	} {
		script, umask, vars, err := framing.RestoreScript(framing.Bash, tt.now, tt.want)
		require.NoError(t, err)
		assert.Equal(t, tt.script, script)
		assert.Equal(t, tt.umask, umask, script)
		assert.Equal(t, tt.vars, vars, script)
	}
	_, umask, vars, err := framing.RestoreScript(framing.Bash, framing.State{}, framing.State{Umask: "0022", Vars: map[string]string{"A": "\x00"}})
	require.Error(t, err)
	assert.False(t, umask || vars)
}

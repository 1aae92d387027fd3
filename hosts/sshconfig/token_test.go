package sshconfig_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestValuesAreSplitLikeOpenSSHDoes(t *testing.T) {
	for in, want := range map[string][]string{
		`a b`:             {"a", "b"},
		"a\tb  c":         {"a", "b", "c"},
		`"/a b" /c`:       {"/a b", "/c"},
		`'a "b' c`:        {`a "b`, "c"},
		`a#b #c d`:        {"a#b"},
		`"#a" b`:          {"#a", "b"},
		`"a #b"`:          {"a #b"},
		`#a`:              nil,
		`a\ b`:            {"a b"},
		`"a\ b"`:          {`a\ b`},
		`a\"b`:            {`a"b`},
		`it\'s b`:         {"it's", "b"},
		`a\\b`:            {`a\b`},
		`a\nb`:            {`a\nb`},
		`"a"'b'c`:         {"abc"},
		`""`:              {""},
		`"" a`:            {"", "a"},
		`C:\keys\id`:      {`C:\keys\id`},
		`sh -c 'echo #x'`: {"sh", "-c", "echo #x"},
	} {
		got, ok := sshconfig.SplitArgs(in)
		require.True(t, ok, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{`"a`, `a'b`, `it's`, `"a\"`} {
		_, ok := sshconfig.SplitArgs(in)
		assert.False(t, ok, in)
	}
}

func TestKeywordsEndAtBlanksOrOneEqualsSign(t *testing.T) {
	for in, want := range map[string][2]string{
		"Port 22":    {"Port", "22"},
		"Port\t22":   {"Port", "22"},
		"Port=22":    {"Port", "22"},
		"Port = 22":  {"Port", "22"},
		"Port == 2":  {"Port", "= 2"},
		`"Port" 22`:  {"Port", "22"},
		`a,"b c",d `: {"a,b c", ",d "},
	} {
		word, rest, ok := sshconfig.CutWord(in)
		require.True(t, ok, in)
		assert.Equal(t, want, [2]string{word, rest}, in)
	}
	_, _, ok := sshconfig.CutWord(`a"b`)
	assert.False(t, ok)
}

func TestPatternLists(t *testing.T) {
	assert.True(t, sshconfig.MatchList("web", "db,web", false))
	assert.False(t, sshconfig.MatchList("web", "*,!web", false))
	assert.False(t, sshconfig.MatchList("web", "!db", false), "only negations match nothing")
	assert.True(t, sshconfig.MatchList("web", "WEB", true))
}

// The library may only be trusted with lines that it and our own tokeniser read alike.
func TestTheLibraryAndOurTokeniserAgreeOnPlainLines(t *testing.T) {
	plain := 0
	for _, s := range []string{
		"Port 22", "  Port 22", "\tPort\t22", "Port=22", "Port = 22", "Port =22", "IdentityFile ~/.ssh/id",
		"UserKnownHostsFile /a /b", "UserKnownHostsFile /a\t/b", "SendEnv LANG LC_*", "ProxyCommand nc -X 5 %h %p",
		"SetEnv A=b C=d", "User x=y", "port  22   ",
	} {
		s = strings.TrimRight(s, " ")
		require.True(t, sshconfig.IsPlain(s), s)
		plain++
		k1, r1, a1, ok1 := sshconfig.ParseLine(s)
		k2, r2, a2, ok2 := sshconfig.ParseWithLibrary(s)
		require.True(t, ok1 && ok2, s)
		assert.Equal(t, k1, k2, s)
		assert.Equal(t, r1, r2, s)
		assert.Equal(t, a1, a2, s)
	}
	assert.NotZero(t, plain)
	for _, s := range []string{`IdentityFile a#b`, `IdentityFile "a b"`, `IdentityFile a\b`, `IdentityFile it's`,
		"Port", "Port=", "Port == 2", "", "#x", "User ü", "User a\rb", `"Port" 2`} {
		assert.False(t, sshconfig.IsPlain(s), s)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"Port 22", `IdentityFile "a b"`, "Port\t=\t22", "x==y", "a=\tb", "\x00", "Host a #b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n\x00") || strings.HasPrefix(s, "\xef\xbb\xbf") {
			return
		}
		s = strings.TrimRight(s, " \t\r\n\f")
		if !sshconfig.IsPlain(s) {
			_, _, _, _ = sshconfig.ParseLine(s)
			return
		}
		k1, r1, a1, ok1 := sshconfig.ParseLine(s)
		k2, r2, a2, ok2 := sshconfig.ParseWithLibrary(s)
		if !ok1 || !ok2 {
			t.Fatalf("plain line %q refused: %v %v", s, ok1, ok2)
		}
		if strings.EqualFold(k1, "include") {
			return // read from disk
		}
		assert.Equal(t, []any{k1, r1, a1}, []any{k2, r2, a2})
	})
}

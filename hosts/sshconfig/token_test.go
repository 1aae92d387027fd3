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

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		s, pat string
		want   bool
	}{
		{"web", "web", true}, {"web", "web?", false}, {"web1", "web?", true}, {"web12", "web?", false},
		{"web1", "web*", true}, {"web", "web*", true}, {"web", "*", true}, {"", "*", true}, {"", "?", false},
		{"a.b.c", "*.c", true}, {"a.b.c", "a*b*c", true}, {"a.b.c", "a*d*c", false}, {"Web", "web", false},
		{"web", "[w]eb", false}, {"abcb", "*b", true}, {"ab", "a**b**", true},
	} {
		assert.Equal(t, c.want, sshconfig.MatchPattern(c.s, c.pat), "%q against %q", c.s, c.pat)
	}
	assert.True(t, sshconfig.MatchList("web", "db,web", false))
	assert.False(t, sshconfig.MatchList("web", "*,!web", false))
	assert.False(t, sshconfig.MatchList("web", "!db", false), "only negations match nothing")
	assert.True(t, sshconfig.MatchList("web", "WEB", true))
}

func TestPatternsOfManyStarsTakeNoExponentialTime(t *testing.T) {
	assert.False(t, sshconfig.MatchPattern(strings.Repeat("a", 5000), strings.Repeat("a*", 200)+"b"))
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

func FuzzMatchPattern(f *testing.F) {
	f.Add("web1", "web?")
	f.Add("a.b", "*.*")
	f.Fuzz(func(t *testing.T, s, pat string) {
		if len(s) > 200 || len(pat) > 200 {
			return
		}
		assert.True(t, sshconfig.MatchPattern(s, "*"))
		if !strings.ContainsAny(s, "*?") {
			assert.True(t, sshconfig.MatchPattern(s, s))
		}
		if sshconfig.MatchPattern(s, pat) {
			assert.True(t, sshconfig.MatchPattern(s, pat+"*"))
			assert.True(t, sshconfig.MatchPattern(s+"x", pat+"?"))
		}
	})
}

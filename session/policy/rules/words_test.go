package rules_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestWordsThatAreKnownBeforeTheyRun(t *testing.T) {
	for src, want := range map[string]string{
		"abcdefghijklmnopqrstuvwxyz": "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "_-./:,+@%": "_-./:,+@%",
		"a=b": "a=b", `a\=b`: "a=b", "''": "", `""`: "", `'a'"b"c\d`: "abcd", `'$x'`: "$x", `"a\b"`: `a\b`, `"\\"`: `\`, `"\""`: `"`, `"\$x"`: "$x", "\"\\`x\"": "`x", `"a\"b\"c"`: `a"b"c`, `\~`: "~", `\!`: "!", `\$x`: "$x", "größe": "größe", "À": "À", `"a'b"`: "a'b", `'a"b'`: `a"b`, `\*`: "*",
		`x=`: "x=", `"\a\\b"`: `\a\b`, "'a b'": "a b",
	} {
		words, ok := rules.SimpleLiteral("deploy "+src, "bash")
		assert.True(t, ok, src)
		assert.Equal(t, []string{"deploy", want}, words, src)
	}
	for _, src := range []string{"=x", "~", "~x", "*", "a?", "[a]", "{a,b}", "a{1..2}", "a^b", "a!b", "$x", `"$x"`, "$(x)", "`x`", `"$(x)"`, `$'a'`, `$"a"`, "a#b", `\` + "\x7f", "$((1))", "<(x)", `"a"$x`, "@(a)"} {
		_, ok := rules.SimpleLiteral("deploy "+src, "bash")
		assert.False(t, ok, src)
	}
	for _, shell := range []string{"", "sh", "bash", "zsh", "mksh", "ksh", "dash"} {
		_, ok := rules.SimpleLiteral("deploy x #\\\nother", shell)
		assert.False(t, ok, "a comment that goes on, in %s", shell)
	}
}

// What counts as known is what every shell makes of it.
func TestKnownWordsAreThoseOfEveryShell(t *testing.T) {
	pieces := []string{"a", "B", "7", "_", "-", ".", "/", ":", ",", "+", "@", "%", "=", "~", "*", "?", "!", "^", "#", "\\", "\\\\", "'", "\"", "`", "$", "$x", "{", "}", "[", "]", "ö", "é", "\\$", "\\\"", "\\`", "\\a", "'b c'", `"d e"`, `"\\"`, `"\$x"`, `"\q"`}
	rng := rand.New(rand.NewPCG(3, 5))
	var script strings.Builder
	script.WriteString("all=\np() { for w do all=\"$all<$w>\"; done; all=\"$all|\"; }\n") // without printf, which is a program of its own in mksh
	var want []string
	for range 3000 {
		var w strings.Builder
		for range 1 + rng.IntN(4) {
			w.WriteString(pieces[rng.IntN(len(pieces))])
		}
		words, ok := rules.SimpleLiteral("deploy "+w.String(), "bash")
		if !ok || len(words) != 2 {
			continue
		}
		script.WriteString("p " + w.String() + "\n")
		want = append(want, "<"+words[1]+">")
	}
	require.Greater(t, len(want), 500)
	script.WriteString("printf %s \"$all\"\n")
	for _, argv := range [][]string{{"bash"}, {"dash"}, {"zsh", "-f"}, {"mksh"}, {"busybox", "ash"}, {"ksh93"}} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				needs.Part(t, "%s is not installed", argv[0])
			}
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = t.TempDir()
			cmd.Args = append(cmd.Args, "-c", script.String())
			out, err := cmd.Output()
			require.NoError(t, err)
			got := strings.Split(strings.TrimSuffix(string(out), "|"), "|")
			assert.Equal(t, want, got)
		})
	}
}

// Doubts about the bytes of a script belong to none of its words, so that no rule about words answers them.
func TestWhatCannotBeReadSurelyIsNotAllowedByItsWords(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "programs: ['deploy *']"))})
	for command, want := range map[string][2]bool{ // sent at once, typed into
		"deploy a": {true, true}, "deploy größe": {true, true}, "deploy 'a!b'": {true, false}, "deploy 'a^b'": {true, false}, "deploy '^a'": {true, false},
		"deploy a\u00a0b": {}, "deploy 'a\u00a0b'": {}, "deploy 'a\u2003b'": {}, "deploy 'a\u2800b'": {}, "deploy 'a\u3164b'": {}, "deploy 'a\u034fb'": {}, "deploy 'a\u200bb'": {}, "deploy 'a\ufe0fb'": {}, "deploy '\ue000'": {}, "deploy a\u2003b": {}, "deploy a\u3000": {}, "deploy a\u200b": {}, "deploy \xff": {}, "deploy 'a\xffb'": {}, "deploy '$\\\nx'": {}, "deploy '`\\\nx'": {}, "deploy a\u0085": {}, "deploy a\ue000": {},
	} {
		for i, typed := range []bool{false, true} {
			d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash", Interactive: typed})
			assert.Equal(t, want[i], d.Verdict == policy.Allow, "%q typed %v: %s", command, typed, d.Reason)
		}
	}
}

func TestStrictModeRefusesWhatShellsMean(t *testing.T) {
	for b := range 128 {
		a := "x" + string(rune(b))
		plain := b >= ' ' && b < 0x7f && !strings.ContainsRune("|&;<>()$`\\\"'*?[]#!{}^", rune(b))
		assert.Equal(t, plain, rules.Structured("ls", []string{"a", a}, rules.Limits{Strict: true}) == nil, "%q", a)
		assert.Equal(t, b != 0, rules.Structured("ls", []string{a}, rules.Limits{}) == nil, "%q", a)
	}
	assert.Error(t, rules.Structured("ls", []string{"\x00a"}, rules.Limits{}))
	assert.ErrorContains(t, rules.Structured("ls", []string{"a", "\x00"}, rules.Limits{}), "argument 2 holds a NUL byte")
	assert.NoError(t, rules.Structured("ls", []string{"a~b", "a.b", "größe"}, rules.Limits{Strict: true}))
	assert.Error(t, rules.Structured("ls", []string{"~"}, rules.Limits{Strict: true}))
}

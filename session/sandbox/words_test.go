package sandbox_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// wordOf reads one word of a language; nil where it is more or less than one.
func wordOf(lang syntax.LangVariant, text string) *syntax.Word {
	f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader("x "+text), "")
	if err != nil || len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background {
		return nil
	}
	c, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) != 2 {
		return nil
	}
	return c.Args[1]
}

func TestAWordIsLiteralOrItIsNot(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "''": "", `""`: "", `a\ b`: "a b", `\*`: "*", `\~`: "~", `\=x`: "=x", "a\\\nb": "ab", `'$x'`: "$x", `"a'b"`: "a'b", `"\$x"`: "$x", `"\x"`: `\x`, `"\\"`: `\`, "\"a\\\nb\"": "ab",
		"[": "[", "[[": "[[", "{}": "{}", "a{}b": "a{}b", "=": "=", "==": "==", "a=b": "a=b", "a=": "a=", "a~": "a~", "a/~": "a/~", "a:b": "a:b", `"~"`: "~", `"*"`: "*", "'a'b\"c\"": "abc", "x}": "x}", "%": "%", "+a": "+a",
	} {
		word := wordOf(syntax.LangBash, text)
		require.NotNil(t, word, text)
		got, sure := sandbox.Literal(word)
		assert.True(t, sure, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"*", "a*", "?", "[a]", "a[", "$x", "a$x", `"$x"`, `"a$(b)"`, "$(a)", "`a`", "~", "~a", "a=~", "a=~/x", "a:~", ":~", "'a'=~", "a:~/x", "''~", "=ls", "===", "''=ls", `""=ls`, "=''ls", "\\\n=ls", "{a,b}", "a{b,c}", "{a..c}", "{", "$'a'", `$"a"`, "<(a)", "a{}*", "@(a)", "'a'*", "*'a'", `"a"$x`, `$x"a"`, `a\`, `'a'\`,
	} {
		word := wordOf(syntax.LangBash, text)
		require.NotNil(t, word, text)
		_, sure := sandbox.Literal(word)
		assert.False(t, sure, text)
	}
	_, sure := sandbox.Literal(nil)
	assert.False(t, sure)
}

// Where a word is said to be certain, the shells make the same of it.
func TestALiteralWordIsTheSameToTheShells(t *testing.T) {
	pieces := []string{"a", "b", "/", ".", "~", "=", ":", "'", "'", `"`, `"`, `\`, `\`, "$", "{", "}", "{}", ",", "*", "[", "]", "?", "!", "%", "+", "-", "@", "^", "\\\n", " ", "é"}
	for _, sh := range shellsToTry {
		t.Run(sh.name, func(t *testing.T) {
			need(t, sh.argv[0])
			lang := map[string]syntax.LangVariant{"bash": syntax.LangBash, "zsh": syntax.LangZsh, "mksh": syntax.LangMirBSDKorn, "ksh": syntax.LangMirBSDKorn}[sh.name]
			if sh.name == "dash" || sh.name == "ash" {
				lang = syntax.LangPOSIX
			}
			rnd := rand.New(rand.NewPCG(5, uint64(len(sh.name))))
			var texts, want []string
			for range 6_000 {
				var b strings.Builder
				for range 1 + rnd.IntN(6) {
					b.WriteString(pieces[rnd.IntN(len(pieces))])
				}
				word := wordOf(lang, b.String())
				if word == nil {
					continue
				}
				// zsh ends where one of these is no part of a test, and a } where nothing was opened.
				if text, sure := sandbox.Literal(word); sure && !(sh.name == "zsh" && (slices.Contains([]string{"=", "==", "[", "[["}, text) || strings.Contains(text, "}"))) {
					source := ("x " + b.String())[word.Pos().Offset():word.End().Offset()] // a newline may follow
					texts, want = append(texts, source), append(want, text)
				}
			}
			require.Greater(t, len(texts), 250)
			dir := scratch(t) // so that a pattern finds nothing, and what is a command's name is none
			for ; len(texts) > 0; texts, want = texts[min(len(texts), 500):], want[min(len(want), 500):] {
				n := min(len(texts), 500)
				cmd := exec.CommandContext(t.Context(), sh.argv[0], append(sh.argv[1:len(sh.argv):len(sh.argv)], `printf '%s\0' `+strings.Join(texts[:n], " "))...)
				cmd.Dir = dir
				var said strings.Builder
				cmd.Stderr = &said
				out, err := cmd.Output()
				require.NoError(t, err, said.String())
				require.Equal(t, want[:n], strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
			}
		})
	}
}

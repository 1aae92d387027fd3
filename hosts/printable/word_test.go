package printable

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Shells give back each text: what a person copies from an error is what the error is about.
func TestAWordIsOneWordForEachShell(t *testing.T) {
	for _, text := range []string{
		"web1", "web[1-3]", "web[01-12] & !web07", "(a,b)", "@web", "~^db", "it's", "$HOME", "`id`", `a\b`, `"q"`, "", " ", "a b", "-x", "--", "=ls", "a=b", "#x", "*", "?", "{a,b}", "a;b",
		"a|b", "<a", ">a", "^x", "%h:%p", "j_…", "é", "!!", "a\nb", "\x1b[31m'\\x", "\xff", "a\u200bb", "tab\there", "…\n",
	} {
		word := Word(text)
		assert.NotContains(t, word, "\n")
		for _, shell := range []string{"bash", "zsh", "dash", "ksh", "mksh", "fish"} {
			path, err := exec.LookPath(shell)
			hidden := len(word) > 1 && word[:2] == "$'"
			if err != nil || hidden && (shell == "dash" || shell == "fish") {
				continue
			}
			out, err := exec.Command(path, "-c", "printf '%s.' x"+word+" "+word).Output()
			require.NoErrorf(t, err, "%s: %s", shell, word)
			assert.Equalf(t, "x"+text+"."+text+".", string(out), "%s: %s", shell, word)
		}
	}
	for _, text := range []string{"web1", "@web", "web1.example.com:22", "user@host", "a,b", "role=web", "/srv/app-1.2", "j_3kq7", "é"} {
		assert.Equal(t, text, Word(text), "it needs no quotes")
	}
	assert.Equal(t, `a 'b c' 'it'\''s' ''`, Words([]string{"a", "b c", "it's", ""}))
}

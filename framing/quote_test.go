package framing_test

import (
	"bytes"
	"context"
	"flag"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// readers of words: real shells, as what they are started, and what prints a word and a NUL byte.
var wordReaders = []struct {
	name    string
	argv    []string
	dialect framing.Dialect
	print   string
}{
	{"sh", []string{"sh"}, framing.POSIX, `printf '%s\0'`},
	{"dash", []string{"dash"}, framing.POSIX, `printf '%s\0'`},
	{"bash", []string{"bash"}, framing.Bash, `printf '%s\0'`},
	{"bash as sh", []string{"bash", "--posix"}, framing.POSIX, `printf '%s\0'`},
	{"zsh", []string{"zsh", "-f"}, framing.Zsh, `printf '%s\0'`},
	{"zsh with rcquotes", []string{"zsh", "-fo", "rcquotes"}, framing.Zsh, `printf '%s\0'`},
	{"mksh", []string{"mksh"}, framing.Mksh, `print -rn -- `},
	{"busybox", []string{"busybox", "ash"}, framing.POSIX, `printf '%s\0'`},
}

// readBack has a shell read words, each as it stands, and returns what they are to it. Of the ones that are not
// installed it knows nothing.
func readBack(t testing.TB, i int, words []string) ([]string, bool) {
	r := wordReaders[i]
	if _, err := exec.LookPath(r.argv[0]); err != nil {
		return nil, false
	}
	var script strings.Builder
	for _, w := range words {
		script.WriteString(r.print + " " + w + "\n")
		if r.dialect == framing.Mksh { // where printf is a process
			script.WriteString(`print -n '\0'` + "\n")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(script.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", r.name, stderr.String())
	require.Empty(t, stderr.String(), r.name)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), true
}

// hardWords are texts that quoting gets wrong.
var hardWords = []string{
	"a", " ", "it's", "''", "'", `"`, `\`, `\\`, "\\\n", "\n", "\n\n", "\r\n", "a\n", "$x", "$(id)", "`id`", "${", "!", "!!", "a!b", "~", "~root", "%1", "=ls",
	"*", "?", "[a]", "{a,b}", "#", "# c", ";", "&", "|", "<", ">", "(", ")", "-n", "-", "--", "+", "-e x", "\t", "\x01", "\x03\x04\x15\x16\x1a\x7f", "\x1b[A",
	"\x1e", "\x1e\n", "\x1f", "\x80", "\xff\xfe", "é", "日本語", "\u2028", "a'b\x01'c'\x02", "if", "time", "A=b", "a=~", "x:y@z,1+2_3.4/5", "\x01\n", "\x7f\n\n",
	"'\n'", "\\'", "$'\\003'", "%s %d", "\x01'\x02'\x03", strings.Repeat("'", 50), strings.Repeat("\x01", 200), strings.Repeat("long ", 1000),
	strings.Repeat("x", 5000), strings.Repeat("é", 2000), strings.Repeat("a\n", 2000), strings.Repeat("\x02b", 60),
}

func everyByte() string {
	b := make([]byte, 255)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return string(b)
}

func checkWords(t testing.TB, texts []string) {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		q, err := framing.Quote(text)
		require.NoError(t, err)
		quoted[i] = q
	}
	for i, r := range wordReaders {
		if got, ok := readBack(t, i, quoted); ok {
			require.Equal(t, texts, got, "%s", r.name)
		}
	}
}

// typed returns the word of a frame, having checked what every frame must be.
func typed(t testing.TB, d framing.Dialect, script string) string {
	b, err := framing.Append(nil, d, tokA, framing.Command{Script: script})
	require.NoError(t, err)
	require.NotContains(t, string(b), tokA.String(), "a terminal that echoes would print a mark")
	word, ok := strings.CutPrefix(string(b), tokA.String()[:framing.TokenLen/2]+"''"+tokA.String()[framing.TokenLen/2:]+" ")
	require.True(t, ok)
	if d == framing.POSIX {
		word = regexp.MustCompile(`^(\+|=\w+=)`).ReplaceAllString(word, "")
	}
	word, ok = strings.CutPrefix(word, "-")
	require.True(t, ok)
	require.Contains(t, " \n", word[:1])
	word, ok = strings.CutSuffix(word[1:], "\x1e\n")
	require.True(t, ok)
	for i := range len(word) {
		require.False(t, word[i] < ' ' && word[i] != '\n' && word[i] != '\t' || word[i] == 0x7f, "a control byte is typed: %q", word[i])
	}
	for line := range strings.Lines(word) {
		require.Less(t, len(line), 1400, "a line is too long for a terminal in canonical mode")
	}
	return word
}

func checkFrames(t testing.TB, scripts []string) {
	for i, r := range wordReaders {
		words := make([]string, len(scripts))
		for j, s := range scripts {
			words[j] = typed(t, r.dialect, s)
		}
		if got, ok := readBack(t, i, words); ok {
			for j, s := range scripts {
				if strings.HasPrefix(s, "-") { // which eval would take for its option
					s = " " + s
				}
				require.Equal(t, s, got[j], "%s", r.name)
			}
		}
	}
}

func TestEveryShellReadsBackAQuotedWord(t *testing.T) {
	checkWords(t, append([]string{everyByte(), ""}, hardWords...))
}

func TestEveryShellReadsBackATypedScript(t *testing.T) {
	checkFrames(t, append([]string{everyByte(), ""}, hardWords...))
}

func TestAWordIsQuotedOnlyIfItMustBe(t *testing.T) {
	for text, want := range map[string]string{
		"": "''", "ls": "ls", "/etc/passwd": "/etc/passwd", "a b": "'a b'", "-": "'-'", "-l": "-l", "it's": `'it'\''s'`, "'": `\'`, "A=b": "'A=b'", "~": "'~'", "a@b:c": "a@b:c",
	} {
		q, err := framing.Quote(text)
		require.NoError(t, err)
		assert.Equal(t, want, q, text)
	}
	q, err := framing.QuoteWords([]string{"ls", "-l", "a b", ""})
	require.NoError(t, err)
	assert.Equal(t, `\ls -l 'a b' ''`, q)
}

func TestACommandsPathIsShownAsItWasGiven(t *testing.T) {
	for first, want := range map[string]string{
		"/opt/deploy": "/opt/deploy v2", "./run": "./run v2", "bin/run-1.2": "bin/run-1.2 v2", "../x": "../x v2",
		"deploy": `\deploy v2`, "if": `\if v2`, "[": `'[' v2`, "~/x": "'~/x' v2", "a=b/c": "'a=b/c' v2", "/opt/a b": "'/opt/a b' v2",
	} {
		q, err := framing.QuoteWords([]string{first, "v2"})
		require.NoError(t, err)
		assert.Equal(t, want, q)
	}
}

func TestANULByteIsRefusedBeforeAnythingIsTyped(t *testing.T) {
	_, err := framing.Quote("secret\x00")
	var quote *framing.QuoteError
	require.ErrorAs(t, err, &quote)
	assert.Equal(t, 6, quote.Offset)
	assert.NotContains(t, err.Error(), "secret")
	_, err = framing.QuoteWords([]string{"a", "b\x00"})
	require.ErrorAs(t, err, &quote)
	dst, err := framing.Append([]byte("kept"), framing.Bash, tokA, framing.Command{Script: "\x00"})
	require.ErrorAs(t, err, &quote)
	assert.Equal(t, "kept", string(dst))
}

func TestTokensDoNotRepeat(t *testing.T) {
	seen := map[framing.Token]bool{}
	for range 1000 {
		tok := framing.NewToken()
		require.Regexp(t, `^[A-Za-z0-9_-]{22}$`, tok.String())
		require.False(t, seen[tok])
		seen[tok] = true
	}
}

// cases cuts what a fuzzer found into words, so that one shell reads many.
func cases(text string) []string { return strings.Split(text, "\x00") }

func fuzzTexts(f *testing.F, check func(testing.TB, []string)) {
	for i := 0; i < len(hardWords); i += 8 {
		if i > 0 && flag.Lookup("test.fuzz").Value.String() == "" {
			break // each starts all shells, and the tests above try all these words: only a fuzzer begins with all of them
		}
		f.Add(strings.Join(hardWords[i:min(i+8, len(hardWords))], "\x00"))
	}
	f.Add(everyByte())
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 8192 { // control bytes cost a process each in some shells
			check(t, cases(text))
		}
	})
}

func FuzzQuote(f *testing.F) { fuzzTexts(f, checkWords) }

func FuzzAppend(f *testing.F) { fuzzTexts(f, checkFrames) }

// Bytes that a terminal would act on are spelled out, so many at a time that no line becomes too long for one in canonical mode.
func TestControlBytesAreSpelledOutInShortPieces(t *testing.T) {
	for n, pieces := range map[int]int{1: 1, 64: 1, 65: 2, 128: 2, 129: 3, 1000: 16} {
		b, err := framing.Append(nil, framing.Bash, tokA, framing.Command{Script: ": '" + strings.Repeat("\x01", n) + "'"})
		require.NoError(t, err)
		assert.Equal(t, pieces, strings.Count(string(b), `$'\001`), n)
		assert.Equal(t, n, strings.Count(string(b), `\001`), n)
		for line := range strings.Lines(string(b)) {
			assert.Less(t, len(line), 1300, n)
		}
	}
}

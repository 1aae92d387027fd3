package redact_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// texts returns some texts of at most n of the parts, always the same.
func texts(count, n int, parts ...string) []string {
	r := rand.New(rand.NewPCG(uint64(count), uint64(n)))
	var out []string
	for range count {
		var b strings.Builder
		for range r.IntN(n + 1) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		out = append(out, b.String())
	}
	return out
}

var (
	control   = regexp.MustCompile(`\x1b\[[\x20-\x3f]{0,37}[\x40-\x7e]`)
	unstarted = regexp.MustCompile(`\x1b(?:\[[\x20-\x3f]{0,37})?$`)
	coloured  = []string{"\x1b", "[", "0", ";", "m", "a", "K", "\x1b[0m", "\x1b[m", "\x1b[", "b.", "\x1f", "\x7f", strings.Repeat("1", 36), "="}
)

func TestControlSequencesAreLeftOutAsAnExpressionLeavesThemOut(t *testing.T) {
	for _, text := range texts(4000, 8, coloured...) {
		want, rest := control.ReplaceAllString(text, ""), 0
		if loc := unstarted.FindStringIndex(text); loc != nil {
			rest = len(text) - loc[0]
			want = control.ReplaceAllString(text[:loc[0]], "")
		}
		got, n := redact.Strip([]byte(text))
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, rest, n, "%q", text)
	}
}

// What rules see at a place is the same whatever was looked at before it, and each byte stands where it came from.
func TestWhatIsSeenAtAPlaceDoesNotDependOnThePlacesBefore(t *testing.T) {
	word := regexp.MustCompile(`^[A-Za-z0-9_.-]*`)
	r := rand.New(rand.NewPCG(5, 6))
	for n, text := range texts(1500, 9, coloured...) {
		look := ""
		if n%3 == 0 {
			look = text[len(text)/2:]
		}
		var places []int
		for i := range len(text) {
			if n%2 == 0 || r.IntN(2) == 0 {
				places = append(places, i)
			}
		}
		if n%5 == 0 {
			slices.Reverse(places)
		}
		for k, s := range redact.SeenAt(look, []byte(text), places...) {
			i := places[k]
			rest := text[i:]
			bare := control.ReplaceAllString(rest, "")
			var at []int // where the bytes of bare stand in rest
			for p := 0; p < len(rest); {
				if loc := control.FindStringIndex(rest[p:]); loc != nil && loc[0] == 0 {
					p += loc[1]
					continue
				}
				at = append(at, p)
				p++
			}
			require.Equal(t, bare, s.Text, "%q from %d on, of %v", text, i, places)
			before := look + text[:i]
			require.Equal(t, control.ReplaceAllString(before[max(0, len(before)-128):], ""), s.Before, "%q before %d", text, i)
			require.Equal(t, len(word.FindString(bare)), s.Name, "%q from %d on, of %v", text, i, places)
			for b := range len(bare) {
				require.Equal(t, at[b], s.From[b], "%q from %d on: byte %d begins", text, i, b)
				require.Equal(t, at[b]+1, s.To[b+1], "%q from %d on: byte %d ends", text, i, b)
			}
			if len(bare) > 0 {
				require.Equal(t, at[len(bare)-1]+1, s.From[len(bare)], "%q from %d on ends", text, i)
				require.Equal(t, at[0], s.To[0], "%q from %d on begins", text, i)
			}
		}
	}
}

// A token over several lines is put together as an expression does it, and it is said right whether more could change it.
func TestTokensOverSeveralLinesArePutTogether(t *testing.T) {
	whole := regexp.MustCompile(`^[A-Za-z0-9_.-]*(?:\r?\n[A-Za-z0-9_.-]+){0,6}`)
	parts := []string{"a", "b.", "\n", "\n", "a\n", "\r\n", "\r", " ", "\na"}
	all := texts(1200, 12, parts...)
	for _, text := range slices.Clone(all) {
		all = append(all, "a"+text)
	}
	for _, text := range all {
		if strings.HasPrefix(text, "\n") || strings.HasPrefix(text, "\r") || text == "" {
			continue // it begins with a keyword
		}
		got, at, breaks, _ := redact.Joined([]byte(text), true)
		want := whole.FindString(text)
		var from []int
		for i := range len(want) {
			if want[i] != '\n' && want[i] != '\r' {
				from = append(from, i)
			}
		}
		require.Equal(t, strings.NewReplacer("\r", "", "\n", "").Replace(want), got, "%q", text)
		if len(got) > 0 {
			require.Equal(t, from, at, "%q", text)
		}
		n := 0
		for line := range strings.SplitSeq(strings.ReplaceAll(want, "\r", ""), "\n") {
			if n > 0 {
				require.Equal(t, n, breaks[0], "%q", text)
				breaks = breaks[1:]
			}
			n += len(line)
		}
		require.Empty(t, breaks, "%q", text)
		// More text changes nothing if that is said, and something does if not.
		now, _, lines, sure := redact.Joined([]byte(text), false)
		changes := false
		for _, more := range []string{"a", "\na", " ", "\n"} {
			then, _, others, _ := redact.Joined([]byte(text+more), true)
			changes = changes || then != now || len(others) != len(lines)
		}
		require.Equal(t, changes, !sure && changes, "%q", text)
		if !sure && len(lines) < 6 {
			require.True(t, changes, "%q", text)
		}
	}
	for n := redact.Window - 2; n < redact.Window+3; n++ {
		text, _, _, sure := redact.Joined([]byte(strings.Repeat("a", n)), false)
		require.Len(t, text, min(n, redact.Window))
		require.Equal(t, n >= redact.Window, sure, n)
	}
}

func TestRunsOfBase64AreFoundAsAnExpressionFindsThem(t *testing.T) {
	long, end := regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}`), regexp.MustCompile(`[A-Za-z0-9+/_-]*$`)
	for _, text := range texts(1000, 7, "a", "b+/", strings.Repeat("Z", 7), strings.Repeat("9", 14), strings.Repeat("-_", 8), " ", "=") {
		for i := 0; i < len(text); i += 1 + i%5 {
			loc := long.FindStringIndex(text[i:])
			if loc == nil {
				loc = end.FindStringIndex(text[i:])
			}
			from, to := redact.NextRun([]byte(text), i)
			require.Equal(t, []int{i + loc[0], i + loc[1]}, []int{from, to}, "%q from %d on", text, i)
		}
	}
}

func TestWhereALineOfBase64Begins(t *testing.T) {
	starts := regexp.MustCompile(`(?:^|\n)[ \t]*(?:[0-9]+[: \t][ \t]*)?$`)
	for _, text := range texts(4000, 6, " ", "\t", "7", "42", ":", "\n", "a", strings.Repeat(" ", 36), strings.Repeat("\t", 39)) {
		loc := starts.FindStringIndex(text)
		want := loc != nil && len(strings.TrimPrefix(text[loc[0]:], "\n")) <= 40
		for _, cut := range []int{0, len(text) / 2, len(text)} {
			require.Equal(t, want, redact.StartsLine(text[:cut], text[cut:]), "%q and %q", text[:cut], text[cut:])
		}
	}
	for _, n := range []int{0, 1, 383, 384, 385, 500} {
		for _, m := range []int{0, 1, 383, 384, 385, 500} {
			all := noise(1, m) + noise(2, n)
			look := all[:m]
			look = look[max(0, m-384):]
			got := redact.Preceding(look, all[m:]+"rest", n)
			require.GreaterOrEqual(t, len(got), min(384, n+m))
			require.True(t, strings.HasSuffix(all, got))
		}
	}
}

// The next line of base64 is what an expression finds, and is waited for where more of it may come.
func TestLinesOfBase64(t *testing.T) {
	line := regexp.MustCompile(`^\r?\n[ \t]*([A-Za-z0-9+/=]{4,140})(?:[\r\n]|$)`)
	parts := []string{"\n", "\r", "\r\n", " ", "\t", "abc", "ab+/", "=", "1", "-", "_", ":", strings.Repeat("aB", 31), strings.Repeat("q7", 34)}
	all := texts(4000, 5, parts...)
	for _, text := range slices.Clone(all) {
		all = append(all, "\n"+text)
	}
	for _, text := range all {
		want := 0
		if g := line.FindStringSubmatchIndex(text); g != nil {
			if b := text[g[2]:g[3]]; len(b) >= 64 || strings.ContainsAny(b, "+/=0123456789") {
				want = g[3]
			}
		}
		require.Equal(t, want, redact.Places["baseLine"]([]byte(text)), "%q", text)
		open := redact.Places["openLine"]([]byte(text))
		if open >= 0 {
			require.Equal(t, want, open, "%q", text)
		}
		changes := false
		for _, more := range []string{"\n", "a", "1", "aaaa", "1111", "\n1111", "1111\n", ":", strings.Repeat("1", 140)} {
			changes = changes || redact.Places["baseLine"]([]byte(text+more)) != want
		}
		require.Equal(t, changes, open < 0, "%q", text)
	}
}

// A password before its keyword is held from the first colon of its word on, as far as that may be.
func TestHowMuchOfAWordIsHeldForAKeywordAfterIt(t *testing.T) {
	last := regexp.MustCompile("[^\\x00-\\x20\\x7f\"'`=,;<>()]*$")
	for _, text := range texts(3000, 6, "a", ":", "b:", " ", "(", "=", "\x7f", strings.Repeat("c", 60), strings.Repeat(":", 3)) {
		word := last.FindString(text)
		word = word[max(0, len(word)-128):]
		want := 0
		if i := strings.IndexByte(word, ':'); i >= 0 {
			want = len(word) - 1 - i
		}
		for _, cut := range []int{0, len(text) / 2, len(text)} {
			require.Equal(t, want, redact.PendingWord(text[:cut], text[cut:]), "%q and %q", text[:cut], text[cut:])
		}
	}
}

// Tokens with a shape are looked for with an expression only where what it must have stands.
func TestShapesOfTokensAreSeenAsExpressionsSeeThem(t *testing.T) {
	w := func(n int) string { return strings.Repeat("aB-_9", n/5+1)[:n] }
	for _, c := range []struct {
		name, re, start string
		parts           []string
	}{
		{"isJWT", `^eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`, "eyJ",
			[]string{w(8) + ".", w(7) + ".", w(9) + ".", ".", "eyJ" + w(4) + ".", "eyJ" + w(3) + ".", "eyJ", w(8), w(7)}},
		{"isOpenAI", `^sk-(?:proj-|svcacct-|admin-|None-|[A-Za-z0-9]{32})`, "sk-", []string{"proj", "svcacct", "admin", "None", "-", "aB3", strings.Repeat("Z", 15)}},
		{"longRun", `[A-Za-z0-9+/=.]{20}`, "$", []string{"a", "/.", "B+", "=", "$", strings.Repeat("x", 9), strings.Repeat("9", 19)}},
		{"flag", `^[^;|&]*[ \t]-p[ \t]*` + redact.ShellWord, "x", []string{" ", "\t", "-p", "-", "ab", `"`, "'", ";", "|", "&", "a"}},
		{"gluedFlag", `^[^;|&]*[ \t]-p` + redact.ShellWord, "x", []string{" ", "\t", "-p", "-", "ab", `"`, "'", ";", "|", "&", "a"}},
		{"starts", `^[^;|&]*[ \t](?:-a|ab)`, "", []string{" ", "\t", "-a", "-", "a", "b", ";", "|", "&"}},
		{"startsAnywhere", `[ \t]-a`, "", []string{" ", "\t", "-a", "-", "a", ";"}},
	} {
		re := regexp.MustCompile(c.re)
		for _, text := range texts(4000, 7, c.parts...) {
			text = c.start + text
			require.Equal(t, re.MatchString(text), redact.Around[c.name](nil, []byte(text), len(text)), "%s: %q", c.name, text)
		}
	}
}

// What chance mixes has digits, as many letters of one case as of the other, within a factor of three, and changes often.
func TestWhatLooksAsIfChanceHadMixedIt(t *testing.T) {
	kind := regexp.MustCompile(`[a-z]+|[A-Z]+|[0-9]+|[^a-zA-Z0-9]+`)
	for _, text := range texts(6000, 12, "a", "z", "A", "Z", "0", "9", "/", "bQ", "Cd", "EF", "77") {
		count := func(lo, hi rune) (n int) {
			for _, c := range text {
				if c >= lo && c <= hi {
					n++
				}
			}
			return n
		}
		pairs, turns := 0, len(kind.FindAllString(text, -1))
		for i := range len(text) - 1 {
			if s := text[i : i+2]; len(strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) == 0 {
				pairs++
			}
		}
		small, large := count('a', 'z'), count('A', 'Z')
		often, veryOften := 5*turns >= 2*len(text), 5*turns >= 3*len(text)
		want := count('0', '9') > 0 && small <= 3*large && large <= 3*small && often && (pairs >= 2 || veryOften)
		require.Equal(t, want, redact.Before["mixed"]([]byte(text)), text)
	}
}

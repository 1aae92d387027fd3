package redact_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// letters returns n letters of an alphabet.
func letters(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func TestTheFilterSkipsWhatCannotBeginAFormAndNothingElse(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		alphabet := "abcdefgh"[:2+r.IntN(7)]
		var forms []string
		for range 1 + r.IntN(4) {
			forms = append(forms, letters(r, alphabet, 4+r.IntN(4)))
		}
		f := redact.NewFilter(forms...)
		text := []byte(letters(r, alphabet, r.IntN(60)))
		want := len(text)
		for i := len(text); i >= 0; i-- { // the slow and plain way
			if i+4 > len(text) || f.Has(text, i) {
				want = i
			}
			require.Equal(t, want, f.Next(text, i), "forms %q, text %q from %d", forms, text, i)
			for _, form := range forms {
				if bytes.HasPrefix(text[i:], []byte(form)) {
					require.Equal(t, i, want, "%q begins here", form)
				}
			}
		}
	}
}

func TestTheFilterRulesMostThingsOut(t *testing.T) {
	f := redact.NewFilter("correct horse", "abcd")
	r := rand.New(rand.NewPCG(1, 1))
	text := []byte(letters(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10_000))
	hits := 0
	for i := range len(text) - 4 {
		if f.Has(text, i) {
			hits++
		}
	}
	assert.Less(t, hits, 100)
	for n, bits := range map[int]int{1: 1 << 14, 256: 1 << 14, 257: 1 << 15, 4096: 1 << 18, 4097: 1 << 19, 1 << 15: 1 << 21, 1<<15 + 1: 1 << 21} {
		forms := make([]string, n)
		for i := range forms {
			forms[i] = "text"
		}
		assert.Equal(t, bits, redact.NewFilter(forms...).Bits(), n)
	}
}

func TestTheAutomatonFindsWhatAPlainSearchFinds(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var forms []string
		for range 1 + r.IntN(6) {
			forms = append(forms, letters(r, "abc"[:2+r.IntN(2)], 4+r.IntN(5)))
		}
		a := redact.NewAutomaton(forms...)
		text := letters(r, "abc", 80)
		ends, deep := a.Read([]byte(text), false)
		early, earlyDeep := a.Read([]byte(text), true)
		prefixes := map[string]bool{"": true}
		for i := range text {
			longest, begun := "", 0
			for _, form := range forms {
				if strings.HasSuffix(text[:i+1], form) && len(form) > len(longest) {
					longest = form
				}
				for n := range len(form) + 1 {
					if prefixes[form[:n]] = true; strings.HasSuffix(text[:i+1], form[:n]) {
						begun = max(begun, n)
					}
				}
			}
			require.Equal(t, longest, ends[i], "forms %q, text %q at %d", forms, text, i)
			require.Equal(t, begun, deep[i], "forms %q, text %q at %d", forms, text, i)
			require.Equal(t, longest, early[i], "giving up early loses nothing: forms %q, text %q at %d", forms, text, i)
			require.LessOrEqual(t, earlyDeep[i], begun)
		}
		require.Equal(t, len(prefixes), a.States())
		require.Equal(t, len(prefixes), a.Room(), "memory is taken once, and no more than is needed")
	}
}

// Behind "abcab" comes no "z": "abc" is left, and what follows shows already that it is the start of no form.
func TestAStateThatLeadsNowhereIsLeftAtOnce(t *testing.T) {
	a := redact.NewAutomaton("abcabz", "caby")
	_, early := a.Read([]byte("abcabc????"), true)
	_, all := a.Read([]byte("abcabc????"), false)
	assert.Equal(t, []int{1, 2, 3, 4, 5, 0}, early[:6])
	assert.Equal(t, []int{1, 2, 3, 4, 5, 3}, all[:6])
	_, early = a.Read([]byte("abcabc"), true)
	assert.Equal(t, 3, early[5], "the end may go on")
	_, early = a.Read([]byte("abcabcabz"), true)
	assert.Equal(t, 3, early[5], "it does go on")
}

func TestATextInWhichNoFormBeginsIsSkipped(t *testing.T) {
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("k", []byte("correct horse")))
	text := []byte(strings.Repeat("0123456789", 20))
	assert.Equal(t, len(text)-3, redact.Ahead(s, text))
	assert.Equal(t, len(text), redact.Ahead(s, append(text, "correct horse"...)))
}

// hiding returns a Set of known values and one that a command gave, which stands in an automaton of its own.
func hiding(t *testing.T, learned string, given ...string) *redact.Set {
	t.Helper()
	s := redact.New(redact.Config{Key: key})
	for _, g := range given {
		require.NoError(t, s.AddOwn("given", []byte(g)))
	}
	n := s.With("X_TOKEN=" + learned)
	require.GreaterOrEqual(t, n.Len(), 1)
	return n
}

var marks = regexp.MustCompile(`(?:«redacted:[a-z]+:[0-9a-f]{8}»)+`)

// Whatever overlaps and however the text is cut: exactly the bytes of all occurrences of all values are hidden.
func TestExactlyWhatIsKnownIsHidden(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		alphabet := "abc"[:2+r.IntN(2)]
		var given []string
		for range 1 + r.IntN(4) {
			given = append(given, letters(r, alphabet, 4+r.IntN(4)))
		}
		learned := letters(r, alphabet, 8+r.IntN(3))
		s := hiding(t, learned, given...)
		var text string
		for len(text) < 100 {
			text += letters(r, alphabet+"-", r.IntN(8))
			if r.IntN(3) == 0 {
				text += append(given, learned)[r.IntN(len(given)+1)]
			}
		}
		for who, known := range map[redact.Audience][]string{redact.Guarded: append(given, learned), redact.Everybody: given} {
			hidden := make([]bool, len(text))
			for i := range text {
				for _, k := range known {
					if strings.HasPrefix(text[i:], k) {
						for n := range k {
							hidden[i+n] = true
						}
					}
				}
			}
			want, bytes := "", int64(0)
			for i, h := range hidden {
				if !h {
					want += string(text[i])
				} else if bytes++; i == 0 || !hidden[i-1] {
					want += "#"
				}
			}
			var pieces []string
			for rest := text; rest != ""; {
				n := min(1+r.IntN(20), len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			got, counts := inPieces(t, s, who, pieces...)
			require.Equal(t, want, marks.ReplaceAllString(got, "#"), "values %q, text %q", known, text)
			require.Equal(t, bytes, counts.Bytes)
			require.Equal(t, len(regexp.MustCompile("«").FindAllString(got, -1)), counts.Total())
		}
	}
}

func TestOfValuesThatOverlapTheLongestGivesItsKind(t *testing.T) {
	s := redact.New(redact.Config{})
	for kind, v := range map[string]string{"six": "uvwxyz", "eight": "yzabcdef", "five": "efghi", "other-five": "hijkl"} {
		require.NoError(t, s.Add(kind, []byte(v)))
	}
	for text, want := range map[string]string{
		"uvwxyzabcdef": "«eight»", "yzabcdefghi": "«eight»", "uvwxyzabcdefghi": "«eight»", "uvwxyz yzabcdef": "«six» «eight»",
		"efghijkl": "«other-five»", "efghiefghi": "«five»«five»",
	} {
		assert.Equal(t, want, guarded(s, text), text)
	}
}

// sameBytes is a writer that reports whether it was given the caller's own memory.
type sameBytes struct {
	want []byte
	same bool
}

func (w *sameBytes) Write(p []byte) (int, error) {
	w.same = &p[0] == &w.want[0]
	return len(p), nil
}

func TestTextWithoutKnownSecretsIsPassedOnWithoutACopy(t *testing.T) {
	known := knownSet(t)
	for name, s := range map[string]*redact.Set{"of none": redact.New(redact.Config{}), "of some": known, "of two automata": known.With("A_TOKEN=correct-horse9")} {
		out := &sameBytes{}
		w := s.Writer(out, redact.Everybody)
		for i, text := range []string{"ordinary text\n", "sudo-pass but no more\n", "and more", ", and the end"} {
			out.want = []byte(text)
			_, err := w.Write(out.want)
			require.NoError(t, err)
			assert.True(t, out.same, "%s: write %d", name, i)
		}
		require.NoError(t, w.Flush())
		require.NoError(t, w.Close())
	}
}

func TestASecretThatBecomesKnownWhileItIsHeldIsHidden(t *testing.T) {
	s := redact.New(redact.Config{})
	require.NoError(t, s.AddOwn("a", []byte("abcdefgh")))
	var out bytes.Buffer
	w := s.Writer(&out, redact.Everybody)
	_, _ = w.Write([]byte("x abcdef"))
	require.Equal(t, "x ", out.String())
	require.NoError(t, s.AddOwn("b", []byte("abcdef")))
	_, _ = w.Write([]byte("! abcdefgh abcd"))
	require.NoError(t, s.AddOwn("c", []byte("0000")))
	require.NoError(t, w.Flush())
	assert.Equal(t, "x «b»! «a» ", mark.ReplaceAllString(out.String(), "«$1»"))
	require.NoError(t, w.Close())
	assert.Equal(t, "x «b»! «a» abcd", mark.ReplaceAllString(out.String(), "«$1»"))
}

func TestKeywordsAreFoundAsAPlainSearchFindsThem(t *testing.T) {
	all := redact.Keywords()
	plain := func(b []byte) (found, maybe, vain bool) {
		vain = true // a keyword of three bytes, before a byte with which none of its rules holds
		for _, k := range all {
			if len(b) >= len(k) && strings.EqualFold(string(b[:len(k)]), string(k)) {
				found, vain = true, vain && len(k) == 3 && len(b) > 3 && !redact.KeywordBefore(k, b[3])
			}
			maybe = maybe || len(b) < len(k) && strings.EqualFold(string(b), string(k[:len(b)]))
		}
		return found, maybe && !found, found && vain
	}
	check := func(text string) {
		t.Helper()
		want := len(text)
		for i := len(text) - 1; i >= 0; i-- {
			found, maybe, vain := plain([]byte(text)[i:])
			gotFound, gotMaybe := redact.KeywordAt([]byte(text), i)
			require.Equal(t, fmt.Sprint(found, maybe), fmt.Sprint(gotFound, gotMaybe), "%q at %d", text, i)
			if i+3 > len(text) || redact.KeywordMay([]byte(text), i) {
				want = i
			}
			if found && !vain || maybe {
				require.Equal(t, i, want, "%q at %d", text, i)
			}
			require.Equal(t, want, redact.KeywordNext([]byte(text), i), "%q from %d", text, i)
		}
	}
	r := rand.New(rand.NewPCG(1, 4))
	for _, k := range all {
		text := letters(r, " .,+", r.IntN(9)) + string(k) + letters(r, " .,+", r.IntN(12))
		check(text)
		check(strings.ToUpper(string(k)))
		check(string(k[:1+r.IntN(len(k))]))
		check(string(k[1:]) + letters(r, "etaoinshrdlu", 12))
	}
}

// A keyword of three bytes is passed over before a byte with which none of its expressions finds anything.
func TestKeywordsArePassedOverWhereNoRuleHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 11))
	passed := 0
	for k, rules := range redact.RulesOfShortKeywords() {
		tails := []string{"", "a=b", "aa.bb", " x", "' ", `" "`, "://a:b@c", "/x?y", "@h/", "\n"}
		for range 6 {
			tails = append(tails, letters(r, "abcdefABCDEF0123456789", 20+r.IntN(150)), letters(r, "aB3$/.-_=:", 90))
		}
		for c := range 256 {
			if redact.KeywordBefore([]byte(k), byte(c)) {
				continue
			}
			passed++
			for _, tail := range tails {
				for _, key := range []string{k, strings.ToUpper(k)} {
					for _, re := range rules {
						require.False(t, re.Match([]byte(key+string([]byte{byte(c)})+tail)), "%s: %q, then %q: %s", re, key, c, tail)
					}
				}
			}
		}
	}
	require.Greater(t, passed, 5000)
}

func TestHowMuchOfAnEndBeginsAText(t *testing.T) {
	for b, want := range map[string]int{"": 0, "x": 0, "-": 1, "x---": 3, "-----END": 8, "-----END ": 0, "-----EN-": 1, "-------": 5, "-----E N": 0} {
		assert.Equal(t, want, redact.StartOf("-----END ", b), b)
	}
}

func TestClassesOfBytes(t *testing.T) {
	assert.Equal(t, "-.012_abc", redact.ClassOf("a-c0-2_.-"))
	assert.Equal(t, "-ab", redact.ClassOf("-ab"))
	assert.Equal(t, "+,-./", redact.ClassOf("+-/"))
	got := redact.But("a\"")
	assert.NotContains(t, got, "a")
	for c := range 256 {
		printable := c > ' ' && c != 0x7f && c != 'a' && c != '"'
		assert.Equal(t, printable, bytes.IndexByte([]byte(got), byte(c)) >= 0, "%q", c)
	}
}

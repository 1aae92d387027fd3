package redact_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// What comes out of every example, and of every one of the tests' tables, with a silence at each place: a row has what comes out
// without one, where a silence changes it and how often, and a hash over all that comes out.
func TestSilencesAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/silences.tsv")
	var texts []string
	for _, name := range []string{"taken.txt", "kept.txt", "shapes.txt", "harmless.txt"} {
		for _, line := range everyCase(t, name) {
			if _, example, ok := strings.Cut(line, " | "); ok {
				line = example
			}
			text, _ := marked(t, line)
			texts = append(texts, text)
		}
	}
	for _, form := range encodings(known) {
		texts = append(texts, "a "+form+" b\n"+form, form[:len(form)-1]+"\n")
	}
	for _, part := range [][2]string{{"abcd", "abxyz"}, {"aaaa", "aaaaaaa"}, {"dabxyzdabx", "yz"}, {own, known}, {own[:4], own}, {"«redacted:", "x:00000000»"}, {"password: ", "\nx"}} {
		texts = append(texts, part[0]+part[1], part[0]+"\n"+part[1], part[1]+part[0]+part[1])
	}
	value := "Hunter2" + "secret9x"
	for _, name := range []string{"password", "passwords", "PASSWORDS", "passwordS", "passwordsafe", "password_s", "passwordStuff", "passwordstuff", "password2", "token", "tokens", "pass", "passs", "api_keys", "secrets", "secrete"} {
		texts = append(texts, name+": "+value, name+"="+value, `"`+name+` "`+value+`"`, `Enter "`+name+`: "`+value+`"`, `'`+name+`' "`+value+`"`)
	}
	for _, word := range []string{"null", "null.", "unchanged", "unchanged!!", "unchanged!!!", "unchanged!!!!", "unchanged.,;:!", "Protected...;", "negotiate,,,,", "nullnullnull", "failed.failed"} {
		texts = append(texts, "password: "+word, "token="+word)
	}
	aws := "wJalrXUtnFEM" + "I/K7MDENGbPx" + "RfiCYzQ9vEa1LmT7"
	for n := range 40 { // bytes that none of these keys has
		if n < 3 || n%9 == 0 || n == 39 {
			texts = append(texts, "x "+aws[:n]+"-"+aws[n+1:]+" y", "x "+aws[:n]+"_"+aws[n+1:]+" y")
		}
	}
	for _, around := range []string{"", ".", "=", "/", "+", "-", ",", "x", "1"} {
		texts = append(texts, "k "+around+aws+" y", "k "+aws+around+" y")
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		if f.Due(text) {
			f.Check(text, silences(t, text))
		}
	}
}

func silences(t *testing.T, text string) string {
	s, fresh := knownSet(t), redact.New(redact.Config{Key: key})
	whole, counts := s.String(text, redact.Guarded)
	everybody, _ := s.String(text, redact.Everybody)
	all := fnv.New32a()
	fmt.Fprintln(all, everybody, counts)
	out, counts := fresh.String("x\n"+text+"\nafter\n", redact.Guarded)
	fmt.Fprintln(all, out, counts)
	fmt.Fprintln(all, fresh.LearnFromCommand(text))
	for _, step := range []int{1, 3, 7} { // in pieces
		var b bytes.Buffer
		w := s.Writer(&b, redact.Guarded)
		for piece := range slices.Chunk([]byte(text), step) {
			_, err := w.Write(piece)
			require.NoError(t, err)
			fmt.Fprint(all, b.Len(), " ")
		}
		require.NoError(t, w.Close())
		fmt.Fprintln(all, b.String(), w.Counts())
		require.Equal(t, whole, b.String(), "%q in pieces of %d", text, step)
	}
	var breaks []string
	last := ""
	every := 1 + len(text)/600
	for n := 0; n <= len(text); n += every {
		got, counts := withSilence(t, s, text, n)
		fmt.Fprintln(all, got, counts)
		if got != last && n > 0 {
			breaks = append(breaks, strconv.Itoa(n))
		}
		last = got
	}
	if len(whole) > 200 {
		whole = whole[:100] + "…" + whole[len(whole)-90:]
	}
	return fmt.Sprintf("%s ;%s; %s", whole, strings.Join(breaks, ","), strconv.FormatUint(uint64(all.Sum32()), 36))
}

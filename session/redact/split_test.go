package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// key makes IDs the same in all sets of a test.
var key = []byte("a key of the tests, thirty-two b")

const (
	known = "hunter2/Correct+Horse?staple"
	own   = "sudo-pass'word 1"
)

// knownSet knows one secret of each sort, and two that overlap.
func knownSet(t testing.TB) *redact.Set {
	t.Helper()
	s := redact.New(redact.Config{Key: key})
	require.NoError(t, s.Add("vault", []byte(known+"\n")))
	require.NoError(t, s.AddOwn("sudo", []byte(own)))
	require.NoError(t, s.Add("short", []byte("abcdabx")))
	require.NoError(t, s.Add("short", []byte("dabxyz")))
	require.True(t, s.Learn("learned", []byte("aaaaaaaa")))
	return s
}

// encodings are what programs make of a secret.
func encodings(secret string) map[string]string {
	j, _ := json.Marshal(secret)
	return map[string]string{
		"raw":          secret,
		"hex":          hex.EncodeToString([]byte(secret)),
		"HEX":          strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":        url.QueryEscape(secret),
		"path":         url.PathEscape(secret),
		"json":         string(j[1 : len(j)-1]),
		"shell":        strings.ReplaceAll(secret, "'", `'\''`),
		"base64":       base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 raw":   base64.RawStdEncoding.EncodeToString([]byte(secret)),
		"base64 url":   base64.URLEncoding.EncodeToString([]byte(secret)),
		"base64 echo":  base64.StdEncoding.EncodeToString([]byte(secret + "\n")),
		"base64 1":     base64.StdEncoding.EncodeToString([]byte("x" + secret + "x")),
		"base64 2":     base64.StdEncoding.EncodeToString([]byte("xy" + secret + "xyz")),
		"base64 url 2": base64.RawURLEncoding.EncodeToString([]byte("xy" + secret)),
	}
}

// sample has everything that is taken out, and much that is not.
func sample(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	src, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for line := range strings.Lines(string(src)) {
		text, _ := marked(t, strings.TrimPrefix(line, "//"))
		b.WriteString(text)
	}
	for _, secret := range []string{known, own} {
		for name, text := range encodings(secret) {
			b.WriteString(name + ": <" + text + ">\n")
		}
	}
	b.WriteString("abcdabxyz abcdabcdabx aaaaaaaaaaaaaaaaaaaaaaa abcdab hunter2/Correct+Hors\xff\xfe\x00\xc3\n")
	b.WriteString("«redacted:password:0123abcd» «redacted:password:no» «redacted:\n")
	b.WriteString("password: ")
	return b.String()
}

func inPieces(t testing.TB, s *redact.Set, who redact.Audience, pieces ...string) (string, redact.Counts) {
	t.Helper()
	var out bytes.Buffer
	w := s.Writer(&out, who)
	for _, p := range pieces {
		n, err := w.Write([]byte(p))
		require.NoError(t, err)
		require.Equal(t, len(p), n)
	}
	require.NoError(t, w.Close())
	return out.String(), w.Counts()
}

func TestSplittingAtAnyOffsetChangesNothing(t *testing.T) {
	s := knownSet(t)
	for _, text := range paragraphs(sample(t), 400) {
		for _, who := range []redact.Audience{redact.Guarded, redact.Everybody} {
			want, counts := s.String(text, who)
			for i := range len(text) {
				got, n := inPieces(t, s, who, text[:i], text[i:])
				require.Equal(t, want, got, "split at %d", i)
				require.Equal(t, counts, n, "split at %d", i)
			}
		}
	}
}

// paragraphs cuts text at line ends into parts of at least size bytes, since the work grows with the square of one.
func paragraphs(text string, size int) []string {
	var out []string
	part := ""
	for line := range strings.Lines(text) {
		if part += line; len(part) >= size {
			out, part = append(out, part), ""
		}
	}
	return append(out, part)
}

func TestPiecesOfAnySizeChangeNothing(t *testing.T) {
	s, text := knownSet(t), sample(t)
	long := text + "token=" + strings.Repeat("x9", 2*redact.Window) + " \npass" + strings.Repeat("word", redact.Window) + "=abcdef\n" + text
	want, counts := s.String(long, redact.Guarded)
	for _, size := range []int{1, 2, 3, 7, 31, 64, 1000, 4095, 4096, 4097, 32768} {
		var pieces []string
		for rest := long; rest != ""; {
			n := min(size, len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got, n := inPieces(t, s, redact.Guarded, pieces...)
		require.Equal(t, want, got, "pieces of %d", size)
		assert.Equal(t, counts, n, "pieces of %d", size)
	}
}

func TestRedactingTwiceChangesNothing(t *testing.T) {
	s := knownSet(t)
	once, _ := s.String(sample(t), redact.Guarded)
	twice, counts := s.String(once, redact.Guarded)
	assert.Equal(t, once, twice)
	assert.Zero(t, counts.Total())
}

func TestNoEncodingOfAKnownSecretSurvives(t *testing.T) {
	s := knownSet(t)
	for _, secret := range []string{known, own, "päss wörd\"\\$1", "line one of it is long\nline two of it is long"} {
		require.NoError(t, s.Add("k", []byte(secret)))
		for name, text := range encodings(secret) {
			got, counts := s.String("<"+text+">", redact.Guarded)
			assert.Equal(t, 1, counts.Total(), "%s: %s", name, got)
			assert.NotContains(t, got, text, name)
			assert.Less(t, len(got)-maxMark, 16, "%s: %s", name, got)
		}
	}
}

const maxMark = 60

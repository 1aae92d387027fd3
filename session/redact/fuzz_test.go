package redact_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// FuzzSplit checks that cuts change nothing, silences lose and invent nothing, and a second pass finds nothing known.
func FuzzSplit(f *testing.F) {
	for _, line := range append(caseLines(f, "taken.txt"), caseLines(f, "kept.txt")...) {
		f.Add([]byte(expand(line)), uint16(7), uint16(19))
	}
	f.Add([]byte(sample(f)), uint16(100), uint16(999))
	s := knownSet(f)
	f.Fuzz(func(t *testing.T, text []byte, a, b uint16) {
		for _, who := range []redact.Audience{redact.Guarded, redact.Everybody} {
			want, counts := s.Bytes(text, who)
			i, j := min(int(a), len(text)), min(int(b), len(text))
			got, n := inPieces(t, s, who, string(text[:min(i, j)]), string(text[min(i, j):max(i, j)]), string(text[max(i, j):]))
			require.Equal(t, string(want), got)
			require.Equal(t, counts, n)
			var single []string
			for k := range min(len(text), 2000) {
				single = append(single, string(text[k:k+1]))
			}
			if len(text) <= 2000 {
				got, _ = inPieces(t, s, who, single...)
				require.Equal(t, string(want), got)
			}
			if counts.Total() == 0 {
				require.Equal(t, string(text), string(want))
			}
			checkSilences(t, s, who, text, i, j)
		}
	})
}

// checkSilences checks that text with a silence in it comes out whole where nothing was taken, and short of what was.
func checkSilences(t *testing.T, s *redact.Set, who redact.Audience, text []byte, i, j int) {
	var out bytes.Buffer
	w := s.Writer(&out, who)
	for _, p := range [][]byte{text[:min(i, j)], text[min(i, j):max(i, j)], text[max(i, j):]} {
		_, err := w.Write(p)
		require.NoError(t, err)
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	n := w.Counts()
	kept := out.Len()
	for kind, k := range n.Kinds {
		kept -= k * len("«redacted:"+kind+":01234567»")
	}
	if who == redact.Everybody { // patterns may take out a mark that is part of a value
		require.Equal(t, len(text), kept+int(n.Bytes))
	}
	if n.Total() == 0 {
		require.Equal(t, string(text), out.String())
	}
}

// FuzzPlanted checks that no form of a known secret survives, whatever stands around it.
func FuzzPlanted(f *testing.F) {
	f.Add("hunter22", "", "")
	f.Add("pass word'\"\\$", "password=", "&x")
	f.Add("päss/wörd+1234", "-----BEGIN RSA PRIVATE KEY-----\n", "")
	f.Add("aaaaaaaaa", "a", "a")
	f.Add("AKIAAAAA", "«redacted:", ":01234567»")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) > 200 || strings.Trim(secret, "\r\n") != secret || strings.ContainsAny(secret, "«»\ufffd") || !utf8.ValidString(secret) {
			return
		}
		s := redact.New(redact.Config{Key: key})
		if s.AddOwn("k", []byte(secret)) != nil {
			return
		}
		for name, form := range encodings(secret) {
			if len(secret) < 8 && name != "raw" {
				continue
			}
			for _, who := range []redact.Audience{redact.Guarded, redact.Everybody} {
				got, counts := s.String(before+form+after, who)
				assert.Positive(t, counts.Total(), name)
				assert.NotContains(t, mark.ReplaceAllString(got, "«»"), secret, name)
				if !strings.HasPrefix(name, "base64") || name == "base64" {
					assert.NotContains(t, mark.ReplaceAllString(got, "«»"), form, name)
				}
			}
		}
	})
}

func FuzzLearnFromCommand(f *testing.F) {
	f.Add(`export TOKEN="a b\"c" --password 'x`)
	f.Fuzz(func(t *testing.T, command string) {
		s := redact.New(redact.Config{})
		n := s.LearnFromCommand(command)
		require.LessOrEqual(t, s.Len(), n)
		redact.ContainsMark([]byte(command))
	})
}

package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is let through is what a decoder makes no other characters of.
func FuzzHalved(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\\ud83d"`, `"\ud83d\n\ude00"`, `"\uD83D\uDE00\u0041\\\""`, `["\ud83d","\ude00"]`, `"\ud83d\u0041"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || !json.Valid([]byte(s)) || strings.Contains(strings.ToLower(s), `\ufffd`) || strings.ContainsRune(s, utf8.RuneError) {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(s), &v); err != nil { // a number that is too large
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.ContainsRune(string(again), utf8.RuneError) || strings.Contains(string(again), `\ufffd`)
		if got := halved([]byte(s)); changed && !got {
			t.Errorf("%q is taken for whole, and becomes %q", s, again)
		} else if got && !changed && !strings.ContainsAny(s, "{") { // of a name that is there twice one value is lost
			t.Errorf("%q is whole, and becomes %q", s, again)
		}
	})
}

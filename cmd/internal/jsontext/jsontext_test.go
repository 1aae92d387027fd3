package jsontext

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNoTextIsFoundWhereItIs(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":"ls"}`:            "",
		`"é \u00e9 \ud83d\ude00 😀"`:   "",
		"\"\ufffd \\ufffd\"":          "", // somebody may mean it
		`"\\ud800"`:                   "", // a backslash
		`"\\\\ud800"`:                 "",
		"{\"command\":\"rm a\xffb\"}": "byte 16 is not UTF-8",
		"\"\xed\xa0\x80\"":            "byte 1 is not UTF-8",
		"\"\xc0\x80\"":                "byte 1 is not UTF-8",
		"{\"a\xff\":1}":               "byte 3 is not UTF-8",
		`"ls \ud800"`:                 "the escape at byte 4 is half of a character",
		`"ls \uDC00 \ud83d\ude00"`:    "the escape at byte 4 is half of a character",
		`"\ud83d\ud83d\ude00"`:        "the escape at byte 1 is half of a character",
		`"\ud83d\\ude00"`:             "the escape at byte 1 is half of a character",
		`"\ud83d \ude00"`:             "the escape at byte 1 is half of a character",
		`"\\\ud800"`:                  "the escape at byte 3 is half of a character",
		`{"\ud800":1}`:                "the escape at byte 2 is half of a character",
		`"\ud800`:                     "the escape at byte 1 is half of a character",
		`"\u12`:                       "", // no JSON
		`"\`:                          "",
		`"\ud8zz"`:                    "",
		`"\ud83d\ude0`:                "the escape at byte 1 is half of a character",
	} {
		err := Check([]byte(text))
		if want == "" {
			assert.NoError(t, err, "%q", text)
		} else {
			assert.EqualError(t, err, want, "%q", text)
		}
	}
}

func TestWhatAnEncoderReplacesIsFound(t *testing.T) {
	for text, want := range map[string]bool{"ls": false, "\ufffd": false, `\ufffd`: false, `\\ufffd`: false, "a\xffb": true, "\xed\xa0\x80": true, "\x00\u2028<": false} {
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			require.NoError(t, enc.Encode(map[string]string{"command": text}))
			assert.Equal(t, want, Replaced(b.Bytes()), "%q", text)
		}
	}
}

// anEscape is one that JSON has, as far as it matters here.
var anEscape = regexp.MustCompile(`(?s)\\(u[0-9a-fA-F]{4}|.)`)

// Whatever encoding/json takes, and alters, is found; and nothing else is.
func FuzzCheckFindsWhatEncodingJSONReplaces(f *testing.F) {
	for _, s := range []string{`ls`, `\ud800`, `\ud83d\ude00`, "\xff", `\\ud800`, "\ufffd", `\uFFFD`, `\ud83d\u0041\ude00`, `\udc00\ud800`, "\xed\xa0\x80", `\"\ud800`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// Without what means U+FFFD, any that comes out was put there.
		s = anEscape.ReplaceAllStringFunc(s, func(e string) string {
			if strings.EqualFold(e, `\ufffd`) {
				return "x"
			}
			return e
		})
		s = strings.ReplaceAll(s, "\ufffd", "x")
		text := []byte(`"` + s + `"`)
		var got string
		if json.Unmarshal(text, &got) != nil {
			return
		}
		replaced := strings.ContainsRune(got, utf8.RuneError)
		if err := Check(text); (err != nil) != replaced {
			t.Fatalf("%q becomes %q: %v", text, got, err)
		}
		// What an encoder makes of the text itself is found in the same way.
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if Replaced(out) == utf8.ValidString(s) {
			t.Fatalf("%q is encoded as %q", s, out)
		}
		if Check(out) != nil {
			t.Fatalf("%q is not text", out)
		}
	})
}

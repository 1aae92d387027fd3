package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

const odd = `%/ä a"b'c$d\e&f<g>` + "`h`;!~*()#/Zz09?-._%"

// Nothing but the mark is left of what programs make of a value.
func TestWhatProgramsMakeOfAValueIsHiddenWhole(t *testing.T) {
	percent := func(keep string) string {
		var b strings.Builder
		for i := range len(odd) {
			if c := odd[i]; strings.IndexByte(keep+"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		return b.String()
	}
	lower := func(s string) string {
		for i := range len(s) - 2 {
			if s[i] == '%' {
				s = s[:i+1] + strings.ToLower(s[i+1:i+3]) + s[i+3:]
			}
		}
		return s
	}
	j, err := json.Marshal(odd)
	require.NoError(t, err)
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("k", []byte(odd)))
	for name, text := range map[string]string{
		"itself": odd, "RFC 3986": percent("-_.~"), "encodeURIComponent": percent("-_.!~*'()"), "all": percent(""),
		"RFC 3986, lower": lower(percent("-_.~")), "encodeURIComponent, lower": lower(percent("-_.!~*'()")), "all, lower": lower(percent("")),
		"HTML": html.EscapeString(odd), "JSON": strings.Trim(string(j), `"`), "PHP's JSON": strings.ReplaceAll(strings.Trim(string(j), `"`), "/", `\/`),
		"hex": hex.EncodeToString([]byte(odd)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(odd))),
		"XML": strings.NewReplacer("&#39;", "&apos;", "&#34;", "&quot;").Replace(html.EscapeString(odd)), "YAML and SQL": strings.ReplaceAll(odd, "'", "''"),
		"Python's JSON":       strings.ReplaceAll(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.Trim(string(j), `"`)), "ä", `\u00e4`),
		"PHP's JSON in ASCII": strings.ReplaceAll(strings.ReplaceAll(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.Trim(string(j), `"`)), "ä", `\u00e4`), "/", `\/`),
		"single quotes":       strings.ReplaceAll(odd, "'", `'\''`), "both quotes": strings.ReplaceAll(odd, "'", `'"'"'`),
		"double quotes": strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(odd),
		"a string":      strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(odd), "a string in single quotes": strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(odd),
	} {
		assert.Equal(t, "<«k»>", guarded(s, "<"+text+">"), name)
	}
}

func TestWhatRealShellsPrintForAValueIsHidden(t *testing.T) {
	const value = `correct horse'$5 "battery" & co; \ x`
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("k", []byte(value)))
	for name, script := range map[string]string{"bash": `printf '%q' "$1"`, "zsh": `print -rn -- ${(q)1}`} {
		shell, err := exec.LookPath(name)
		if err != nil && os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and CI must compare with it", name)
		}
		if err != nil {
			t.Logf("%s is not installed: nothing to compare with", name)
			continue
		}
		out, err := exec.CommandContext(t.Context(), shell, "-c", script, "x", value).Output()
		require.NoError(t, err, name)
		assert.Equal(t, "<«k»>", guarded(s, "<"+string(out)+">"), name)
	}
}

// Of base64 exactly the digits stay that depend on what stands around the value.
func TestOfBase64OnlyDigitsStayThatAreNotCertain(t *testing.T) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for _, size := range []int{8, 9, 10, 11} {
			value := "\xfb\xff>?~" + noise(1, size-5)
			s := redact.New(redact.Config{})
			require.NoError(t, s.Add("k", []byte(value)))
			for before := range 5 {
				for after := range 4 {
					one := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + value + strings.Repeat("\x00", after)))
					two := enc.EncodeToString([]byte(strings.Repeat("\xff", before) + value + strings.Repeat("\xff", after)))
					want := ""
					for i := range one {
						sure := i >= 8*before/6 && one[i] == two[i] && (after == 0 || i < 8*(before+len(value))/6)
						if !sure {
							want += two[i : i+1]
						} else if !strings.HasSuffix(want, "#") {
							want += "#"
						}
					}
					got := strings.ReplaceAll(guarded(s, "<"+two+">"), "«k»", "#")
					assert.Equal(t, "<"+want+">", got, "%d bytes, %d before and %d after: %s", size, before, after, two)
				}
			}
		}
	}
}

func TestWhatIsTooShortForAnEncodingIsNotLookedForInIt(t *testing.T) {
	for n, want := range map[int]bool{7: false, 8: true} {
		s := redact.New(redact.Config{})
		v := noise(1, n)
		require.NoError(t, s.Add("k", []byte(v)))
		assert.Equal(t, want, guarded(s, hex.EncodeToString([]byte(v))) == "«k»", n)
		assert.Equal(t, want, guarded(s, base64.StdEncoding.EncodeToString([]byte("ab"+v))) != base64.StdEncoding.EncodeToString([]byte("ab"+v)), n)
		assert.Equal(t, "«k»", guarded(s, base64.StdEncoding.EncodeToString([]byte(v))), "alone it is")
	}
}

func TestLinesOfAValueAreHiddenAlone(t *testing.T) {
	s := redact.New(redact.Config{})
	l15, l16, framed, dashes := noise(1, 15), noise(2, 16), "-----"+noise(3, 20), "----"+noise(4, 20)
	value := strings.Join([]string{l15, " \t" + l16 + "\t ", framed, dashes, ""}, "\n")
	require.NoError(t, s.Add("k", []byte(value)))
	for text, want := range map[string]string{
		l15: l15, l16: "«k»", framed: framed, dashes: "«k»",
		strings.TrimRight(value, "\n"):                                   "«k»",
		strings.ReplaceAll(strings.TrimRight(value, "\n"), "\n", "\r\n"): "«k»",
	} {
		assert.Equal(t, "<"+want+">", guarded(s, "<"+text+">"), text)
	}
	first := redact.New(redact.Config{})
	require.NoError(t, first.Add("k", []byte("\n"+l16))) // an empty line is one too
	assert.Equal(t, "<«k»|«k»|«k»>", guarded(first, "<"+l16+"|\n"+l16+"|\r\n"+l16+">"))
}

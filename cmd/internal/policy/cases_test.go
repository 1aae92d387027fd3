package policy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	policycmd "github.com/fairlead-ssh/fairlead/cmd/internal/policy"
)

func TestEscapesOfCommands(t *testing.T) {
	for in, want := range map[string]string{
		`ls`: "ls", `a\\b`: `a\b`, `a\n\t\rb`: "a\n\t\rb", `\x00\xff`: "\x00\xff", `\u202e`: "\u202e", `\U0001f600`: "😀",
		`\\n`: `\n`, `\x41B`: "AB",
	} {
		got, err := policycmd.Unescape(in)
		assert.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for in, want := range map[string]string{
		`a\`: `single backslash`, `\q`: `\q is not an escape`, `\ä`: `\ä is not an escape`, `\x4`: "2 hexadecimal digits",
		`\xg0`: "2 hexadecimal digits", `\u12`: "4 hexadecimal", `\U0001f6`: "8 hexadecimal", `\ud800`: "not a character",
		`\U00110000`: "not a character", `\x+1`: "2 hexadecimal digits",
	} {
		_, err := policycmd.Unescape(in)
		assert.ErrorContains(t, err, want, in)
	}
}

func TestCasesAreReadLineByLine(t *testing.T) {
	cases, wrong := policycmd.ParseCases([]byte("# a comment\n\nallow\tls\ta reason\twith a tab\r\nask\t\\x20\ndeny\t"))
	assert.Empty(t, wrong)
	var got []string
	for _, c := range cases {
		line, verdict, command := c.Want()
		got = append(got, fmt.Sprintf("%d %s %q", line, verdict, command))
	}
	assert.Equal(t, []string{`3 allow "ls"`, `4 ask " "`, `5 deny ""`}, got)

	_, wrong = policycmd.ParseCases([]byte("Allow\tls\nask\n deny\tls\nask\t\\\n"))
	assert.Len(t, wrong, 4)
}

func FuzzParseCases(f *testing.F) {
	f.Add([]byte("allow\tls\\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, wrong := policycmd.ParseCases(data)
		last := 0
		for _, c := range cases {
			line, _, _ := c.Want()
			if line <= last {
				t.Fatal("out of order")
			}
			last = line
		}
		_ = wrong
	})
}

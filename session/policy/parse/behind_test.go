package parse_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

func TestWhatEndsWithItsShellIsSeen(t *testing.T) {
	for src, want := range map[string]bool{
		"sleep 9 &":                             true,
		"cd /srv && ./serve >log 2>&1 &":        true,
		"(sleep 1; echo late) & echo now":       true,
		"for i in 1 2; do work $i & done":       true,
		"nohup a & b &":                         true,
		"(a &)":                                 true,
		"a & b & wait":                          false,
		"for i in 1 2; do work $i & done; wait": false,
		"nohup ./serve >/dev/null 2>&1 &":       false,
		"setsid -f ./serve; setsid ./serve &":   false,
		"echo 'a &'; ls a\\&b 2>&1":             false,
		"a && b":                                false,
		"a & disown":                            true, // which a hangup reaches all the same
		"cd /srv && nohup ./serve >log 2>&1 &":  false,
		"sudo nohup ./serve &":                  false,
		"(cd /srv; env A=b setsid ./serve) &":   false,
		"trap 'kill $p' EXIT; a & p=$!; b":      false,
		"echo \"unclosed &":                     false,
	} {
		assert.Equal(t, want, parse.LeavesBehind(src), src)
	}
}

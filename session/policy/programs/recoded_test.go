package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// What one option or function of a reader spells anew, redaction cannot read, as with od and base64.
func TestOptionsAndFunctionsThatEncode(t *testing.T) {
	recodes := func(words ...string) bool {
		return programs.Judge(programs.Call{Name: words[0], Args: literals(words[1:]...)}).Recodes
	}
	for _, words := range [][]string{
		{"cmp", "-l", "f", "/dev/null"}, {"cmp", "--verbose", "f", "g"}, {"cmp", "-bl", "f", "g"}, {"fold", "-w1", "f"}, {"fold", "-w", "04", "f"},
		{"xmllint", "--encode", "UTF-16", "f"}, {"jq", "-r", ".a|@base64", "f"}, {"jq", `"\(.a|@base32)"`, "f"}, {"jq", ".a|explode", "f"}, {"yq", ".a | @base64", "f"},
		{"sqlite3", "-readonly", "-safe", "f", "select hex(a) from t"}, {"sqlite3", "-readonly", "-safe", "f", "select base64 (a) from t"},
	} {
		assert.True(t, recodes(words...), words)
	}
	for _, words := range [][]string{
		{"cmp", "f", "g"}, {"cmp", "-s", "f", "g"}, {"fold", "-w", "80", "f"}, {"fold", "-sw72", "f"}, {"xmllint", "--encode", "utf-8", "f"}, {"jq", ".a|@base64d", "f"},
		{"jq", ".base64, .explode", "f"}, {"yq", "explode(.)", "f"}, {"sqlite3", "-readonly", "-safe", "f", "select hex from t"},
	} {
		assert.False(t, recodes(words...), words)
	}
}

package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestAPrefixCoversSimpleCommandsThatBeginWithIt(t *testing.T) {
	prefix := []string{"systemctl", "restart"}
	for _, covered := range []string{
		"systemctl restart nginx", "systemctl restart", "systemctl  restart   nginx", "'systemctl' restart nginx", `systemctl "restart" nginx`,
		`sys\temctl restart 'a b'`, "systemctl restart -- nginx",
	} {
		assert.NoError(t, rules.Begins(policy.Question{Host: hosts.Host{Name: "h"}, Command: covered}, prefix), covered)
	}
	for _, other := range []string{
		"", "systemctl", "systemctl stop nginx", "systemctl restart -H db9 nginx", "systemctl restart nginx --host=db9", "systemctl restart --root=/mnt nginx", "systemctl restarter nginx", "SYSTEMCTL restart nginx", "systemctl --now restart nginx", "/bin/systemctl restart nginx", "./systemctl restart x",
		"systemctl restart nginx; touch x", "systemctl restart nginx\ntouch x", "systemctl restart nginx && touch x", "systemctl restart nginx || touch x", "systemctl restart nginx | tee x", "systemctl restart nginx &", "systemctl restart nginx;",
		"systemctl restart $(touch x)", "systemctl restart `touch x`", "systemctl restart $x", "systemctl restart ${x}", "systemctl restart $((1))", "systemctl restart <(touch x)", `systemctl restart "$x"`, `systemctl restart $'a'`,
		"systemctl restart nginx > x", "systemctl restart nginx 2>&1", "systemctl restart nginx >/dev/null", "systemctl restart < x", "systemctl restart <<E\nE", ">x systemctl restart nginx",
		"A=1 systemctl restart nginx", "PATH=/tmp systemctl restart nginx", "! systemctl restart nginx", "time systemctl restart nginx", "(systemctl restart nginx)", "{ systemctl restart nginx; }", "if systemctl restart x; then y; fi",
		"systemctl restart *", "systemctl restart n?inx", "systemctl restart [a]", "systemctl restart {a,b}", "systemctl restart ~", "systemctl restart a=~/x", "systemctl restart =x",
		"systemctl restart nginx # note", "# note\nsystemctl restart nginx", "systemctl restart nginx #\\\ntouch x", "systemctl restart nginx\\\n", "systemctl restart nginx\r", "systemctl\trestart nginx", "systemctl restart 'a\nb'",
		"cd /; systemctl restart nginx", "sudo systemctl restart nginx", "env systemctl restart nginx", "eval systemctl restart nginx", "command systemctl restart nginx", "systemctl() { touch x; }; systemctl restart x", "alias systemctl=x", "systemctl restart \u200bnginx", "systemctl restart \xff",
	} {
		assert.Error(t, rules.Begins(policy.Question{Host: hosts.Host{Name: "h"}, Command: other}, prefix), "%q", other)
	}
}

func TestPrefixesThatAreNotGiven(t *testing.T) {
	for name, words := range map[string][]string{
		"nothing": {}, "a program alone": {"systemctl"}, "an interpreter": {"python3", "x.py"}, "with its version": {"python3.11", "x.py"}, "a shell": {"bash", "-c"},
		"a wrapper": {"timeout", "5"}, "git": {"git", "log"}, "sudo": {"sudo", "systemctl"}, "sudo where letters have no case": {"SUDO", "ls"}, "a path": {"/bin/systemctl", "restart"},
		"a program that runs all": {"find", "."}, "env": {"env", "ls"}, "ssh": {"ssh", "h"}, "an empty word": {"systemctl", ""}, "a hidden word": {"systemctl", "re\u200bstart"}, "a newline": {"systemctl", "a\nb"},
		"shell syntax": {"$(x)", "y"}, "an option first": {"-x", "y"},
	} {
		assert.ErrorIs(t, rules.CheckPrefix(words), rules.ErrPrefix, name)
	}
	words, err := rules.ParsePrefix(`systemctl restart 'a b'`)
	require.NoError(t, err)
	assert.Equal(t, []string{"systemctl", "restart", "a b"}, words)
	for _, text := range []string{"", "systemctl", "systemctl restart; x", "systemctl $x", "sudo systemctl restart", "systemctl restart > x", "systemctl restart *"} {
		_, err := rules.ParsePrefix(text)
		assert.ErrorIs(t, err, rules.ErrPrefix, text)
	}
	for text, want := range map[string]string{
		"systemctl $x": "it must be one simple command", ">x": "it must be one simple command", "A=b systemctl x": "it must be one simple command", "A=b": "it must be one simple command", "systemctl x # y": "it must be one simple command", "# y": "it must be one simple command",
		"systemctl": "a prefix is a program and at least one more word", "/bin/systemctl x": "it must begin with the bare name", "sudo x": "sudo can run any program",
	} {
		_, err := rules.ParsePrefix(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestThePrefixHasLimits(t *testing.T) {
	words := func(n int, last string) []string {
		return append(append([]string{"deploy"}, slices.Repeat([]string{"x"}, n-2)...), last)
	}
	assert.NoError(t, rules.CheckPrefix(words(32, "x")))
	assert.ErrorContains(t, rules.CheckPrefix(words(33, "x")), "at most 32 words")
	assert.NoError(t, rules.CheckPrefix(words(2, strings.Repeat("x", 1024))))
	for _, w := range []string{strings.Repeat("x", 1025), "", "a\xff", "a\x7f", "a\x00", "a\u00a0b", "a\u2028b", "\t", "a\u2800b", "a\u3164b", "a\u034fb", "a\ufe0fb"} {
		assert.ErrorContains(t, rules.CheckPrefix(words(2, w)), "printable text of 1 to 1024 bytes", "%q", w)
	}
	assert.NoError(t, rules.CheckPrefix(words(2, "größe 1")))
}

// What is refused as a prefix covers nothing, even if it was written down before.
func TestAPrefixThatIsNoneCoversNothing(t *testing.T) {
	for _, prefix := range [][]string{{"sudo", "ls"}, {"systemctl"}, nil} {
		assert.ErrorIs(t, rules.Begins(policy.Question{Command: "sudo ls"}, prefix), rules.ErrPrefix)
		assert.ErrorIs(t, rules.Begins(policy.Question{Command: "systemctl restart x"}, prefix), rules.ErrPrefix)
	}
	assert.ErrorIs(t, rules.Begins(policy.Question{Command: "deploy $x"}, []string{"deploy", "$x"}), rules.ErrPrefix, "a word that is known only when it runs")
	assert.ErrorIs(t, rules.Begins(policy.Question{Command: "deploy a"}, []string{"deploy", "a", "b"}), rules.ErrPrefix)
	for command, want := range map[string]string{
		"deploy a " + strings.Repeat("x", 70<<10): "the command runs another one", "deploy a b c": "",
		"deploy a; x": "it must be one simple command of literal words", "deploy a $x": "it must be one simple command of literal words", "deploy a '\xff'": "it must be one simple command of literal words",
		"deploy": "the command does not begin with these words", "deploy b": "the command does not begin with these words", "systemctl a": "the command does not begin with these words",
	} {
		if err := rules.Begins(policy.Question{Command: command}, []string{"deploy", "a"}); want == "" {
			assert.NoError(t, err, command)
		} else {
			assert.ErrorContains(t, err, want, "%.80s", command)
		}
	}
}

// No call is simple in one shell that another reads as something else.
func TestACommandThatShellsReadDifferentlyIsNotSimple(t *testing.T) {
	for _, text := range []string{"deploy a; ", "deploy a &", "deploy a |& deploy b", "deploy a #x", "A=b", "A=b deploy a", "deploy a &!", "deploy a&|", "coproc deploy a", "deploy a \u00a0 b", "deploy \xff a",
		"deploy 'a\tb'", "function deploy a", "repeat 2 deploy", "deploy a=(b)", "deploy =b", "[[ a = b ]]", "deploy a^b", "deploy ^a", "nocorrect deploy a", "foreach x", "deploy @(a)", "deploy !(a)",
	} {
		_, err := rules.ParsePrefix(text)
		assert.ErrorIs(t, err, rules.ErrPrefix, text)
		assert.ErrorIs(t, rules.Begins(policy.Question{Command: text}, []string{"deploy", "a"}), rules.ErrPrefix, text)
	}
}

package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestCommandsAreSplitAsAShellSplitsThem(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  nil,
		" \t\r\n":           nil,
		"a":                 {"a"},
		"a bc":              {"a", "bc"},
		" a\tb\nc\rd ":      {"a", "b", "c", "d"},
		"a;b|c&d<e>f(g)h":   {"a", "b", "c", "d", "e", "f", "g", "h"},
		"''":                {""},
		`""`:                {""},
		`a '' ""`:           {"a", "", ""},
		"'a b'":             {"a b"},
		`"a;b"`:             {"a;b"},
		`a'b c'd"e f"g`:     {"ab cde fg"},
		`'a"b' "c'd"`:       {`a"b`, "c'd"},
		`\a`:                {"a"},
		`\ `:                {" "},
		`a\ b\;c`:           {"a b;c"},
		`\'a\"`:             {`'a"`},
		"a\\\nb":            {"ab"},
		"\\\n":              nil,
		`\`:                 nil,
		`a\`:                {"a"},
		`'a\'b`:             {`a\b`},
		`"a\"b"`:            {`a"b`},
		`"a\\b"`:            {`a\b`},
		`"a\$b"`:            {"a$b"},
		"\"a\\`b\"":         {"a`b"},
		`"a\b"`:             {`a\b`},
		`"a\`:               {`a\`},
		`"a\"`:              {`a"`},
		`'not closed`:       {"not closed"},
		`"not closed`:       {"not closed"},
		"'":                 {""},
		"T='x' run":         {"T=x", "run"},
		`--p "a b" --q='c'`: {"--p", "a b", "--q=c"},
	} {
		assert.Equal(t, want, redact.ShellWords(text), "%q", text)
	}
}

func TestValuesBehindOptionsAreLearnedAndOtherOptionsAreNot(t *testing.T) {
	for command, value := range map[string]string{
		"app --password correct-horse9": "correct-horse9", "app --password 'correct horse 9'": "correct horse 9",
		"DB_PASSWORD=correct-horse9": "correct-horse9", "app --token -correct-horse9": "", "app password correct-horse9": "",
		"app --password": "", "app --verbose correct-horse9": "",
	} {
		s := redact.New(redact.Config{})
		learned := s.LearnFromCommand(command) > 0
		assert.Equal(t, value != "", learned, command)
		if learned {
			assert.Equal(t, "it is «password»", guarded(s, "it is "+value), command)
		}
	}
}

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
)

func TestAnAliasIsATextOrAListOfWords(t *testing.T) {
	c, err := config.Parse("c.yaml", []byte(`alias:
  up: run @web --fold -- uptime
  deploy: [run, "@web & !web1", --batch, "1,10%", --, "a  b"]
  quoted: run 'web[1-3]' -- "say \"hi\" to \\ and \n" a\ b ''
  again: up -x web1
`), "run", "exec")
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"up":     {"run", "@web", "--fold", "--", "uptime"},
		"deploy": {"run", "@web & !web1", "--batch", "1,10%", "--", "a  b"},
		"quoted": {"run", "web[1-3]", "--", `say "hi" to \ and \n`, "a b", ""},
		"again":  {"up", "-x", "web1"},
	} {
		assert.Equal(t, want, c.Alias[name].Words, name)
	}
	assert.Equal(t, 3, c.Alias["deploy"].Line)
}

func TestAnAliasReplacesNoCommandAndEndsInOne(t *testing.T) {
	for text, want := range map[string]string{
		"run: exec here":                    "c.yaml:2: alias.run: run is a command, and an alias does not replace one: give it another name",
		"a: b\n  b: c\n  c: a":              "c.yaml:2: alias.a: it leads back to itself: a, b, c, a",
		"a: a":                              "c.yaml:2: alias.a: it leads back to itself: a, a",
		"up: ruin all":                      `c.yaml:2: alias.up: "ruin" is neither a command nor an alias`,
		"up: fairlead run all":              "c.yaml:2: alias.up: leave fairlead out",
		"up: -i x.ini run all":              "c.yaml:2: alias.up: an alias begins with a command",
		"-x: run all":                       "c.yaml:2: alias: a name has letters, digits, dashes and underscores, at most 40, not \"-x\"",
		"a b: run all":                      "c.yaml:2: alias: a name has letters",
		`up: "run 'all"`:                    "c.yaml:2: alias.up: a quote is not closed",
		`up: 'run all\'`:                    "c.yaml:2: alias.up: nothing follows the last backslash",
		`up: "  "`:                          "c.yaml:2: alias.up: a value is missing",
		"up:":                               "c.yaml:2: alias.up: a value is missing",
		"up: []":                            "c.yaml:2: alias.up: the list is empty",
		"up: {run: all}":                    "c.yaml:2: alias.up: expected a single value",
		"up: run all\n  up: run web":        `c.yaml:3: "up" is there twice`,
		"help: run all\n  completion: help": "c.yaml:3: alias.completion: completion is a command",
	} {
		_, err := config.Parse("c.yaml", []byte("alias:\n  "+text+"\n"), "run", "exec", "help", "completion")
		assert.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{"alias: run", "alias: []", "alias: {}"} {
		_, err := config.Parse("c.yaml", []byte(text))
		assert.ErrorContains(t, err, "c.yaml:1: alias: expected a mapping", text)
	}
}

func TestAliasesHaveLimits(t *testing.T) {
	for n, fits := range map[int]bool{500: true, 501: false} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "  a%d: run all\n", i)
		}
		c, err := config.Parse("c.yaml", []byte("alias:\n"+text.String()), "run")
		if fits {
			require.NoError(t, err)
			assert.Len(t, c.Alias, n)
		} else {
			assert.EqualError(t, err, "config: c.yaml:2: alias: more than 500 aliases")
		}
	}
	for n, fits := range map[int]bool{200: true, 201: false} {
		c, err := config.Parse("c.yaml", []byte("alias: {a: run"+strings.Repeat(" x", n-1)+"}\n"), "run")
		if fits {
			require.NoError(t, err)
			assert.Len(t, c.Alias["a"].Words, n)
		} else {
			assert.EqualError(t, err, "config: c.yaml:1: alias.a: more than 200 words")
		}
	}
}

package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

func told(p *strictyaml.Problems) (all []string) {
	for _, f := range p.Found() {
		all = append(all, fmt.Sprintf("%d: %s", f.Line, f.Msg))
	}
	return all
}

func TestWhatAFileMayNotHoldIsToldWithItsLine(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                     {"", nil},
		"comments only":               {"# nothing\n", nil},
		"a byte order mark":           {"\ufeffa: 1\n", nil},
		"a tab between":               {"a:\t1\n", nil},
		"an anchor":                   {"a: &x 1\n", []string{"1: anchors and aliases are not supported"}},
		"an alias":                    {"a: &x 1\nb: *x\n", []string{"1: anchors and aliases are not supported", "2: anchors and aliases are not supported"}},
		"an alias that holds itself":  {"a: &x [*x]\n", []string{"1: anchors and aliases are not supported", "1: anchors and aliases are not supported"}},
		"a tag":                       {"a: !!binary aGk=\n", []string{"1: tags such as !!binary are not supported"}},
		"a merge":                     {"a:\n  <<: {b: 1}\n", []string{"2: << is not supported"}},
		"a key that is not a word":    {"[a]: 1\n", []string{"1: a key must be a word"}},
		"a key twice":                 {"a: 1\nb: 2\na: 3\n", []string{"3: \"a\" is there twice; first on line 1"}},
		"two mistakes":                {"a: !x 1\na: 2\n", []string{"1: tags such as !x are not supported", "2: \"a\" is there twice; first on line 1"}},
		"a second document":           {"a: 1\n---\nb: 2\n", []string{"2: a second document begins here; a test is one"}},
		"no UTF-8":                    {"a: 1\nb: \xff\n", []string{"2: the file is not UTF-8"}},
		"what turns the text around":  {"a: 1\nb: \u202ex\n", []string{"2: the file holds the character U+202E, which cannot be seen"}},
		"what a terminal would obey":  {"a: \x1b[2J\n", []string{"1: the file holds the character U+001B, which cannot be seen"}},
		"a tab that indents":          {"a:\n  b: 1\n\tc: 2\n", []string{"3: not valid YAML: found a tab character that violates indentation"}},
		"what is not YAML":            {"a: [1\n", []string{"2: not valid YAML: did not find expected ',' or ']'"}},
		"too deep":                    {strings.Repeat("[", 18) + strings.Repeat("]", 18), []string{"1: more than 16 levels of lists and mappings"}},
		"too long":                    {strings.Repeat("#", strictyaml.MaxFile+1), []string{"1: the file has more than 1048576 bytes"}},
		"a long key, clipped":         {strings.Repeat("k", 200) + ": 1\n" + strings.Repeat("k", 200) + ": 1\n", []string{`2: "` + strings.Repeat("k", 80) + `…" is there twice; first on line 1`}},
		"an escape that names a line": {"\"a\\nb\": 1\n\"a\\nb\": 1\n", []string{`2: "a\nb" is there twice; first on line 1`}},
	} {
		t.Run(name, func(t *testing.T) {
			var p strictyaml.Problems
			root := p.Document([]byte(tt.text), "a test")
			assert.Equal(t, tt.want, told(&p))
			if len(tt.want) > 0 {
				assert.Nil(t, root)
			}
		})
	}
}

func TestValuesAreReadOrTold(t *testing.T) {
	var p strictyaml.Problems
	root := p.Document([]byte("one: 1\nmore: [a, b]\nnone:\nempty: []\nsurplus: x\n"), "a test")
	require.NotNil(t, root)
	f := p.Fields(root, "a test", "one", "more", "none", "empty")
	one, ok := p.Scalar(f["one"], "one")
	assert.True(t, ok)
	assert.Equal(t, "1", one)
	var texts []string
	p.Texts(f["more"], "more", func(line int, text string) { texts = append(texts, fmt.Sprint(line, text)) })
	assert.Equal(t, []string{"2a", "2b"}, texts)
	_, ok = p.Scalar(f["none"], "none")
	assert.False(t, ok)
	_, ok = p.Scalar(f["more"], "more")
	assert.False(t, ok)
	p.Texts(f["empty"], "empty", nil)
	p.Texts(f["one"], "one", nil)
	assert.Nil(t, p.Fields(f["one"], "one", "key"))
	assert.Equal(t, []string{
		"1: one: expected a list, as in [a, b]",
		"1: one: expected a mapping, as in {key: …}",
		"2: more: expected a single value",
		"3: none: a value is missing",
		"4: empty: the list is empty; leave the key out",
		`5: unknown key "surplus" in a test; known: one, more, none, empty`,
	}, told(&p))
}

// Whatever a file holds, it is read or told, in lines that a terminal can show.
func FuzzDocument(f *testing.F) {
	for _, text := range []string{"a: 1\n", "a: &x [*x]\n", "a: {b: [c, {d: e}]}\n", "---\n...\n", "? a\n: b\n", "a: |\n  text\n", "\xff", "%YAML 1.1\n---\na"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p strictyaml.Problems
		root := p.Document(data, "a test")
		if root != nil {
			require.Empty(t, p.Found())
			plain(t, root)
		}
		for _, found := range p.Found() {
			require.Positive(t, found.Line)
			require.NotEmpty(t, found.Msg)
			require.NotContains(t, found.Msg, "\n")
			require.NotContains(t, found.Msg, "\x1b")
		}
	})
}

func plain(t *testing.T, n *yaml.Node) {
	require.NotEqual(t, yaml.AliasNode, n.Kind)
	require.Empty(t, n.Anchor)
	for _, c := range n.Content {
		plain(t, c)
	}
}

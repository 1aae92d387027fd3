package config

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Aliases are commands of one's own, by their names.
type Aliases map[string]Alias

// Alias is what the name of an alias stands for: a command and its first arguments.
type Alias struct {
	Words []string // at least one
	Line  int      // of the file, from 1
}

// maxAliases bounds how many there are, and maxAliasWords how long each is.
const (
	maxAliases    = 500
	maxAliasWords = 200
)

// aliasName is what a name may be: a word that is no flag and needs no quotes.
var aliasName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

func (a *Aliases) read(p *problems, where string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		p.Add(n.Line, "%s: expected a mapping of names to commands, as in {up: run @web -- uptime}", where)
		return
	}
	if len(n.Content)/2 > maxAliases {
		p.Add(n.Line, "%s: more than %d aliases", where, maxAliases)
		return
	}
	*a = Aliases{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if !aliasName.MatchString(name.Value) {
			p.Add(name.Line, "%s: a name has letters, digits, dashes and underscores, at most 40, not %q", where, name.Value)
			continue
		}
		if words := p.aliasWords(where+"."+name.Value, value); len(words) > 0 {
			(*a)[name.Value] = Alias{words, name.Line}
		}
	}
}

// aliasWords reads a command: a list of its words, or a text in which blanks separate them.
func (p *problems) aliasWords(where string, n *yaml.Node) (words []string) {
	if n.Kind == yaml.SequenceNode {
		words = p.words(where, n)
	} else if text, ok := p.Scalar(n, where); ok {
		var err error
		if words, err = split(text); err != nil {
			p.Add(n.Line, "%s: %v", where, err)
		} else if len(words) == 0 {
			p.Add(n.Line, "%s: a value is missing", where)
		}
	}
	switch {
	case len(words) > maxAliasWords:
		p.Add(n.Line, "%s: more than %d words", where, maxAliasWords)
	case len(words) > 0 && words[0] == "fairlead":
		p.Add(n.Line, "%s: leave fairlead out: an alias begins with a command, as in run @web -- uptime", where)
	case len(words) > 0 && strings.HasPrefix(words[0], "-"):
		p.Add(n.Line, "%s: an alias begins with a command: write its flags behind that", where)
	default:
		return words
	}
	return nil
}

// check refuses aliases that shadow a command, and those that lead to none. Without commands it looks for loops alone.
func (a Aliases) check(p *problems, commands []string) {
	for name, one := range a {
		if slices.Contains(commands, name) {
			p.Add(one.Line, "alias.%s: %s is a command, and an alias does not replace one: give it another name", name, name)
			continue
		}
		seen := []string{name}
		for at := one; ; {
			next := at.Words[0]
			if slices.Contains(commands, next) {
				break
			}
			if slices.Contains(seen, next) {
				p.Add(one.Line, "alias.%s: it leads back to itself: %s", name, strings.Join(append(seen, next), ", "))
				break
			}
			to, ok := a[next]
			if !ok {
				if len(commands) > 0 {
					p.Add(one.Line, "alias.%s: %q is neither a command nor an alias", name, next)
				}
				break
			}
			seen = append(seen, next)
			at = to
		}
	}
}

// split takes a text apart at blanks. Single quotes keep all that is between them; in double quotes, and outside of quotes,
// a backslash keeps the character behind it.
func split(text string) (words []string, err error) {
	var word strings.Builder
	begun, escaped := false, false
	var quote rune
	for _, c := range text {
		switch {
		case escaped:
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}

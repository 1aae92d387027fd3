package rules

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// match says how far something meets a condition.
type match uint8

const (
	no match = iota
	maybe
	yes
)

// pattern is a list of words; rest means that more may follow.
type pattern struct {
	words []string
	rest  bool
}

// reserved are words that every shell reads as syntax, so that no command begins with them.
var reserved = strings.Fields("if then elif else fi for while until do done case esac !")

// assignment is the start of a word that sets a variable.
var assignment = lazyregexp.New(`^[A-Za-z_]\w*\+?=`)

func parsePattern(s string) (pattern, error) {
	p := pattern{words: strings.Fields(s)}
	if n := len(p.words); n > 0 && p.words[n-1] == "*" {
		p.words, p.rest = p.words[:n-1], true
	}
	if len(p.words) == 0 {
		return p, errors.New("must begin with the name of a program")
	}
	for _, w := range p.words {
		switch {
		case strings.Contains(w, "*"):
			return p, errors.New("may hold * only as a word of its own, and the last one")
		case strings.ContainsAny(w, "'\"\\$`;&|<>(){}"):
			return p, errors.New("is literal words without quotes or shell syntax")
		case w[0] == '~':
			return p, errors.New("holds a ~, which shells expand: a rule matches literal words, so give the whole path")
		}
	}
	switch name := p.words[0]; {
	case assignment.MatchString(name):
		return p, errors.New("begins with an assignment, which no rule matches: begin with the name of a program")
	case slices.Contains(reserved, name):
		return p, errors.New("begins with a word of the shell's own grammar: give the programs that it runs")
	}
	if name := p.words[0]; strings.Contains(name, "/") && (name[0] != '/' || path.Clean(name) != name) {
		return p, errors.New("must name a program by its bare name or its clean absolute path")
	}
	return p, nil
}

// covers reports whether words are surely and wholly what the pattern says.
func (p pattern) covers(words []word) bool {
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return false
	}
	for i, w := range words {
		switch {
		case !w.literal:
			return false
		case i == 0 && sameProgram(p.words[0], w.text):
		case i < len(p.words) && w.text != p.words[i]:
			return false
		}
	}
	return true
}

// sameProgram reports whether a command word means the program: by the same word, or by its place in the system.
func sameProgram(name, word string) bool {
	if name == word {
		return true
	}
	dir, base := path.Split(word)
	switch dir {
	case "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/":
		return base == name
	}
	return false
}

// touches says whether words are, or may come to, what the pattern says: with options in between, with words that are
// known only when it runs, or, where torn is set, with words that are not there to be seen.
func (p pattern) touches(words []word, torn bool) match {
	if len(words) == 0 || !words[0].literal {
		return maybe
	}
	if path.Base(words[0].text) != path.Base(p.words[0]) {
		return no
	}
	at, exact := 1, true
	for _, w := range words[1:] {
		switch {
		case at == len(p.words):
		case !w.literal:
			return maybe
		case w.text == p.words[at]:
			at++
		default:
			exact = false
		}
	}
	switch {
	case at < len(p.words) && torn:
		return maybe
	case at < len(p.words):
		return no
	case exact && (p.rest || len(words) == len(p.words)):
		return yes
	}
	return maybe
}

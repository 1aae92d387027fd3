package hosts

import (
	"errors"
	"strings"
)

// atom parses one part of a selector without operators.
func (p *parser) atom() (expr, error) {
	start := p.at
	rest := p.text[start:]
	switch {
	case rest == "":
		return nil, p.errorf(start, "expected a host, a group or a label, but found the end")
	case rest[0] == '~':
		return p.regex(start + 1)
	case strings.HasPrefix(rest, "re:"):
		return p.regex(start + 3)
	case rest[0] == '^':
		return p.list(start, start+1)
	case strings.HasPrefix(rest, "file:"):
		return p.list(start, start+5)
	}
	word, err := p.word()
	if err != nil {
		return nil, err
	}
	if p.atLabel() {
		return p.label(start, word)
	}
	switch {
	case word == "":
		return nil, p.errorf(start, "expected a host, a group or a label, but found %s", p.here())
	case word == "all":
		return allExpr{}, nil
	case word == "-":
		return p.readHosts(start, "-")
	case word[0] == '@':
		if err := CheckGroup(word[1:]); err != nil {
			return nil, p.errorf(start, "group name %q %w", shorten(word[1:]), err)
		}
		return &groupExpr{word[1:]}, nil
	case word[0] == '-':
		return nil, p.errorf(start, "a name does not begin with -; to exclude x, write !x")
	case strings.Contains(word, "@"):
		return nil, p.errorf(start, "user@host names a host outside the inventory: use it alone, and only on the command line")
	case strings.ContainsAny(word, "*?"):
		return p.glob(start, word)
	}
	return p.name(start, word)
}

// word reads up to a space, an operator, = or a quote; commas in brackets belong to the word.
func (p *parser) word() (string, error) {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if isSpace(c) || strings.IndexByte(`,|&()!="`, c) >= 0 {
			break
		}
		if c == '[' {
			end := strings.IndexByte(p.text[p.at:], ']')
			if end < 0 {
				return "", p.errorf(p.at, "[ without ]")
			}
			p.at += end
		}
		p.at++
	}
	return p.text[start:p.at], nil
}

func (p *parser) name(start int, word string) (expr, error) {
	pat, at, err := parsePattern(word, nameRune)
	if err != nil {
		return nil, p.errorf(start+at, "%w", err)
	}
	names, at, err := expandWord(word, nameRune, MaxExpand-p.names)
	if err != nil {
		return nil, p.errorf(start+at, "%w", err)
	}
	p.names += len(names)
	return newName(pat, names), nil
}

func newName(pat pattern, names []string) *nameExpr {
	e := &nameExpr{pat: pat, names: names}
	if len(names) > 1 {
		e.set = make(map[string]struct{}, len(names))
		for _, n := range names {
			e.set[n] = struct{}{}
		}
	}
	return e
}

func (p *parser) glob(start int, word string) (expr, error) {
	pat, at, err := parsePattern(word, func(r rune) bool { return r == '*' || r == '?' || nameRune(r) })
	if err != nil {
		return nil, p.errorf(start+at, "%w", err)
	}
	n := pat.count()
	if n > maxWeight {
		return nil, p.errorf(start, "the range with * or ? is too large")
	}
	globs := pat.expand()
	for _, g := range globs {
		p.weight += len(g)
	}
	if p.weight > maxWeight {
		return nil, p.errorf(start, "the globs and regular expressions are too large together")
	}
	return &globExpr{pat, globs}, nil
}

// regex reads a regular expression that begins at offset at.
func (p *parser) regex(at int) (expr, error) {
	src, err := p.quoted(at)
	switch {
	case errors.Is(err, errNoQuote):
		n, err := regexEnd(p.text[at:])
		if err != nil {
			return nil, p.errorf(at, "%w", err)
		}
		src, p.at = p.text[at:at+n], at+n
	case err != nil:
		return nil, err
	}
	src = normalRegex(src)
	re, weight, err := compileRegex(src)
	if err != nil {
		return nil, p.errorf(at, "%w", err)
	}
	if p.weight += weight; p.weight > maxWeight {
		return nil, p.errorf(at, "the globs and regular expressions are too large together")
	}
	return &regexExpr{src, re}, nil
}

// errNoQuote says that no quoted text begins here.
var errNoQuote = errors.New("no quote")

// quoted returns what stands between the quotes at offset at, escapes and all, and steps behind them.
func (p *parser) quoted(at int) (string, error) {
	if !strings.HasPrefix(p.text[at:], `"`) {
		return "", errNoQuote
	}
	end := quoteEnd(p.text[at:])
	if end < 0 {
		return "", p.errorf(at, `" is not closed`)
	}
	p.at = at + end + 1
	return p.text[at+1 : at+end], nil
}

// plain returns the unquoted text at offset at and steps behind it.
func (p *parser) plain(at int) string {
	end := at
	for _, r := range p.text[at:] {
		if !valueRune(r) {
			break
		}
		end += len(string(r))
	}
	p.at = end
	return p.text[at:end]
}

// atLabel steps to = or != if one comes next, spaces apart.
func (p *parser) atLabel() bool {
	rest := strings.TrimLeft(p.text[p.at:], " \t\r\n")
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "!=") {
		p.at = len(p.text) - len(rest)
		return true
	}
	return false
}

func (p *parser) label(start int, key string) (expr, error) {
	e := &labelExpr{key: key, not: p.skip('!')}
	p.skip('=')
	p.space()
	value, err := p.quoted(p.at)
	switch {
	case errors.Is(err, errNoQuote):
		at := p.at
		e.value = p.plain(at)
		if e.value == "" {
			return nil, p.errorf(at, `a value is missing after %s; the empty value is ""`, shorten(key))
		}
		if e.value[0] == '=' {
			return nil, p.errorf(at, "write = once")
		}
		e.glob = strings.ContainsAny(e.value, "*?")
	case err != nil:
		return nil, err
	default:
		e.value = unquoteValue(value)
	}
	if key != "tier" {
		if err := CheckLabel(key, e.value); err != nil {
			return nil, p.errorf(start, "label %q %w", shorten(key), err)
		}
	} else if err := CheckLabel("key", e.value); err != nil {
		return nil, p.errorf(start, "tier %w", err)
	}
	if p.weight += len(e.value); e.glob && p.weight > maxWeight {
		return nil, p.errorf(start, "the globs and regular expressions are too large together")
	}
	return e, nil
}

package hosts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits, so that no selector can exhaust the stack, the memory or the patience of whoever evaluates it.
const (
	maxText   = 256 << 10 // bytes of a selector
	maxDepth  = 64        // parentheses in parentheses
	maxTerms  = 2048      // parts that are not plain names
	maxWeight = 4096      // size of all globs (bytes) and regular expressions (instructions) together
)

// parser reads a selector by recursive descent. at is a byte offset in text.
type parser struct {
	text     string
	at       int
	readList func(string) ([]byte, error)

	names, terms, weight int // what was used of the limits
}

func (p *parser) parse() (expr, error) {
	switch {
	case len(p.text) > maxText:
		return nil, p.errorf(0, "the selector has %d bytes, more than %d", len(p.text), maxText)
	case !utf8.ValidString(p.text):
		return nil, p.errorf(0, "the selector is not UTF-8")
	case strings.TrimSpace(p.text) == "":
		return nil, p.errorf(0, "the selector is empty; to pick every host, write all")
	}
	e, err := p.union(0)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, p.errorf(p.at, "unexpected %s", p.here())
	}
	if _, ok := e.(*notExpr); ok {
		return nil, p.onlyExclusions(strings.IndexByte(p.text, '!'))
	}
	return e, nil
}

// union parses members separated by , or |. It returns a lone exclusion as such: whether that is enough is for the caller
// to say.
func (p *parser) union(depth int) (expr, error) {
	var pos, neg []expr
	p.space()
	start := p.at
	for {
		e, err := p.inter(depth)
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *notExpr:
			neg = append(neg, e.x)
		case *unionExpr:
			if len(e.neg) > 0 {
				pos = append(pos, e)
			} else {
				pos = append(pos, e.pos...)
			}
		default:
			pos = append(pos, e)
		}
		if !p.skip(',') && !p.skip('|') {
			break
		}
	}
	switch {
	case len(pos) == 0 && len(neg) == 1:
		return &notExpr{neg[0]}, nil
	case len(pos) == 0:
		return nil, p.onlyExclusions(start)
	case len(pos) == 1 && len(neg) == 0:
		return pos[0], nil
	}
	p.terms++
	return newUnion(pos, neg), nil
}

func (p *parser) inter(depth int) (expr, error) {
	p.space()
	start := p.at
	var xs []expr
	negative := true
	for {
		e, err := p.unary(depth)
		if err != nil {
			return nil, err
		}
		if i, ok := e.(*interExpr); ok {
			xs = append(xs, i.xs...)
		} else {
			xs = append(xs, e)
		}
		if _, not := e.(*notExpr); !not {
			negative = false
		}
		if !p.skip('&') {
			break
		}
	}
	if len(xs) == 1 {
		return xs[0], nil
	}
	if negative {
		return nil, p.onlyExclusions(start)
	}
	if p.terms++; p.terms > maxTerms {
		return nil, p.errorf(start, "the selector has more than %d parts", maxTerms)
	}
	return &interExpr{xs}, nil
}

func (p *parser) unary(depth int) (expr, error) {
	not := false
	for p.skip('!') {
		not = !not
	}
	e, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if !not {
		return e, nil
	}
	if n, ok := e.(*notExpr); ok {
		return n.x, nil
	}
	p.terms++
	return &notExpr{e}, nil
}

func (p *parser) operand(depth int) (expr, error) {
	p.space()
	start := p.at
	if !p.skip('(') {
		e, err := p.atom()
		if err != nil {
			return nil, err
		}
		if _, name := e.(*nameExpr); !name {
			p.terms++
		}
		if p.terms > maxTerms {
			return nil, p.errorf(start, "the selector has more than %d parts", maxTerms)
		}
		return e, p.wantOperator()
	}
	if depth >= maxDepth {
		return nil, p.errorf(start, "more than %d parentheses in each other", maxDepth)
	}
	e, err := p.union(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.skip(')') {
		if p.at < len(p.text) {
			return nil, p.errorf(p.at, "expected ) but found %s", p.here())
		}
		return nil, p.errorf(start, "( without )")
	}
	return e, p.wantOperator()
}

// wantOperator checks that what follows a part can follow it, to say so more helpfully than "unexpected".
func (p *parser) wantOperator() error {
	p.space()
	if p.at == len(p.text) || strings.IndexByte(",|&)", p.text[p.at]) >= 0 {
		return nil
	}
	return p.errorf(p.at, "expected , or & before %s", p.here())
}

func (p *parser) onlyExclusions(at int) error {
	return p.errorf(at, "only exclusions: say what to pick first, as in all,!x")
}

func (p *parser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

// skip steps over c, and the spaces before it, if it comes next.
func (p *parser) skip(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// here names what stands at the current place, for messages.
func (p *parser) here() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return fmt.Sprintf("%q", r)
}

// errorf returns an error about the byte at offset at.
func (p *parser) errorf(at int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &ParseError{Column: 1 + utf8.RuneCountInString(p.text[:max(0, min(at, len(p.text)))]), Msg: err.Error()}
}

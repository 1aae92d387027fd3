package rules

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// clipped is a length from which on a part's text may be only the beginning of it: the judge keeps 200 bytes, and a
// character that does not fit any more is left out.
const clipped = 196

// seen is a command that the judge saw, nested or not. torn means that more words may follow that are not there to be
// seen.
type seen struct {
	words []word
	torn  bool
	class policy.Class
	outer []policy.Class // of what it is a part of, where that is more than its parts
}

// collect returns all of them, and those that only our own reading of the source knows: the judge may have told of its
// reading in another language.
func (c *command) collect() []seen {
	told := map[*syntax.CallExpr]bool{}
	out := c.collectParts(nil, c.rep.Parts, told, nil)
	for _, call := range c.calls {
		if !told[call] && len(call.Args) > 0 {
			out = append(out, seen{words: wordsOf(call.Args), outer: c.rep.Classes})
		}
	}
	return out
}

func (c *command) collectParts(out []seen, parts []judge.Part, told map[*syntax.CallExpr]bool, outer []policy.Class) []seen {
	for i := range parts {
		p := &parts[i]
		words, torn, ok := c.callOf(p, told)
		if ok {
			out = append(out, seen{words, torn, p.Class, outer})
		}
		within := outer
		// A list is its parts; a wrapper, and what only a pipeline as a whole does, is more.
		if ok || !slices.ContainsFunc(p.Parts, func(q judge.Part) bool { return !p.Class.Worse(q.Class) }) {
			within = append(outer[:len(outer):len(outer)], p.Class)
		}
		out = c.collectParts(out, p.Parts, told, within)
	}
	return out
}

// callOf returns the words of a part that is a simple command. The judge's text of a nested command may have lost its
// quotes on the way, so its words are a guess at worst: good enough to ask, and only deny and ask rules use them.
func (c *command) callOf(p *judge.Part, told map[*syntax.CallExpr]bool) (words []word, torn, ok bool) {
	if p.Line > 0 {
		call := c.calls[[2]uint{uint(p.Line), uint(p.Col)}]
		if call != nil && strings.HasPrefix(c.src[min(len(c.src), int(call.Pos().Offset())):], beginning(p.Text)) {
			told[call] = true
			return wordsOf(call.Args), false, len(call.Args) > 0
		}
	}
	torn = len(p.Text) >= clipped
	file, err := parsed(p.Text, c.shell)
	if err != nil || len(file.Stmts) != 1 {
		for _, s := range strings.Fields(p.Text) {
			words = append(words, word{text: strings.Trim(s, `'"\;`), literal: true})
		}
		return words, true, len(words) > 0
	}
	switch cmd := file.Stmts[0].Cmd.(type) {
	case *syntax.CallExpr:
		return wordsOf(cmd.Args), torn, len(cmd.Args) > 0
	case *syntax.DeclClause:
		return []word{{text: cmd.Variant.Value, literal: true}}, true, true
	}
	return nil, false, false
}

// beginning is enough of a text to tell it from one that stands in the same place of another script.
func beginning(s string) string {
	if len(s) > 16 {
		return s[:16]
	}
	return strings.TrimRight(s, ";& \n")
}

package parse

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// commented keep parsers that keep comments.
var commented = map[syntax.LangVariant]*sync.Pool{
	syntax.LangBash:       newPool(syntax.LangBash, syntax.KeepComments(true)),
	syntax.LangPOSIX:      newPool(syntax.LangPOSIX, syntax.KeepComments(true)),
	syntax.LangMirBSDKorn: newPool(syntax.LangMirBSDKorn, syntax.KeepComments(true)),
	syntax.LangZsh:        newPool(syntax.LangZsh, syntax.KeepComments(true)),
}

// midWord returns where the parser sees a comment in the middle of a word: in ( ), $( ) and backquotes it begins one behind whatever
// ends with a quote or an expansion, as in (echo ""#; rm f). For shells a # begins one only where a word could begin.
func midWord(lang syntax.LangVariant, src string) (at []int) {
	maybe := false
	for i := range len(src) {
		maybe = maybe || src[i] == '#' && goesOn(src, i, nil)
	}
	if !maybe {
		return nil
	}
	pool := commented[lang]
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	file, _ := p.Parse(strings.NewReader(src), "")
	if file == nil {
		return nil
	}
	ends := map[int]bool{} // of parts of words
	var hashes []int
	func() {
		defer func() { _ = recover() }() // a torn tree may be torn anywhere
		for _, c := range file.Last {
			hashes = append(hashes, int(c.Hash.Offset()))
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Comment:
				hashes = append(hashes, int(n.Hash.Offset()))
			case syntax.WordPart:
				ends[int(n.End().Offset())] = true
			}
			return true
		})
	}()
	for _, i := range hashes {
		if i < len(src) && src[i] == '#' && goesOn(src, i, ends) {
			at = append(at, i)
		}
	}
	return at
}

// goesOn reports whether a word goes on at i, where a # is. Of what ends with a parenthesis or a backquote ends says whether that is a part of a
// word; nil means that it may be.
func goesOn(src string, i int, ends map[int]bool) bool {
	for i >= 2 && src[i-1] == '\n' && escaped(src, i-1) {
		i -= len("\\\n") // the line is continued
	}
	switch {
	case i == 0:
		return false
	case strings.IndexByte(" \t\n;&|(<>", src[i-1]) >= 0:
		return escaped(src, i-1)
	case src[i-1] == ')' || src[i-1] == '`':
		return ends == nil || ends[i]
	}
	return true
}

// escaped reports whether a backslash takes what is at i for itself.
func escaped(src string, i int) bool {
	before := strings.TrimRight(src[:i], `\`)
	return (i-len(before))%2 == 1
}

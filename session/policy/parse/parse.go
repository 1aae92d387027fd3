// Package parse reads shell source into the tree that shells make of it.
//
// The parser of mvdan.cc/sh joins a comment that ends in a backslash with the line that follows. No shell does: POSIX
// (XCU 2.3, token recognition, rule 9) ends a comment at the newline, and bash, zsh, dash, busybox ash, mksh and ksh93 run
// the next line. File hides such backslashes from the parser, so that the next line is in the tree, and reports that it did.
package parse

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxMends bounds how often one source is parsed again. Each round hides every backslash that the last tree shows.
const maxMends = 4

// pools keep parsers with their buffers; a parser is used by one goroutine at a time.
var pools = map[syntax.LangVariant]*sync.Pool{
	syntax.LangBash:       newPool(syntax.LangBash),
	syntax.LangPOSIX:      newPool(syntax.LangPOSIX),
	syntax.LangMirBSDKorn: newPool(syntax.LangMirBSDKorn),
	syntax.LangZsh:        newPool(syntax.LangZsh),
}

func newPool(lang syntax.LangVariant) *sync.Pool {
	return &sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(lang)) }}
}

// File parses src as lang, with the offsets of src. The file holds what was parsed before an error, torn anywhere, or is
// nil. Doubtful reports a comment that seems to go on behind a backslash: readers and the parser alike may take the next
// line for a part of it, so such a source needs approval. It may be called concurrently.
func File(lang syntax.LangVariant, src string) (file *syntax.File, doubtful bool, err error) {
	pool := pools[lang]
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	file, err = p.Parse(strings.NewReader(src), "")
	for range maxMends {
		ends := continuedComments(src, file, err == nil)
		if len(ends) == 0 {
			break
		}
		doubtful = true
		mended := []byte(src)
		for _, i := range ends {
			mended[i] = '#'
		}
		src = string(mended)
		file, err = p.Parse(strings.NewReader(src), "")
	}
	return file, doubtful, err
}

// continuedComments returns where the backslashes stand that end a line with a comment. A # begins one where a word could
// begin outside of quotes; more of them are found than there are, never fewer.
func continuedComments(src string, file *syntax.File, whole bool) (ends []int) {
	var quoted []bool
	begin := 0
	for line := range strings.Lines(src) {
		if strings.HasSuffix(line, "\\\n") {
			for i := range line {
				at := begin + i
				if src[at] != '#' || at > 0 && !strings.ContainsRune(" \t\n;&|()<>`{}\"'\\", rune(src[at-1])) {
					continue
				}
				if quoted == nil {
					quoted = inQuotes(src, file, whole)
				}
				if !quoted[at] {
					ends = append(ends, begin+len(line)-len("\\\n"))
					break
				}
			}
		}
		begin += len(line)
	}
	return ends
}

// inQuotes marks the bytes that are literal text of quotes and here-documents. Of a torn tree nothing is believed.
func inQuotes(src string, file *syntax.File, whole bool) []bool {
	quoted := make([]bool, len(src))
	if !whole {
		return quoted
	}
	mark := func(n syntax.Node) {
		from := min(int(n.Pos().Offset()), len(quoted))
		text := quoted[from:max(from, min(int(n.End().Offset()), len(quoted)))]
		for i := range text {
			text[i] = true
		}
	}
	markText := func(parts []syntax.WordPart) {
		for _, p := range parts {
			if l, ok := p.(*syntax.Lit); ok {
				mark(l)
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			mark(n)
		case *syntax.DblQuoted:
			markText(n.Parts)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				markText(n.Hdoc.Parts)
			}
		}
		return true
	})
	return quoted
}

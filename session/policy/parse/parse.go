// Package parse reads shell source into the tree that shells make of it.
//
// The parser of mvdan.cc/sh joins a comment that ends in a backslash with the line that follows. No shell does: POSIX
// (XCU 2.3, token recognition, rule 9) ends a comment at the newline, and bash, zsh, dash, busybox ash, mksh and ksh93 run
// the next line. File hides such backslashes from the parser, so that the next line is in the tree, and reports that it did.
//
// It also sees a comment in the middle of a word, behind quotes and expansions within parentheses: see midWord.
//
// It also refuses the &> of bash as POSIX, where it is an & and a redirect. File shows these, with the & one byte before its place.
//
// Nor do shells agree where a here-document ends whose lines are joined by backslashes: ksh93 takes what follows a join for a line
// of its own, others only what it makes together. File reports such a document too.
package parse

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxMends bounds how often one source is parsed again. Each round hides every backslash that the last tree shows.
const maxMends = 6

// pools keep parsers with their buffers; a parser is used by one goroutine at a time.
var pools = map[syntax.LangVariant]*sync.Pool{
	syntax.LangBash:       newPool(syntax.LangBash),
	syntax.LangPOSIX:      newPool(syntax.LangPOSIX),
	syntax.LangMirBSDKorn: newPool(syntax.LangMirBSDKorn),
	syntax.LangZsh:        newPool(syntax.LangZsh),
}

func newPool(lang syntax.LangVariant, more ...syntax.ParserOption) *sync.Pool {
	options := append(more, syntax.Variant(lang))
	return &sync.Pool{New: func() any { return syntax.NewParser(options...) }}
}

// A Doubt is why readers, the parser and shells may take a source for different ones, so that it needs approval: a sentence.
// The zero Doubt is none.
type Doubt string

// What may be in doubt.
const (
	Comment      Doubt = "a comment ends in a backslash, and the line after it is run"
	MidWord      Doubt = "a # in the middle of a word looks like the start of a comment"
	HereDocument Doubt = "lines of a here-document are joined, and shells disagree where it ends"
)

// File parses src as lang, with the offsets of src. The file holds what was parsed before an error, torn anywhere, or is
// nil. It may be called concurrently.
func File(lang syntax.LangVariant, src string) (file *syntax.File, doubt Doubt, err error) {
	pool := pools[lang]
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	file, err = p.Parse(strings.NewReader(src), "")
	if err != nil && lang == syntax.LangPOSIX {
		if split := splitRedirects(src); split != "" {
			if other, again := p.Parse(strings.NewReader(split), ""); again == nil && splitAt(src, split, other) {
				src, file, err = split, other, nil
			}
		}
	}
	for range maxMends {
		ends, within := continuedComments(src, file, err == nil), []int(nil)
		if len(ends) == 0 {
			if within = midWord(lang, src); len(within) == 0 {
				break
			}
		}
		mended := []byte(src)
		for _, i := range ends {
			mended[i], doubt = '#', Comment
		}
		for _, i := range within {
			mended[i], doubt = '_', MidWord
		}
		src = string(mended)
		file, err = p.Parse(strings.NewReader(src), "")
	}
	if doubt == "" && joinedDocument(src, file) {
		doubt = HereDocument
	}
	return file, doubt, err
}

// splitRedirects writes the &> of bash as the two operators that it is in POSIX shells, "x &>f" as "x& >f": the parser refuses it in their
// language. No offset but that of the & changes. It returns "" where it finds none that it can write so.
func splitRedirects(src string) string {
	if !strings.Contains(src, "&>") {
		return ""
	}
	pool := pools[syntax.LangBash]
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	file, err := p.Parse(strings.NewReader(src), "")
	if err != nil {
		return ""
	}
	var split []byte
	syntax.Walk(file, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Op != syntax.RdrAll && r.Op != syntax.AppAll {
			return true
		}
		if at := int(r.OpPos.Offset()); at > 1 && at+1 < len(src) && src[at:at+2] == "&>" && (src[at-1] == ' ' || src[at-1] == '\t') && src[at-2] != '\\' {
			if split == nil {
				split = []byte(src)
			}
			split[at-1], split[at] = '&', ' '
		}
		return true
	})
	return string(split)
}

// splitAt reports whether each & that splitRedirects moved ends a command in the tree of what it wrote.
func splitAt(src, split string, file *syntax.File) bool {
	ends := make(map[uint]bool)
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok && s.Background {
			ends[s.Semicolon.Offset()] = true
		}
		return true
	})
	for i := range len(src) {
		if src[i] != split[i] && split[i] == '&' && !ends[uint(i)] {
			return false
		}
	}
	return true
}

// joinedDocument reports whether lines are joined anywhere between the operator of a here-document without quotes and its end.
func joinedDocument(src string, file *syntax.File) (found bool) {
	defer func() { _ = recover() }() // a torn tree may be torn anywhere, and is an error already
	syntax.Walk(file, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc || quotedWord(r.Word) {
			return true
		}
		end := len(src) // of one that is empty
		if r.Hdoc != nil {
			end = min(int(r.Hdoc.End().Offset()), len(src))
		}
		found = found || strings.Contains(src[min(int(r.Pos().Offset()), end):end], "\\\n")
		return true
	})
	return found
}

// quotedWord reports whether any of a word is quoted.
func quotedWord(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(strings.ReplaceAll(p.Value, "\\\n", ""), `\`) {
				return true
			}
		}
	}
	return false
}

// continuedComments returns where the backslashes stand that end a line with a comment. A # begins one where a word could
// begin outside of quotes; more of them are found than there are, never fewer.
func continuedComments(src string, file *syntax.File, whole bool) (ends []int) {
	var quoted []bool
	begins := func(at int) bool {
		if src[at] != '#' || at > 0 && !strings.ContainsRune(" \t\n;&|()<>`{}\"'\\", rune(src[at-1])) {
			return false
		}
		if quoted == nil {
			quoted = inQuotes(src, file, whole)
		}
		return !quoted[at]
	}
	begin := 0
	for line := range strings.Lines(src) {
		end := begin + len(line)
		if strings.HasSuffix(line, "\\\n") && anyOf(begin, end, begins) {
			ends = append(ends, end-len("\\\n"))
		}
		begin = end
	}
	return ends
}

func anyOf(from, to int, is func(at int) bool) bool {
	for at := from; at < to; at++ {
		if is(at) {
			return true
		}
	}
	return false
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

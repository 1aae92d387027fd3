package rules

import (
	"errors"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// word is one word of a call. The text of one that is not literal is known only when it runs.
type word struct {
	text    string
	literal bool
}

// parsed parses src in the language that a shell most likely reads it in. What readers or shells could take for another
// source is an error.
func parsed(src, shell string) (*syntax.File, error) {
	lang := syntax.LangBash // of those that "" and "sh" may be, the one with the most reserved words
	switch shell {
	case "zsh":
		lang = syntax.LangZsh
	case "mksh", "ksh":
		lang = syntax.LangMirBSDKorn
	case "dash":
		lang = syntax.LangPOSIX
	}
	file, doubt, err := parse.File(lang, src)
	if err == nil && doubt != "" {
		err = errors.New(string(doubt))
	}
	return file, err
}

func wordsOf(args []*syntax.Word) []word {
	out := make([]word, len(args))
	for i, a := range args {
		out[i].text, out[i].literal = literal(a)
	}
	return out
}

// literal returns a word after quote removal, and whether it is one word and the same in every shell. What may be
// anything else counts as not literal: patterns, braces, tildes and escapes that shells disagree about.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !bare(&b, p.Value, i == 0) {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || !doubleQuoted(&b, l.Value) {
					return "", false
				}
			}
		default:
			return "", false
		}
	}
	return b.String(), len(w.Parts) > 0
}

// bare adds text that stands outside quotes.
func bare(b *strings.Builder, s string, first bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, strings.IndexByte(alphanumeric+"_-./:,+@%", c) >= 0:
		case c == '=' && !(first && i == 0): // zsh looks for a program called what follows
		case c == '\\' && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < 0x7f:
			i++
		default:
			return false
		}
		b.WriteByte(s[i])
	}
	return true
}

// doubleQuoted adds text that stands within double quotes.
func doubleQuoted(b *strings.Builder, s string) bool {
	if strings.Contains(s, "\\\n") {
		return false
	}
	_, _ = quotedEscapes.WriteString(b, s)
	return true
}

var quotedEscapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, "$", "\\`", "`")

package judge

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// braceWords follows the brace expansions of a split word into the words it makes, at most maxBraces; ok is false when
// there are more. Ranges that are not followed count with all their words: ranges beside each other multiply.
func braceWords(word *syntax.Word) (out [][]syntax.WordPart, ok bool) {
	out, n, ok := countedWords(word)
	return out, ok && n <= maxRange
}

func countedWords(word *syntax.Word) (out [][]syntax.WordPart, n int, ok bool) {
	out, n, ok = [][]syntax.WordPart{nil}, 1, true
	for _, part := range word.Parts {
		br, isBrace := part.(*syntax.BraceExp)
		if !isBrace {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], part)
			}
			continue
		}
		alternatives, words, all := braceElems(br)
		n = min(n, maxRange+1) * min(words, maxRange+1)
		ok = ok && all
		next := make([][]syntax.WordPart, 0, len(out)*len(alternatives))
		for _, head := range out {
			for _, alt := range alternatives {
				if len(next) == maxBraces {
					return next, n, false
				}
				next = append(next, append(head[:len(head):len(head)], alt...))
			}
		}
		out = next
	}
	return out, n, ok
}

func braceElems(br *syntax.BraceExp) (out [][]syntax.WordPart, n int, ok bool) {
	ok = true
	if br.Sequence {
		return sequence(br)
	}
	for _, e := range br.Elems {
		words, each, all := countedWords(e)
		n = min(n+each, maxRange+1)
		ok = ok && all
		out = append(out, words...)
		if len(out) > maxBraces {
			return out[:maxBraces], n, false
		}
	}
	return out, n, ok
}

// maxRange bounds the numbers of a range: a shell makes a word of each before it does anything else.
const maxRange = 10_000

// maxLetters bounds the words of a range of letters, which may be of both cases and what stands between them.
const maxLetters = 'z' - 'A' + 1

// unfollowed stands for the words of a range that is not followed.
var unfollowed = &syntax.ParamExp{}

func sequence(br *syntax.BraceExp) (out [][]syntax.WordPart, words int, ok bool) {
	from, err1 := strconv.Atoi(br.Elems[0].Lit())
	to, err2 := strconv.Atoi(br.Elems[1].Lit())
	numbers := err1 == nil && err2 == nil
	within := func(n int) bool { return max(from, to) < min(from, to)+n } // where that overflows, it is not
	// Steps, letters and padding: the words are harmless numbers and letters, but not followed one by one.
	if !numbers || len(br.Elems) > 2 || !within(maxBraces) {
		few := numbers && within(maxRange) || !numbers && len(br.Elems[0].Lit()) == 1 && len(br.Elems[1].Lit()) == 1
		if numbers && few {
			return [][]syntax.WordPart{{unfollowed}}, max(from, to) - min(from, to) + 1, true
		}
		return [][]syntax.WordPart{{unfollowed}}, maxLetters, few
	}
	step := 1
	if to < from {
		step = -1
	}
	for n := from; ; n += step {
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}})
		if n == to {
			return out, len(out), true
		}
	}
}

func hasRange(word *syntax.Word) bool {
	for _, part := range word.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if br.Sequence {
			return true
		}
		for _, e := range br.Elems {
			if hasRange(e) {
				return true
			}
		}
	}
	return false
}

// openRange finds a range between braces of which an expansion is an end: to zsh and ksh93 it is one.
var openRange = lazyregexp.New("^(?:[^\"'\\\\]|\\\\.|\"[^\"]*\"|'[^']*')*(?:\\{[^\"'/{}]*\\.\\.[\"$`]|(?:\\$\\w+|[})])\\.\\.[\\w.-]*\\})")

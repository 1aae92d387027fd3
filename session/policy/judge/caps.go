package judge

import "strings"

// What is looked at. Over a limit the class is at least Unknown, and what was seen so far can still be forbidden.
const (
	maxScript     = 64 << 10 // bytes that are parsed
	maxWord       = 4 << 10  // bytes of one word
	maxDepth      = 32       // substitutions, blocks and scripts within one another
	maxParts      = 256      // commands
	maxWords      = 1024     // words of one command
	maxTokens     = 4000     // words and operators, counted before parsing
	maxPatterns   = 256      // patterns of files
	maxOpenBraces = 32       // in one word
	maxBraces     = 64       // words that one brace expansion is followed into
	maxTexts      = 64       // texts within code of another language
	maxNames      = 512      // names and paths reported
	maxText       = 200      // bytes of a Part's text
	hardDepth     = 40       // where the walk stops even looking for what is forbidden
	hardParts     = 1024
	maxOpeners    = 1024 // brackets and keywords that may nest: the parser needs quadratic time for some of them
)

// prefixWithinCaps returns the part of src that may be parsed. The parser recurses once per opening bracket or compound
// keyword and takes some of them back, so they are counted, whether they really nest or not.
func prefixWithinCaps(src string) (prefix string, cut bool) {
	if len(src) > maxScript {
		src, cut = src[:maxScript], true
	}
	openers, tokens := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{', '[', '`', '?', '!', '~':
			openers++
		case 'i', 'w', 'u', 'f', 'c', 's', 't', 'e':
			if (i == 0 || isSeparator(src[i-1])) && opensCompound(src[i:]) {
				openers++
			}
		case ' ', '\t', '\n', ';', '&', '|', '<', '>', '$', '\'', '"':
			tokens++
		default:
			continue
		}
		if openers > maxOpeners || tokens > maxTokens {
			return src[:i], true
		}
	}
	return src, cut
}

func isSeparator(c byte) bool {
	switch c {
	case ' ', '\t', '\n', ';', '&', '|', '(', ')', '{', '`':
		return true
	}
	return false
}

var compoundWords = [...]string{
	"if", "while", "until", "for", "foreach", "case", "select", "time", "coproc", "function", "else", "elif", "then",
}

func opensCompound(s string) bool {
	for _, w := range compoundWords {
		if strings.HasPrefix(s, w) && (len(s) == len(w) || isSeparator(s[len(w)])) {
			return true
		}
	}
	return false
}

package redact

import (
	"bytes"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// standIns are words that stand where a value would be.
var standIns = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`true false null nil none undefined yes no on off required optional string str int integer bool
		boolean bytes byte any object text ok empty set unset missing invalid expired valid wrong incorrect failed failure
		success prompt ask never always default disabled enabled redacted hidden masked encrypted protected files
		changed unchanged unknown error denied rejected accepted mismatch yescrypt sha512 md5 char varchar number
		stdin file env bearer basic digest negotiate same-origin include omit`) {
		words[w] = true
	}
	return words
}()

var (
	masked    = lazyregexp.New(`^(?:[*•.x#_-]{3,}|X{3,}|…)$`)
	expansion = lazyregexp.New(`^(?:\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\$\(.*|\$\{\{?.*|\{\{.*|<.*|%[sdvqrx(].*|%[A-Za-z_]+%|\[.*|\{[A-Za-z_.]*\}?|` + "`.*" + `|@\{.*|[|>][+-]?|&[a-z_]+)$`)
)

// placeholder reports whether v only stands for a value: a word, a mask, a variable, or a mark.
func placeholder(v []byte) bool {
	if isMarks(v) || masked.Match(v) || expansion.Match(v) {
		return true
	}
	return len(v) <= 12 && standIns[string(bytes.ToLower(bytes.TrimRight(v, ".,;:!")))]
}

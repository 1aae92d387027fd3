package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// QuotedCRLF reports whether [Normalize] changes what stands within quotes or a here-document, where a CR may be meant. What cannot
// be parsed counts where it holds quotes at all.
func QuotedCRLF(script string) bool {
	if !strings.Contains(script, "\r\n") {
		return false
	}
	if len(script) > maxScript {
		return true
	}
	var changed []int // where a CRLF has become a newline
	text := Normalize(script)
	for i, cut := 0, 0; ; cut++ {
		n := strings.Index(script[i:], "\r\n")
		if n < 0 {
			break
		}
		i += n + 2
		changed = append(changed, i-2-cut)
	}
	file, _, err := parse.File(syntax.LangBash, text)
	if err != nil {
		return strings.ContainsAny(text, "'\"") || strings.Contains(text, "<<")
	}
	found := false
	within := func(n syntax.Node) {
		for _, at := range changed {
			found = found || int(n.Pos().Offset()) <= at && at < int(n.End().Offset())
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			within(n)
		case *syntax.DblQuoted:
			within(n)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				within(n.Hdoc)
			}
		}
		return !found
	})
	return found
}

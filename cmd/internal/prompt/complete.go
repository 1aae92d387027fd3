package prompt

import (
	"context"
	"slices"
	"strings"
)

// picks are the words that :only takes.
var picks = []string{"failed", "notrun", "ok", "unreachable"}

// complete completes a line at the cursor: a command of the prompt, what the caller knows, or the last line that began so.
func (p *Prompt) complete(ctx context.Context, line string, at int) (string, int, bool) {
	head, tail := line[:at], line[at:]
	if strings.HasPrefix(head, ":") {
		var words []string
		before := ":"
		if arg, ok := strings.CutPrefix(head, ":only "); ok {
			before, head, words = ":only ", arg, picks
		} else {
			head = head[1:]
			for _, o := range owns {
				words = append(words, o.name)
			}
		}
		return p.finish(before, head, tail, words)
	}
	if p.cfg.Complete != nil {
		if before, words := p.cfg.Complete(ctx, line, at); len(words) > 0 {
			return p.finish(before, strings.TrimPrefix(head, before), tail, words)
		}
	}
	if whole, ok := p.history.beginning(head); ok && tail == "" && head != "" {
		return whole, len(whole), true
	}
	return "", 0, false
}

// maxShown bounds how many words are shown where several fit.
const maxShown = 40

// finish completes the word that begins with head, as far as all words that fit agree. Where they do not, it shows them.
func (p *Prompt) finish(before, head, tail string, words []string) (string, int, bool) {
	fit := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, head) })
	if len(fit) == 0 {
		return "", 0, false
	}
	common := fit[0]
	for _, w := range fit[1:] {
		for !strings.HasPrefix(w, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.ToValidUTF8(common, "")
	if common == head && len(fit) > 1 {
		shown := fit[:min(len(fit), maxShown)]
		text := strings.Join(shown, "  ")
		if len(shown) < len(fit) {
			text += "  …"
		}
		_, _ = p.editor.line.Write([]byte(text + "\n"))
		return "", 0, false
	}
	if len(fit) == 1 && tail == "" && !strings.HasSuffix(common, "/") {
		common += " "
	}
	return before + common + tail, len(before) + len(common), true
}

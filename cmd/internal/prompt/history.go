package prompt

import (
	"slices"
	"strings"
	"unicode"
)

// history is what was typed, and before that what was run earlier, each line once. It is for one goroutine at a time.
type history struct {
	mine []string // the oldest first
	old  func() []string
	read bool
	past []string // the newest first

	searched, found string // by search: what was typed, and what that was last
	at              int    // where that is
}

// Add implements term.History.
func (h *history) Add(line string) {
	line = strings.TrimRight(line, " ")
	if line == "" || line[0] == ' ' {
		return
	}
	same := func(old string) bool { return old == line }
	h.mine, h.past = append(slices.DeleteFunc(h.mine, same), line), slices.DeleteFunc(h.past, same)
}

// Len implements term.History.
func (h *history) Len() int { return len(h.mine) + len(h.earlier()) }

// At implements term.History: 0 is the newest.
func (h *history) At(i int) string {
	if i < len(h.mine) {
		return h.mine[len(h.mine)-1-i]
	}
	return h.earlier()[i-len(h.mine)]
}

// earlier is what was run before the prompt, as far as it is one line that can be shown, each once.
func (h *history) earlier() []string {
	if h.read || h.old == nil {
		return h.past
	}
	h.read = true
	seen := map[string]bool{}
	for _, line := range h.old() {
		if line == "" || seen[line] || slices.Contains(h.mine, line) || strings.ContainsFunc(line, unicode.IsControl) {
			continue
		}
		seen[line] = true
		h.past = append(h.past, line)
	}
	return h.past
}

// search is the newest line that holds what is typed. Asked for again where that is found, it goes on to the one before it.
func (h *history) search(typed string) (string, bool) {
	from := 0
	if h.found != "" && typed == h.found {
		typed, from = h.searched, h.at+1
	}
	for i := from; i < h.Len(); i++ {
		if line := h.At(i); line != typed && strings.Contains(line, typed) {
			h.searched, h.found, h.at = typed, line, i
			return line, true
		}
	}
	return "", false
}

// beginning is the newest line that begins so, and is longer.
func (h *history) beginning(with string) (string, bool) {
	for i := range h.Len() {
		if line := h.At(i); len(line) > len(with) && strings.HasPrefix(line, with) {
			return line, true
		}
	}
	return "", false
}

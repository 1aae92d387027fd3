package session

import "github.com/fairlead-ssh/fairlead/session/held"

// maxRefused bounds how many refused calls a Result lists.
const maxRefused = 50

// refusals are the calls that were refused to one command. Exec.mu guards them.
type refusals struct {
	list []held.Refusal
	seen map[held.Refusal]bool
	more int
	left *held.Left // what its shell left behind; nil where it has not ended
}

// add takes a report of a held shell's supervisor.
func (r *refusals) add(report []byte) {
	call, left, ok := held.Refused(report)
	switch {
	case !ok || r.seen[call]:
		return
	case left != nil:
		r.left = left
		return
	case len(r.list) == maxRefused:
		r.more++
		return
	}
	if r.seen == nil {
		r.seen = map[held.Refusal]bool{}
	}
	r.seen[call] = true
	r.list = append(r.list, call)
}

// words are the refused calls of a Result as the audit log has them.
func (r *Result) refusedWords(redact func(string) string) (words []string) {
	for _, call := range r.Refused {
		words = append(words, redact(call.String()))
	}
	return words
}

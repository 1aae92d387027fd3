package sshconfig

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
)

// Command is a program with its arguments. It is started without a shell.
type Command struct {
	words  []string // the first is an absolute path
	tokens tokens
}

// IsZero reports whether there is no program.
func (c Command) IsZero() bool { return len(c.words) == 0 }

// Argv returns the words with their tokens expanded. more are tokens that are known only when the program starts.
func (c Command) Argv(more map[byte]string) ([]string, error) {
	t := maps.Clone(c.tokens)
	maps.Copy(t, more)
	argv := make([]string, len(c.words))
	for i, word := range c.words {
		var err error
		if argv[i], err = expand(word, t, nil); err != nil {
			return nil, err
		}
	}
	return argv, nil
}

// keyTokens are those of KnownHostsCommand about a host's key.
var keyTokens = map[byte]string{'H': "", 'I': "", 'K': "", 'f': "", 't': ""}

// finishKnownHostsCommand reads the words of KnownHostsCommand.
func (r *resolver) finishKnownHostsCommand() {
	v := &r.s.KnownHostsCommand
	if !v.isSet() || lower(v.Raw) == None {
		v.V = Command{}
		return
	}
	words, ok := splitWords(v.Raw, false)
	err := errors.New("a quote is not closed")
	if ok {
		v.V = Command{words: words, tokens: r.s.tokens(r.cfg.local)}
		_, err = v.V.Argv(keyTokens)
	}
	if err == nil && (len(words) == 0 || !filepath.IsAbs(words[0])) {
		err = fmt.Errorf("%q is not the absolute path of a program", strings.Join(words[:min(1, len(words))], ""))
	}
	if err != nil {
		r.problems.add(&Error{Pos: v.From, Msg: "KnownHostsCommand", Err: err})
	}
}

package sshconn

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
)

// Bounds of what a server may ask with keyboard-interactive in one go.
const (
	maxPrompts = 16
	maxRounds  = 16
	maxText    = 4 << 10 // of each text
)

// errNoWay ends a login for which nothing is left to try.
var errNoWay = errors.New("unable to authenticate")

// byPerson returns the next attempt with what a person types; nil where there is none.
func (l *login) byPerson(method string) ssh.AuthMethod {
	n := l.typed[method]
	if l.noPerson || l.t.ask == nil || n >= l.t.methods.Prompts || method == allowed.ByPrompts && n > 0 && !l.prompted {
		return nil
	}
	if l.typed == nil {
		l.typed = map[string]int{}
	}
	l.typed[method] = n + 1
	l.begin(session.AuthTry{Method: method, From: "typed"})
	if method == allowed.ByPassword {
		return l.byPassword(n + 1)
	}
	rounds, answered := 0, false
	return ssh.KeyboardInteractive(func(name, instruction string, texts []string, echos []bool) ([]string, error) {
		l.prompted = true
		if rounds++; rounds > maxRounds || len(texts) > maxPrompts {
			return nil, l.unanswered(fmt.Errorf("the server asks more than %d times, or for more than %d things at once", maxRounds, maxPrompts))
		}
		q := Question{Kind: AskLogin, Method: allowed.ByPrompts, Name: clip(name), Instruction: clip(instruction), Try: n + 1}
		if answered {
			q.Try = 1 // the server goes on after an answer that was not wrong
		}
		answered = answered || len(texts) > 0
		return l.answers(q, n+1, texts, echos)
	})
}

// byPassword is one attempt with a password. The library tries it once more after a plain refusal, and only then: that it comes back
// for a password tells that refusal from an answer that it does not understand, which it tells nobody as long as there is more to try.
func (l *login) byPassword(try int) ssh.AuthMethod {
	asked := false
	return ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string, error) {
		if asked {
			l.puzzled = false
			return "", errRefused
		}
		asked = true
		got, err := l.password(try)
		l.puzzled = err == nil
		return got, err
	}), 2)
}

// errRefused ends an attempt that the server has refused.
var errRefused = errors.New("the server refuses the password")

func (l *login) password(try int) (string, error) {
	q := Question{Kind: AskLogin, Method: allowed.ByPassword, Try: try, Prompts: []Prompt{{Text: fmt.Sprintf("%s@%s's password: ", l.t.user, l.t.host)}}}
	got, err := l.typedFor(q, try)
	if err != nil {
		return "", err
	}
	return got[0], nil
}

func (l *login) answers(q Question, try int, texts []string, echos []bool) ([]string, error) {
	for i, text := range texts {
		q.Prompts = append(q.Prompts, Prompt{Text: clip(text), Echo: echos[i]})
	}
	if len(q.Prompts) == 0 && q.Name == "" && q.Instruction == "" {
		return nil, nil // nothing to say, and nothing to answer
	}
	return l.typedFor(q, try)
}

// typedFor puts a question of a try of its method, from 1, and returns an answer for each prompt. The SSH library wants strings,
// which cannot be wiped.
func (l *login) typedFor(q Question, n int) ([]string, error) {
	a, err := l.put(q)
	defer a.wipe()
	switch {
	case err == nil && len(a.Secrets) != len(q.Prompts):
		err = fmt.Errorf("%d answers for %d prompts", len(a.Secrets), len(q.Prompts))
	case errors.Is(err, ErrNoPerson):
		l.noPerson = true
		return nil, err
	}
	if err != nil {
		return nil, l.unanswered(err)
	}
	if try := (attempt{q.Method, n}); len(q.Prompts) > 0 && !slices.Contains(l.given, try) {
		l.given = append(l.given, try)
	}
	out := make([]string, len(a.Secrets))
	for i, s := range a.Secrets {
		out[i] = string(s)
	}
	return out, nil
}

// unanswered ends the login for want of an answer.
func (l *login) unanswered(err error) error {
	l.notTyped = err
	return err
}

// attempt is one try of a method, from 1.
type attempt struct {
	method string
	try    int
}

// tries says what was typed, for a message.
func (l *login) tries() (out []string) {
	for _, method := range l.t.methods.Order {
		n := 0
		for _, a := range l.given {
			if a.method == method {
				n++
			}
		}
		switch {
		case n == 1:
			out = append(out, method)
		case n > 1:
			out = append(out, fmt.Sprintf("%s (%d times)", method, n))
		}
	}
	return out
}

// untried says why ways that the server takes were not tried.
func (l *login) untried() (out []Untried) {
	for _, method := range l.methods {
		switch why := l.t.methods.Off[method]; {
		case why != "":
			out = append(out, Untried{method, why})
		case method != allowed.ByPassword && method != allowed.ByPrompts:
			if method != allowed.ByKey {
				out = append(out, Untried{method, "not supported"})
			}
		case !slices.Contains(l.t.methods.Order, method):
		case l.t.ask == nil || l.noPerson:
			out = append(out, Untried{method, ErrNoPerson.Error()})
		}
	}
	return out
}

func clip(text string) string { return text[:min(len(text), maxText)] }

package sshconn

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// Ask asks a person while a connection is being made. The time that it takes does not count. It must return when ctx ends, and
// may be called concurrently. Its error ends the attempt; one that wraps [ErrNoPerson] says that only people can answer and
// that there is none, so that other ways are tried.
type Ask func(ctx context.Context, q Question) (Answer, error)

// ErrNoPerson is returned, or wrapped, by an [Ask] that cannot reach a person.
var ErrNoPerson = errors.New("there is no person to ask: run this at a terminal")

// QuestionKind is what a question is about.
type QuestionKind string

// The kinds.
const (
	AskHostKey    QuestionKind = "host-key"   // whether to trust and record the unknown key of a host
	AskHostKeys   QuestionKind = "host-keys"  // whether to record what a known host says of its own keys (UpdateHostKeys ask)
	AskPassphrase QuestionKind = "passphrase" // of a key file that the server has accepted
	AskLogin      QuestionKind = "login"      // what the server wants to know: a password, or prompts of its own
	AskTouch      QuestionKind = "touch"      // nothing to answer: a security key waits to be touched
)

// Question is what is asked.
type Question struct {
	Kind QuestionKind
	Host string // as the operator calls it; a jump host where that is concerned
	Addr string // "10.0.0.11:22"
	User string

	Unknown *knownhosts.UnknownError // of AskHostKey: the key, and what is known of the host
	File    string                   // of AskHostKey and AskHostKeys: where a yes is recorded; "" means nowhere
	Change  *HostKeyChange           // of AskHostKeys
	KeyFile string                   // of AskPassphrase; of AskTouch the key's fingerprint

	// Of AskLogin. Name, Instruction and the texts of Prompts are the server's, as it sent them: they are to be cleaned before
	// a terminal sees them. Without Prompts there is nothing to answer.
	Method            string // "password", "keyboard-interactive", or "banner" for what the server, or a ProxyCommand, says to everybody
	Name, Instruction string
	Prompts           []Prompt

	Try int // more than 1 means that what was answered before was wrong
}

// Prompt is one thing that a server wants to know.
type Prompt struct {
	Text string
	Echo bool // what is typed may be seen
}

// Answer is what a person said.
type Answer struct {
	Trust   bool     // of AskHostKey and AskHostKeys
	Secrets [][]byte // one passphrase, or one for each prompt; wiped after use
}

// put asks, while the clock of l stands still.
func (l *login) put(q Question) (Answer, error) {
	if l.t.ask == nil {
		return Answer{}, ErrNoPerson
	}
	l.clk.Pause()
	defer l.clk.Resume()
	_ = l.tell(l.clk) // which may say what is asked
	q.Host, q.Addr, q.User = l.t.name, l.t.addr(), l.t.user
	l.asked.Store(true)
	a, err := l.t.ask(l.clk, q)
	if err == nil && l.clk.Err() != nil {
		a.wipe()
		err = ended(l.clk)
	}
	return a, err
}

func (a Answer) wipe() {
	for _, s := range a.Secrets {
		clear(s)
	}
}

// turns lets one question about a thing be asked at a time. The zero value is ready.
type turns struct {
	mu sync.Mutex
	m  map[string]*turn
}

type turn struct {
	token chan struct{}
	users int
}

// take waits for the turn about name. The caller calls done, or gets an error with the end of ctx.
func (t *turns) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	if t.m == nil {
		t.m = map[string]*turn{}
	}
	one := t.m[name]
	if one == nil {
		one = &turn{token: make(chan struct{}, 1)}
		t.m[name] = one
	}
	one.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(t.m, name)
		}
	}
	select {
	case one.token <- struct{}{}:
		return func() { <-one.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ended(ctx)
	}
}

package become

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Question is what a person is asked: one password.
type Question struct {
	Host   string // that it is tried on first
	Login  string // the account that logs in there
	Become hosts.Become
	Hosts  int    // of the run
	Says   string // a prompt of the host's own, for something else than the password: a second factor, for this host alone
	Owner  string // whose password the host's program says that it wants; "" where it does not say
}

// Whose is the account that has the password.
func (q Question) Whose() string {
	if q.Owner != "" {
		return q.Owner
	}
	if methods[q.Become.Program()].others {
		return q.Become.User
	}
	return q.Login
}

// Prompt is the question in a line.
func (q Question) Prompt() string {
	if q.Says != "" {
		return fmt.Sprintf("%s on %s asks: %s ", q.Become.Program(), q.Host, q.Says)
	}
	text := q.Become.Program() + " password"
	if whose := q.Whose(); whose != "" {
		text += " for " + whose
	}
	if q.Hosts > 1 {
		return fmt.Sprintf("%s, for %d hosts: ", text, q.Hosts)
	}
	return text + " on " + q.Host + ": "
}

// Ask asks a person for a password, and returns it in memory that the caller wipes. ctx bounds the wait. Where there is no person, or
// no answer, it is an error.
type Ask func(ctx context.Context, q Question) ([]byte, error)

// Run is what is known of passwords in one run of a command on hosts.
type Run struct {
	hosts int

	mu      sync.Mutex // guards what follows, and what the secrets are
	secrets map[string]*secret
	over    bool
}

// secret is one password.
type secret struct {
	turn  chan struct{} // holds one token: who has it asks, or tries the password
	value []byte        // nil before it was asked for, and once it is wiped
	good  bool          // a host has taken it
	bad   string        // the host that has refused it
	err   error         // why there is none
}

var (
	errOver     = errors.New("the command has ended")
	errNoPerson = errors.New("there is no person to ask")
)

type runKey struct{}

// InRun returns a context under which all that becomes another account shares its passwords: each is asked for once. hosts is how
// many hosts that is about. Where ctx has such a run it stays. end wipes the passwords.
func InRun(ctx context.Context, hosts int) (_ context.Context, end func()) {
	if ctx.Value(runKey{}) != nil {
		return ctx, func() {}
	}
	r := &Run{hosts: hosts, secrets: map[string]*secret{}}
	return context.WithValue(ctx, runKey{}, r), r.end
}

// runOf returns that of ctx, or one for a single program.
func runOf(ctx context.Context) (r *Run, end func()) {
	if r, ok := ctx.Value(runKey{}).(*Run); ok {
		return r, func() {}
	}
	r = &Run{hosts: 1, secrets: map[string]*secret{}}
	return r, r.end
}

func (r *Run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for _, s := range r.secrets {
		s.wipe()
	}
}

func (s *secret) wipe() {
	clear(s.value)
	s.value = nil
}

// attempt is a password that one host is to get.
type attempt struct {
	r     *Run
	s     *secret
	value []byte // a copy
	first bool   // no host has taken it yet: others wait for what comes of it
}

// get returns the password that q is about, asking for it where it was not asked for. While no host has taken it one caller at a
// time has it. The attempt must be settled.
func (r *Run) get(ctx context.Context, q Question, ask Ask) (*attempt, error) {
	key := q.Become.Program() + "\x00" + q.Whose()
	r.mu.Lock()
	s := r.secrets[key]
	if s == nil {
		s = &secret{turn: make(chan struct{}, 1)}
		r.secrets[key] = s
	}
	value, err := r.known(s)
	r.mu.Unlock()
	if value != nil || err != nil {
		return &attempt{r: r, s: s, value: value}, err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r.mu.Lock()
	value, err = r.known(s)
	untold := s.value
	if untold != nil { // the host before said nothing of it
		untold = bytes.Clone(untold)
	}
	r.mu.Unlock()
	switch {
	case value != nil || err != nil:
		<-s.turn
		return &attempt{r: r, s: s, value: value}, err
	case untold != nil:
		return &attempt{r, s, untold, true}, nil
	}
	q.Hosts = r.hosts
	if err = errNoPerson; ask != nil && ctx.Value(unaskedKey{}) == nil {
		value, err = ask(ctx, q)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.over {
		clear(value)
		err = errOver
	}
	if err != nil {
		if ctx.Err() == nil { // else another host's turn may bring one
			s.err = err
		}
		<-s.turn
		return nil, err
	}
	s.value = append([]byte{}, value...)
	return &attempt{r, s, value, true}, nil
}

// besides asks for what a host wants to know besides the password. Under [Unasked] nobody is asked.
func besides(ctx context.Context, q Question, ask Ask) ([]byte, error) {
	if ask == nil || ctx.Value(unaskedKey{}) != nil {
		return nil, errNoPerson
	}
	q.Hosts = 1
	return ask(ctx, q)
}

// known returns what there is without asking: a password that is good, or why there is none. r.mu is held.
func (r *Run) known(s *secret) ([]byte, error) {
	switch {
	case s.bad != "":
		return nil, &Error{Kind: ErrNotTried, On: s.bad}
	case s.err != nil:
		return nil, s.err
	case r.over:
		return nil, errOver
	case s.good:
		return append([]byte{}, s.value...), nil
	}
	return nil, nil
}

// outcome is what came of a password.
type outcome int

const (
	unknown outcome = iota // the host said nothing of it
	taken
	refused
)

// settle says what came of it on a host, and wipes it.
func (a *attempt) settle(host string, o outcome) {
	clear(a.value)
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	switch s := a.s; {
	case o == taken:
		s.good = s.bad == ""
	case o == refused && s.bad == "":
		s.bad, s.good = host, false
		s.wipe()
	}
	if a.first {
		<-a.s.turn
	}
}

type unaskedKey struct{}

// Unasked returns a context under which no person is asked: a password is used that the run of ctx knows, and else there is none.
func Unasked(ctx context.Context) context.Context {
	return context.WithValue(ctx, unaskedKey{}, true)
}

// Useless reports whether a start under ctx cannot succeed where a password is needed: nothing need be started then, and the host
// notes no failed attempt.
func Useless(ctx context.Context) bool {
	if ctx.Value(unaskedKey{}) == nil {
		return false
	}
	r, ok := ctx.Value(runKey{}).(*Run)
	if !ok {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.secrets {
		if s.good && !r.over {
			return false
		}
	}
	return true
}

package question

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Desk holds questions for people at other processes until they answer. It may be used concurrently.
type Desk struct {
	mu      sync.Mutex // guards what follows
	pending []*pending // oldest first
	changed chan struct{}
}

type pending struct {
	wire.Question
	principal string
	prompts   int // how many answers it takes
	answered  chan wire.QuestionAnswer
}

// Bounds of a Desk.
const (
	maxPending = 1024
	deskTime   = 10 * time.Minute
)

var (
	errUnanswered = fmt.Errorf("the question was not answered within %v", deskTime)
	errEncoding   = errors.New("an answer is not in the encoding that it names")
	errDeskFull   = errors.New("too many questions wait for an answer already")
	errRefused    = errors.New("no answer was given")
)

// ErrNoQuestion is returned for a question that does not wait, or not any more.
var ErrNoQuestion = errors.New("there is no such question, or it waits no more")

// NewDesk returns an empty Desk.
func NewDesk() *Desk { return &Desk{changed: make(chan struct{})} }

// Ask puts a question for the caller asker, which acts as principal, and waits for its answer.
func (d *Desk) Ask(ctx context.Context, principal, asker string, q sshconn.Question) (sshconn.Answer, error) {
	id := rand.Text()
	p := &pending{Question: toWire(id, asker, q), principal: principal, answered: make(chan wire.QuestionAnswer, 1)}
	switch q.Kind {
	case sshconn.AskPassphrase:
		p.prompts = 1
	case sshconn.AskLogin:
		p.prompts = len(q.Prompts)
	}
	if err := d.put(p); err != nil {
		return sshconn.Answer{}, err
	}
	defer d.remove(id)
	ctx, cancel := context.WithTimeoutCause(ctx, deskTime, errUnanswered)
	defer cancel()
	select {
	case a := <-p.answered:
		if a.Refuse {
			return sshconn.Answer{}, errRefused
		}
		out := sshconn.Answer{Trust: a.Trust}
		for _, s := range a.Answers {
			secret, err := wire.Decode(a.Encoding, s)
			if err != nil {
				return sshconn.Answer{}, errEncoding
			}
			out.Secrets = append(out.Secrets, secret)
		}
		return out, nil
	case <-ctx.Done():
		return sshconn.Answer{}, context.Cause(ctx)
	}
}

func (d *Desk) put(p *pending) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) >= maxPending {
		return errDeskFull
	}
	d.pending = append(d.pending, p)
	close(d.changed)
	d.changed = make(chan struct{})
	return nil
}

// remove takes a question away and returns it; nil where it is not there.
func (d *Desk) remove(id string) *pending {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, p := range d.pending {
		if p.ID == id {
			d.pending = append(d.pending[:i:i], d.pending[i+1:]...)
			return p
		}
	}
	return nil
}

// List returns a principal's questions, those of one asker unless that is "". It waits for one until ctx ends.
func (d *Desk) List(ctx context.Context, principal, asker string) []wire.Question {
	for {
		d.mu.Lock()
		changed, out := d.changed, []wire.Question{}
		for _, p := range d.pending {
			if p.principal == principal && (asker == "" || p.Asker == asker) {
				out = append(out, p.Question)
			}
		}
		d.mu.Unlock()
		if len(out) > 0 || ctx.Err() != nil {
			return out
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Answer answers a question of a principal's, once. An answer that does not fit leaves it waiting.
func (d *Desk) Answer(principal, id string, a wire.QuestionAnswer) error {
	d.mu.Lock()
	var found *pending
	for _, p := range d.pending {
		if p.ID == id && p.principal == principal {
			found = p
		}
	}
	d.mu.Unlock()
	switch {
	case found == nil:
		return ErrNoQuestion
	case !a.Refuse && len(a.Answers) != found.prompts:
		return fmt.Errorf("it takes %d answers, and %d were given", found.prompts, len(a.Answers))
	}
	for _, s := range a.Answers {
		if _, err := wire.Decode(a.Encoding, s); err != nil {
			return errEncoding
		}
	}
	if d.remove(id) == nil {
		return ErrNoQuestion // somebody was faster
	}
	found.answered <- a
	return nil
}

// Wire answers a question of a keeper's.
func (a *Asker) Wire(ctx context.Context, q wire.Question) (wire.QuestionAnswer, error) {
	got, err := a.Ask(ctx, fromWire(q))
	if ctx.Err() != nil {
		return wire.QuestionAnswer{}, context.Cause(ctx)
	}
	if err != nil {
		return wire.QuestionAnswer{Refuse: true}, nil
	}
	out := wire.QuestionAnswer{Trust: got.Trust}
	text := !slices.ContainsFunc(got.Secrets, func(s []byte) bool { return !utf8.Valid(s) })
	for _, s := range got.Secrets {
		encoding, answer := wire.Encode(s, text)
		if !text {
			out.Encoding = encoding
		}
		out.Answers = append(out.Answers, answer)
		clear(s)
	}
	return out, nil
}

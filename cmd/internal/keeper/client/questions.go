package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// asking answers what connecting wants to know while a client's requests are in progress.
type asking struct {
	id     string
	answer func(context.Context, wire.Question) (wire.QuestionAnswer, error)

	begin  sync.Once
	ctx    context.Context // ends with the client
	cancel context.CancelFunc
	done   sync.WaitGroup
}

const (
	lookAfter = 200 * time.Millisecond // most requests are over by then
	lookAgain = time.Second            // after a failure

	refuseTime = 2 * time.Second // for the last word of a client that ends
)

func newAsking(answer func(context.Context, wire.Question) (wire.QuestionAnswer, error)) *asking {
	a := &asking{id: rand.Text(), answer: answer}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// names puts into a request whom to ask, and begins to look for questions.
func (a *asking) names(c *Client, r *http.Request) {
	if a == nil || c.cfg.Principal != "" || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/v1/keeper/") || strings.HasPrefix(r.URL.Path, questionsPath) {
		return
	}
	r.Header.Set(wire.Asker, a.id)
	a.begin.Do(func() { a.done.Go(func() { a.look(c) }) })
}

func (a *asking) close() {
	if a == nil {
		return
	}
	a.cancel()
	a.begin.Do(func() {}) // nothing begins any more
	a.done.Wait()
}

// look answers questions until the client is closed, or the keeper knows of none.
func (a *asking) look(c *Client) {
	wait := lookAfter
	for a.pause(wait) {
		all, err := c.Questions(a.ctx, a.id, patience)
		var p *wire.Problem
		switch {
		case errors.As(err, &p) && p.Status != http.StatusTooManyRequests:
			return // an older keeper, or one that takes no answers from here
		case err != nil:
			wait = lookAgain
			continue
		}
		wait = 0
		for _, q := range all {
			answer, err := a.answer(a.ctx, q)
			if err != nil {
				a.refuse(c, q.ID)
				return
			}
			err = c.AnswerQuestion(a.ctx, q.ID, answer)
			if err != nil {
				wait = lookAgain // it waits no more, or comes again
			}
			if errors.As(err, &p) && p.Status != http.StatusTooManyRequests && p.Status != http.StatusNotFound {
				a.refuse(c, q.ID) // the same answer would not be taken again
			}
		}
	}
}

// refuse tells the keeper that nobody answers a question any more: others may wait for the host that it is about.
func (a *asking) refuse(c *Client, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), refuseTime)
	defer cancel()
	_ = c.AnswerQuestion(ctx, id, wire.QuestionAnswer{Refuse: true}) // else it ends with the connection
}

// pause reports whether the client still lives after some time.
func (a *asking) pause(d time.Duration) bool {
	if d == 0 {
		return a.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.ctx.Done():
		return false
	}
}

const questionsPath = "/v1/questions"

// Questions lists what waits for an answer of the caller's, or of one asker, and waits for one.
func (c *Client) Questions(ctx context.Context, asker string, wait time.Duration) ([]wire.Question, error) {
	var out wire.Questions
	q := url.Values{"wait_s": {strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)}}
	if asker != "" {
		q.Set("asker", asker)
	}
	err := c.call(ctx, http.MethodGet, questionsPath+"?"+q.Encode(), nil, &out)
	return out.Items, err
}

// AnswerQuestion answers one.
func (c *Client) AnswerQuestion(ctx context.Context, id string, a wire.QuestionAnswer) error {
	return c.call(ctx, http.MethodPost, questionsPath+"/"+url.PathEscape(id), a, nil)
}

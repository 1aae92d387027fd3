package keeper

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

type questionsIn struct {
	Asker string  `query:"asker" maxLength:"64" doc:"only those that are asked for requests with this Fairlead-Asker"`
	WaitS float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for one (default 0, at most 50)"`
}

type questionAnswerIn struct {
	ID   string `path:"id" maxLength:"80"`
	Body wire.QuestionAnswer
}

func (k *Keeper) addQuestions(a *route.API) {
	const tag = "questions"
	route.Add(a, route.Route{Method: "GET", Path: "/v1/questions", ID: "list-questions", Summary: "What connecting wants to know from the caller", Tag: tag, Need: access.NeedReply,
		About: "Questions are asked for requests with a Fairlead-Asker, whose caller is to look for them here meanwhile. Agents are asked nothing."},
		func(ctx context.Context, c *access.Caller, in *questionsIn) (*route.Body[wire.Questions], error) {
			wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			return route.JSON(&wire.Questions{Items: k.questions.List(ctx, c.Principal, in.Asker)}), nil
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/questions/{id}", ID: "answer-question", Summary: "Answer a question of one's own", Tag: tag, Need: access.NeedReply},
		func(_ context.Context, c *access.Caller, in *questionAnswerIn) (*route.None, error) {
			err := k.questions.Answer(c.Principal, in.ID, in.Body)
			switch {
			case errors.Is(err, question.ErrNoQuestion):
				return nil, problem.New(http.StatusNotFound, "not_found", "%s", err)
			case err != nil:
				return nil, problem.Invalid("%s", err)
			}
			return nil, nil
		})
}

var askerID = lazyregexp.New(`^[A-Za-z0-9_-]{8,64}$`)

// badAsker refuses a Fairlead-Asker by which no question could be found.
func badAsker(h http.Header) *wire.Problem {
	if len(h.Values(wire.Asker)) > 0 && !askerID.MatchString(h.Get(wire.Asker)) {
		return problem.New(http.StatusBadRequest, "invalid", "%s is 8 to 64 letters, digits, - and _", wire.Asker)
	}
	return nil
}

type askerKey struct{}

// addressee is whom to ask about what is dialed for a request.
type addressee struct {
	principal, asker string
	request          context.Context // ends with the request, and with its client
	served           *atomic.Bool    // the request was answered: its caller may still look for questions
}

// errAskerGone is why a question ends whose caller has hung up.
var errAskerGone = errors.New("the program that was to ask about it has ended; try again")

// withAsker makes what is dialed for ctx ask the caller, where that says that it can be asked and is no agent. end is to be called
// when the request is done with.
func withAsker(ctx context.Context, c *access.Caller, r *http.Request) (_ context.Context, end func()) {
	id := r.Header.Get(wire.Asker)
	if !c.Role.May(access.NeedReply) || id == "" {
		return ctx, func() {}
	}
	who := addressee{c.Principal, id, r.Context(), new(atomic.Bool)}
	return context.WithValue(ctx, askerKey{}, who), func() { who.served.Store(who.request.Err() == nil) }
}

// ask implements sshconn.Ask for what the keeper dials.
func (k *Keeper) ask(ctx context.Context, q sshconn.Question) (sshconn.Answer, error) {
	who, ok := ctx.Value(askerKey{}).(addressee)
	if !ok {
		return sshconn.Answer{}, sshconn.ErrNoPerson
	}
	// A connection is made for whoever waits, and its context outlives the request. A question must not: nobody would answer it, and
	// all who want the host would wait.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(who.request, func() {
		if !who.served.Load() {
			cancel(errAskerGone)
		}
	})()
	return k.questions.Ask(ctx, who.principal, who.asker, q)
}

package keeper

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
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

func (k *Keeper) addQuestions(a *api) {
	const tag = "questions"
	add(a, route{method: "GET", path: "/v1/questions", id: "list-questions", summary: "What connecting wants to know from the caller", tag: tag, need: access.NeedReply,
		about: "Questions are asked for requests with a Fairlead-Asker, whose caller is to look for them here meanwhile. Agents are asked nothing."},
		func(ctx context.Context, c *access.Caller, in *questionsIn) (*body[wire.Questions], error) {
			ctx, cancel := context.WithTimeout(ctx, min(time.Duration(in.WaitS*float64(time.Second)), maxWait))
			defer cancel()
			return &body[wire.Questions]{&wire.Questions{Items: k.questions.List(ctx, c.Principal, in.Asker)}}, nil
		})
	add(a, route{method: "POST", path: "/v1/questions/{id}", id: "answer-question", summary: "Answer a question of one's own", tag: tag, need: access.NeedReply},
		func(_ context.Context, c *access.Caller, in *questionAnswerIn) (*none, error) {
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

type askerKey struct{}

// addressee is whom to ask about what is dialed for a request.
type addressee struct{ principal, asker string }

// withAsker makes what is dialed for ctx ask the caller, where that says that it can be asked and is no agent.
func withAsker(ctx context.Context, c *access.Caller, r *http.Request) context.Context {
	id := r.Header.Get(wire.Asker)
	if !c.Role.May(access.NeedReply) || !askerID.MatchString(id) {
		return ctx
	}
	return context.WithValue(ctx, askerKey{}, addressee{c.Principal, id})
}

// ask implements sshconn.Ask for what the keeper dials.
func (k *Keeper) ask(ctx context.Context, q sshconn.Question) (sshconn.Answer, error) {
	who, ok := ctx.Value(askerKey{}).(addressee)
	if !ok {
		return sshconn.Answer{}, sshconn.ErrNoPerson
	}
	return k.questions.Ask(ctx, who.principal, who.asker, q)
}

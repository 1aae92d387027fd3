package question

import (
	"context"

	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Become returns what asks for the password of an account by ask; nil where that is nil.
func Become(ask sshconn.Ask) become.Ask {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q become.Question) ([]byte, error) {
		a, err := ask(ctx, sshconn.Question{
			Kind: sshconn.AskLogin, Method: "password", Host: q.Host, User: q.Whose(), Prompts: []sshconn.Prompt{{Text: q.Prompt()}}, Try: 1,
		})
		if err != nil {
			return nil, err
		}
		if len(a.Secrets) != 1 {
			return nil, sshconn.ErrNoPerson
		}
		return a.Secrets[0], nil
	}
}

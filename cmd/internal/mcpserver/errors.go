package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// faultOf tells an error to a program and a model.
func faultOf(err error) *faultOut {
	if err == nil {
		return nil
	}
	f := &faultOut{Code: "error"}
	var (
		ours  *callError
		sess  *session.Error
		quota *rules.QuotaError
	)
	switch {
	case errors.As(err, &ours):
		f.Code, f.Retriable, f.Next = ours.code, ours.retriable, ours.next
	case errors.As(err, &sess):
		f.Code, f.Retriable, f.Exec = sess.Code, sess.Retriable, sess.Exec
	case errors.As(err, &quota):
		f.Code, f.Retriable = "quota", true
	case errors.Is(err, rules.ErrLimit), errors.Is(err, rules.ErrStructured):
		f.Code = "denied"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Retriable = "canceled", true
	}
	text, _ := screen.Clean(cmdutil.Why(err))
	f.Message = printable.Clip(strings.TrimPrefix(text, f.Code+": "), 1000) // beside the code
	return f
}

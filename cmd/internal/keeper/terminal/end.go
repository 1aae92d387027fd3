package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session"
)

// notice tells the client something, if there is one.
func (t *Terminal) notice(line string) { t.mention(wire.TerminalSays{Notice: line}) }

func (t *Terminal) mention(says wire.TerminalSays) {
	text, err := json.Marshal(says)
	if err != nil || t.ws == nil {
		return
	}
	_ = t.write(t.live, websocket.MessageText, text) // whoever has gone needs none
}

// say tells the client how its terminal has ended, and why the connection does.
func (t *Terminal) say(out terminals.Outcome, rec terminals.Recorded, cause error) {
	end := &wire.TerminalEnd{Status: string(out.Status), ExitCode: out.ExitCode, Signal: out.Signal}
	if rec.Path != "" {
		end.Recording = filepath.Base(rec.Path)
	}
	if out.Err != nil {
		end.Error = &session.ErrorJSON{Code: out.Err.Code, Message: problem.Of(out.Err).Detail}
		end.Why = cmdutil.Why(out.Err)
	}
	code := websocket.StatusNormalClosure
	var over right.Over
	switch {
	case errors.Is(cause, errNonsense), errors.Is(cause, errTooMuch), errors.As(cause, &over):
		code = websocket.StatusPolicyViolation
	case t.ts.Base.Err() != nil:
		code = websocket.StatusGoingAway
	}
	text, err := json.Marshal(wire.TerminalSays{End: end})
	if err != nil {
		return // it can always be written
	}
	if t.patient {
		err = t.write(t.ts.Base, websocket.MessageText, text)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		err = t.ws.Write(ctx, websocket.MessageText, text)
	}
	if err == nil {
		_ = t.ws.Close(code, closeReason(out, cause)) // it may be gone
	}
}

// closeReason is why the connection ends, as far as there is room for it in the frame that says so; the program's own end needs
// no reason.
func closeReason(out terminals.Outcome, cause error) string {
	if cause == nil || out.Err == nil {
		return ""
	}
	why := out.Err.Err.Error()
	for len(why) > maxCloseReason {
		_, n := utf8.DecodeLastRuneInString(why)
		why = why[:len(why)-n]
	}
	return why
}

// maxCloseReason is what fits besides the code (RFC 6455, 5.5).
const maxCloseReason = 123

// settle puts the end on record.
func (t *Terminal) settle(out terminals.Outcome) terminals.Recorded {
	rec := t.rec.Close()
	out.Typed = t.typed.Load()
	if err := t.entry.Result(out, t.how, rec); err != nil {
		t.ts.Log.Printf("the end of terminal %s cannot be recorded: %v", t.entry.ID(), err)
	}
	return rec
}

// endOfTerminal says how a terminal has ended.
func endOfTerminal(exit session.Exit, err error) session.Result {
	failed := func(s session.Status, code string) session.Result {
		return session.Result{Status: s, Err: &session.Error{Op: "shell", Code: code, Sent: true, Err: err}}
	}
	var over right.Over
	switch {
	case errors.As(err, &over), errors.Is(err, errClientGone), errors.Is(err, errHungUp), errors.Is(err, errNonsense), errors.Is(err, errTooMuch), errors.Is(err, errKeeperEnds):
		return failed(session.StatusCanceled, "canceled")
	case err != nil:
		return failed(session.StatusLost, "lost")
	case exit.Signal != "":
		return session.Result{Status: session.StatusSignal, Signal: exit.Signal}
	case exit.Code != 0:
		return session.Result{Status: session.StatusExit, ExitCode: &exit.Code}
	}
	return session.Result{Status: session.StatusOK, ExitCode: &exit.Code}
}

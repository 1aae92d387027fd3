package keeper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// full is a terminal on a host, for the time of a connection.
type full struct {
	k       *Keeper
	ask     terminalAsk
	stream  session.Stream
	release func() // the place on the connection; nil where there is none yet
	entry   *terminals.Entry
	rec     *terminals.Recording // nil where the account itself wants none
	how     string               // it is recorded
	asked   bool                 // that it begins is on record
	queue   *terminals.Queue     // what is typed and not yet taken
	typed   atomic.Int64         // bytes that were taken
	ws      *websocket.Conn      // nil until there is one
	patient bool                 // with a client that takes nothing: it is of this account's own, and cannot vanish unseen
	done    func()               // with the realm
}

// record starts the recording. What cannot be recorded is not started: nobody sits at this machine to be told.
func (t *full) record(h hosts.Host, p session.Program) (err error) {
	if t.ask.record == wire.RecordNothing {
		t.how = terminals.HowRecorded("", false, "--no-record")
		return nil
	}
	if t.k.cfg.Recordings == "" {
		return problem(http.StatusInternalServerError, codeRecording, "there is no place for recordings, so nothing was sent")
	}
	t.rec, err = terminals.StartRecording(t.k.cfg.Recordings, terminals.RecordingName(t.entry.Start, h.Name, t.entry.ID()), terminals.MaxRecording, p.Size,
		screen.CastHeader{Timestamp: t.entry.Start.Unix(), Title: h.Name, Env: map[string]string{"TERM": p.Term}},
		func(err error) {
			t.k.log.Printf("the recording %s stops early: %s", t.entry.ID(), terminals.Reason(err))
			t.notice("the recording stops here: " + terminals.Reason(err))
		})
	if err != nil {
		return problem(http.StatusInternalServerError, codeRecording, "the terminal cannot be recorded, so nothing was sent: %v", err)
	}
	t.how = terminals.HowRecorded(t.rec.Path(), t.ask.record == wire.RecordInput, "")
	return nil
}

// drop gives back what was opened for a terminal that did not begin.
func (t *full) drop() {
	t.rec.Drop()
	if t.release != nil {
		t.release()
	}
	t.done()
}

// serve connects the program with the client until one of them ends.
func (t *full) serve(w http.ResponseWriter, r *http.Request) {
	defer t.done()
	defer t.release()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil { // which has been answered
		t.stream.Close()
		t.settle(terminals.Outcome{Result: endOfTerminal(session.Exit{}, errClientGone)})
		return
	}
	t.ws = ws
	ws.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancelCause(r.Context()) // which ends with the keeper
	defer cancel(nil)
	t.queue = terminals.NewQueue(maxTyped)
	var wg sync.WaitGroup
	wg.Go(func() { t.hear(ws, cancel) })
	wg.Go(func() { t.typing(ctx) })
	if !t.patient {
		wg.Go(func() { t.ping(ctx, cancel) })
	}
	out, cause := t.show(ctx, ws)
	t.queue.Close()
	cancel(nil)
	t.say(ws, out, t.settle(out), cause)
	ws.CloseNow()
	wg.Wait()
}

// notice tells the client something, if there is one.
func (t *full) notice(line string) {
	text, err := json.Marshal(wire.TerminalSays{Notice: line})
	if err != nil || t.ws == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	_ = t.ws.Write(ctx, websocket.MessageText, text) // whoever has gone needs none
}

// settle puts the end on record.
func (t *full) settle(out terminals.Outcome) terminals.Recorded {
	rec := t.rec.Close()
	out.Typed = t.typed.Load()
	if err := t.entry.Result(out, t.how, rec); err != nil {
		t.k.log.Printf("the end of terminal %s cannot be recorded: %v", t.entry.ID(), err)
	}
	return rec
}

// say tells the client how its terminal has ended, and why the connection does.
func (t *full) say(ws *websocket.Conn, out terminals.Outcome, rec terminals.Recorded, cause error) {
	end := &wire.TerminalEnd{Status: string(out.Status), ExitCode: out.ExitCode, Signal: out.Signal}
	if rec.Path != "" {
		end.Recording = filepath.Base(rec.Path)
	}
	if out.Err != nil {
		end.Error = &wire.Fault{Code: out.Err.Code, Message: asProblem(out.Err).Detail}
		end.Why = cmdutil.Why(out.Err)
	}
	code := websocket.StatusNormalClosure
	switch {
	case errors.Is(cause, errNonsense), errors.Is(cause, errTooMuch):
		code = websocket.StatusPolicyViolation
	case t.k.base.Err() != nil:
		code = websocket.StatusGoingAway
	}
	text, err := json.Marshal(wire.TerminalSays{End: end})
	if err != nil {
		return // it can always be written
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if ws.Write(ctx, websocket.MessageText, text) == nil {
		_ = ws.Close(code, "") // it may be gone
	}
}

// show passes on what is printed until the program or ctx has ended, and returns how, with the cause of ctx. When ctx ends
// the program is hung up.
func (t *full) show(ctx context.Context, ws *websocket.Conn) (out terminals.Outcome, cause error) {
	hung := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(hung)
		t.stream.Close()
	})
	sum := sha256.New()
	buf := make([]byte, 32<<10)
	var failed error
	for {
		n, err := t.stream.Read(buf)
		if n > 0 && ctx.Err() == nil && failed == nil {
			t.rec.Output(buf[:n])
			_, _ = sum.Write(buf[:n])
			out.Shown += int64(n)
			if failed = t.write(ctx, ws, websocket.MessageBinary, buf[:n]); failed != nil {
				t.stream.Close()
			}
		}
		if err != nil {
			break
		}
	}
	exit, err := t.stream.Wait()
	switch {
	case failed != nil:
		cause = errClientGone
	case ctx.Err() != nil:
		cause = context.Cause(ctx)
	}
	if cause != nil {
		err = cause
		if errors.Is(cause, context.Canceled) {
			err = errClientGone
			if t.k.base.Err() != nil {
				err = errKeeperEnds
			}
		}
	}
	if !unhook() {
		<-hung
	}
	t.stream.Close()
	out.Result, out.ShownSHA256 = endOfTerminal(exit, err), hex.EncodeToString(sum.Sum(nil))
	return out, cause
}

// write sends output, or a word. Only a client that takes nothing for a while loses its connection, and one of this account's own not
// even then: the end of ctx leaves it open, for the end to be told.
func (t *full) write(ctx context.Context, ws *websocket.Conn, kind websocket.MessageType, p []byte) error {
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if t.patient {
		defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveTime, stop) })()
	} else {
		defer time.AfterFunc(t.k.cfg.slowTime, stop).Stop()
	}
	return ws.Write(wctx, kind, p)
}

// endOfTerminal says how a terminal has ended.
func endOfTerminal(exit session.Exit, err error) session.Result {
	failed := func(s session.Status, code string) session.Result {
		return session.Result{Status: s, Err: &session.Error{Op: "shell", Code: code, Sent: true, Err: err}}
	}
	switch {
	case errors.Is(err, errClientGone), errors.Is(err, errHungUp), errors.Is(err, errNonsense), errors.Is(err, errTooMuch), errors.Is(err, errKeeperEnds):
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

// ping finds out that a client is gone that has not said so.
func (t *full) ping(ctx context.Context, gone context.CancelCauseFunc) {
	tick := time.NewTicker(t.k.cfg.aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pctx, stop := context.WithTimeout(ctx, t.k.cfg.slowTime)
		err := t.ws.Ping(pctx)
		stop()
		if err != nil && ctx.Err() == nil {
			gone(errClientGone)
			return
		}
	}
}

// hear takes what the client sends, until the connection ends.
func (t *full) hear(ws *websocket.Conn, gone context.CancelCauseFunc) {
	for {
		kind, p, err := ws.Read(context.Background()) // a context that ends would end the connection
		if err != nil {
			gone(errClientGone)
			return
		}
		if kind == websocket.MessageText {
			if err := t.obey(p); err != nil {
				gone(err)
				return
			}
			continue
		}
		if t.ask.record == wire.RecordInput {
			t.rec.Input(p)
		}
		ok := t.queue.Offer(p)
		clear(p) // there may be passwords in it
		if !ok {
			gone(errTooMuch)
			return
		}
	}
}

// typing passes on what is typed, and tells the client how much of it the program has taken: a client that keeps to that
// never types too much.
func (t *full) typing(ctx context.Context) {
	buf := make([]byte, 4<<10)
	defer clear(buf)
	for told := int64(-tellTaken); ; {
		if taken := t.typed.Load(); taken-told >= tellTaken {
			told = taken
			text, err := json.Marshal(wire.TerminalSays{Taken: &taken})
			if err != nil || t.write(ctx, t.ws, websocket.MessageText, text) != nil {
				t.queue.Close() // nobody is there
				return
			}
		}
		n := t.queue.Take(buf)
		if n == 0 {
			return
		}
		n, err := t.stream.Write(buf[:n])
		t.typed.Add(int64(n))
		if err != nil { // the program has ended, which the reader of its output learns too
			t.queue.Close()
			return
		}
	}
}

const (
	maxTyped  = 1 << 20  // bytes that wait for the program
	tellTaken = 16 << 10 // bytes taken, after which the client is told
)

// obey does what a control message says. The error is why the terminal ends with it.
func (t *full) obey(text []byte) error {
	var m wire.TerminalHears
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&m); {
	case err != nil || m.HangUp == (m.Resize != nil):
		return errNonsense
	case m.HangUp:
		return errHungUp
	}
	size := session.Size{Rows: m.Resize.Rows, Cols: m.Resize.Cols}
	if size.Rows < 1 || size.Rows > wire.MaxCells || size.Cols < 1 || size.Cols > wire.MaxCells {
		return errNonsense
	}
	t.rec.Resize(size)
	if r, ok := t.stream.(session.Resizer); ok {
		_ = r.Resize(size) // fails when the program has ended
	}
	return nil
}

// Package terminal owns full terminals on hosts, each for the time of a WebSocket: opening one, what is typed and shown, its
// recording, and its end.
package terminal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Terminal is a terminal on a host, for the time of a connection.
type Terminal struct {
	ts      *Terminals
	ask     terminalAsk
	host    string // its name
	owner   string
	stream  session.Stream
	release func() // the place on the connection; nil where there is none yet
	entry   *terminals.Entry
	rec     *terminals.Recording // nil where the account itself wants none
	how     string               // it is recorded
	asked   bool                 // that it begins is on record
	queue   *terminals.Queue     // what is typed and not yet taken
	typed   atomic.Int64         // bytes that were taken
	ws      *websocket.Conn      // nil until there is one
	live    context.Context      // ends with the connection; set with ws
	guarded bool                 // the client gets no secrets to see
	patient bool                 // with a client that takes nothing: it is of this account's own, and cannot vanish unseen
	done    func()               // with the realm
}

// record starts the recording. What cannot be recorded is not started: nobody sits at this machine to be told.
func (t *Terminal) record(h hosts.Host, p session.Program) (err error) {
	if t.ask.record == wire.RecordNothing {
		t.how = terminals.HowRecorded("", false, "--no-record")
		return nil
	}
	if t.ts.Recordings == "" {
		return problem.New(http.StatusInternalServerError, CodeRecording, "there is no directory for recordings, so nothing was sent")
	}
	t.rec, err = terminals.StartRecording(t.ts.Recordings, terminals.RecordingName(t.entry.Start, h.Name, t.entry.ID()), terminals.MaxRecording, p.Size,
		screen.CastHeader{Timestamp: t.entry.Start.Unix(), Title: h.Name, Env: map[string]string{"TERM": p.Term}},
		func(err error) {
			t.ts.Log.Printf("the recording %s stops early: %s", t.entry.ID(), terminals.Reason(err))
			t.notice("the recording stops here: " + terminals.Reason(err))
		})
	if err != nil {
		return problem.New(http.StatusInternalServerError, CodeRecording, "the terminal cannot be recorded, so nothing was sent: %v", err)
	}
	t.how = terminals.HowRecorded(t.rec.Path(), t.ask.record == wire.RecordInput, "")
	return nil
}

// drop gives back what was opened for a terminal that did not begin.
func (t *Terminal) drop() {
	t.rec.Drop()
	if t.release != nil {
		t.release()
	}
	t.done()
}

// serve connects the program with the client until one of them ends.
func (t *Terminal) serve(w http.ResponseWriter, r *http.Request) {
	defer t.done()
	defer t.release()
	defer t.ts.add(t)()
	ws, err := acceptTerminal(w, r)
	if err != nil { // which has been answered
		t.stream.Close()
		t.settle(terminals.Outcome{Result: endOfTerminal(session.Exit{}, errClientGone)})
		return
	}
	ws.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancelCause(r.Context()) // which ends with the keeper
	defer cancel(nil)
	t.ws, t.live = ws, ctx
	t.queue = terminals.NewQueue(maxTyped)
	if t.rec != nil { // whoever never hears of the end knows where it is
		t.mention(wire.TerminalSays{Recording: filepath.Base(t.rec.Path())})
	}
	var wg sync.WaitGroup
	wg.Go(func() { t.hear(cancel) })
	wg.Go(func() { t.typing(ctx) })
	if !t.patient {
		wg.Go(func() { t.ping(ctx, cancel) })
	}
	out, cause := t.show(ctx)
	t.release() // the client may take its time
	t.queue.Close()
	cancel(nil)
	t.say(out, t.settle(out), cause)
	ws.CloseNow()
	wg.Wait()
}

// show passes on what is printed until the program or ctx has ended, and returns how, with the cause of ctx. When ctx ends
// the program is hung up.
func (t *Terminal) show(ctx context.Context) (out terminals.Outcome, cause error) {
	hung := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(hung)
		t.stream.Close()
	})
	send := func(p []byte) error { return t.write(ctx, websocket.MessageBinary, p) }
	if t.guarded {
		v := newVeil(t.ts.Secrets, send)
		defer v.close()
		send = v.write
	}
	sum := sha256.New()
	buf := make([]byte, 32<<10)
	var failed error
	for {
		n, err := t.stream.Read(buf)
		if n > 0 && ctx.Err() == nil && failed == nil {
			t.rec.Output(buf[:n])
			_, _ = sum.Write(buf[:n])
			out.Shown += int64(n)
			if failed = send(buf[:n]); failed != nil {
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
			if t.ts.Base.Err() != nil {
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
func (t *Terminal) write(ctx context.Context, kind websocket.MessageType, p []byte) error {
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if t.patient {
		defer context.AfterFunc(ctx, func() { time.AfterFunc(stream.LeaveTime, stop) })()
	} else {
		defer time.AfterFunc(t.ts.SlowTime, stop).Stop()
	}
	return t.ws.Write(wctx, kind, p)
}

// ping finds out that a client is gone that has not said so.
func (t *Terminal) ping(ctx context.Context, gone context.CancelCauseFunc) {
	tick := time.NewTicker(t.ts.AliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pctx, stop := context.WithTimeout(ctx, t.ts.SlowTime)
		err := t.ws.Ping(pctx)
		stop()
		if err != nil && ctx.Err() == nil {
			gone(errClientGone)
			return
		}
	}
}

package keeper

import (
	"context"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/boxes"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/casts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/limit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/terminal"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/thismachine"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/store"
	"github.com/fairlead-ssh/fairlead/session/telemetry"
)

// Keeper holds sessions and answers requests. Make one with New. Its methods may be called concurrently.
type Keeper struct {
	*lifetime

	cfg         Config
	log         *log.Logger
	sink        access.Record
	policy      *livepolicy.Policy
	secrets     *redact.Set
	desk        *approval.Desk
	questions   *question.Desk
	machine     thismachine.Machine
	trees       *approval.Trees // of those who host agents on the socket
	inventories *connect.Inventories
	metrics     *metrics
	events      *events.Events
	notify      *notify.Notifier
	api         http.Handler
	web         web
	callers     access.Callers
	realms      *realm.Book
	limiter     *limit.Limiter
	bodies      *limit.Budget // of requests that are read and decoded
	contents    *limit.Budget // of files, until their work has ended
	onces       *onlyonce.Book
	terminals   *terminal.Terminals
	forwards    forwards
	recordings  *casts.Shelf
	boxes       *boxes.Boxes
	started     time.Time
	auditCheck  auditCheck
}

// New returns a Keeper that serves nobody yet. Close it.
func New(cfg Config) (*Keeper, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	logger := cfg.logger()
	tell, err := notify.New(cfg.Notify, func(text string) { logger.Print(text) })
	if err != nil {
		return nil, err
	}
	k := &Keeper{
		cfg: cfg, log: logger, notify: tell, questions: question.NewDesk(), policy: &livepolicy.Policy{Files: cfg.PolicyFiles},
		secrets: redact.New(redact.Config{}), trees: approval.NewTrees(cmdutil.Marked),
		inventories: connect.NewInventories(), events: events.New(), limiter: limit.NewLimiter(), bodies: limit.NewBudget(), contents: limit.NewBudget(), started: time.Now(),
		lifetime: newLifetime(),
	}
	k.policy.Load = func() (*rules.Engine, error) {
		e, err := cfg.Policy()
		if err != nil {
			return nil, err
		}
		return k.withOwn(e), nil
	}
	k.policy.Took = k.notePolicy
	k.desk = approval.NewDesk(approval.Config{PerPrincipal: cfg.asks, Approvers: cfg.Approvers, Begins: rules.Begins, Lasts: k.lasts, Ended: k.forSessionEnded, Unread: k.unread, Now: k.now})
	k.sink = access.NewRecord(cmdutil.CleanSink(cfg.Audit, k.secrets))
	k.callers.Principal, k.callers.Inventory, k.callers.Door = cfg.Principal, cfg.Inventory, cfg.AgentDoor
	k.callers.Store, k.callers.Record, k.callers.Here = cfg.Store, k.sink, k.here
	if k.metrics, err = newMetrics(func() int { return k.realms.Sessions() }, func() int { return len(k.desk.List()) }, func() int { return int(k.answering.Load()) }); err != nil {
		return nil, err
	}
	observed := k.metrics.sessions
	if cfg.Spans != nil {
		observed = telemetry.Join(telemetry.Spans(cfg.Spans), observed)
	}
	k.realms = realm.NewBook(realm.Config{
		Inventory: cfg.Inventory, Usual: cfg.Usual, SSHHosts: cfg.SSHHosts, Inventories: k.inventories, Policy: k.policy, Trees: k.trees, Record: k.sink,
		Outputs: cfg.Outputs, Secrets: k.secrets, Ask: k.ask, Approver: k.approver(), ApprovalTimeout: cfg.ApprovalTimeout, Trace: observed,
		Done: func(principal string, res *session.Result) {
			k.events.Done(principal, res)
			k.tellDone(principal, res)
		},
		Closed: k.desk.SessionClosed, Past: k.past, MCP: k.agents, Go: k.leaving.Go,
	})
	k.boxes = boxes.New(boxes.Config{
		Store: cfg.Store, ID: cfg.ID, Inventory: cfg.Inventory, Inventories: k.inventories, Realms: k.realms, Machine: &k.machine, Own: cfg.ownPaths(),
		AuthSock: cfg.AgentDoor.AuthSock, Confine: cfg.Confine, NoWrap: cfg.noWrap,
		AuditDir: cfg.AuditDir, Record: k.sink, Desk: k.desk, Secrets: k.secrets, Log: k.log, Now: k.now, Asks: k.asks, Answer: k.answer,
		Ended: func(e wire.Event, c store.Command) {
			k.events.Add(e)
			k.tellEnded(e, c)
		},
		Check:           func(ctx context.Context) error { return k.callers.Tokens.Check(ctx, cfg.Store) },
		ApprovalTimeout: cfg.ApprovalTimeout, Grace: DefaultGrace, Keep: cfg.Keep, Sweep: cfg.sweep, Look: cfg.lookEvery, Base: k.base, Go: k.leaving.Go,
	})
	k.onces = onlyonce.New(cfg.Store, k.life(), k.log)
	k.terminals = terminal.New(terminal.Config{
		Realms: k.realms, Record: k.sink, Secrets: k.secrets, Recordings: cfg.Recordings, Log: k.log,
		Base: k.base, Stay: k.stay, AliveEvery: cfg.aliveEvery, SlowTime: cfg.slowTime,
	})
	k.recordings = &casts.Shelf{Dir: cfg.Recordings, AuditDir: cfg.AuditDir, Secrets: k.secrets, Live: k.terminals.Recorded}
	k.api = k.routes()
	k.relayAsks()
	k.listenForAnswers()
	if k.boxes.Runner != nil {
		if err := k.boxes.Runner.Recover(k.base); err != nil {
			return nil, errors.Join(err, k.Close())
		}
	}
	return k, nil
}

// relayAsks tells readers of events what happens at the desk.
func (k *Keeper) relayAsks() {
	asks, stop := k.desk.Subscribe(events.MaxEvents)
	context.AfterFunc(k.base, stop)
	k.leaving.Go(func() {
		for a := range asks {
			k.events.Asked(a)
			k.tellAsk(a)
		}
	})
}

// Close ends every session and returns when everything is gone. It is idempotent.
func (k *Keeper) Close() error {
	closeRealms := k.realms.Shut()
	k.end()
	k.forwards.close()
	errs := []error{closeRealms()}
	if s := k.web.close(); s != nil {
		s.Close()
	}
	k.leaving.Wait()
	k.desk.Close()
	k.notify.Close()
	k.inventories.Close()
	if k.boxes.Runner != nil {
		errs = append(errs, k.boxes.Runner.Leave())
	}
	return errors.Join(errs...)
}

// busy reports whether the keeper has a reason to stay.
func (k *Keeper) busy() bool {
	return k.answering.Load() > 0 || k.realms.Sessions() > 0 || len(k.forwards.of("")) > 0 || len(k.desk.List()) > 0 || len(k.desk.ForSessions()) > 0
}

// idle returns when the keeper had nothing to do for so long, or ctx ends.
func (k *Keeper) idle(ctx context.Context, limit time.Duration) {
	if limit < 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(max(min(limit/30, 10*time.Second), time.Millisecond))
	defer tick.Stop()
	since, heard := time.Now(), k.limiter.Heard()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n := k.limiter.Heard(); n != heard || k.busy() {
			since, heard = time.Now(), n
		}
		if time.Since(since) >= limit {
			return
		}
	}
}

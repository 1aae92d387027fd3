package keeper

import (
	"cmp"
	"errors"
	"io"
	"log"
	"net"
	"path/filepath"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/limit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	judging "github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Defaults of Config.
const (
	DefaultIdle   = 15 * time.Minute
	DefaultGrace  = 20 * time.Second // for what is asked while a keeper ends
	maxRequests   = 1024             // in progress at a time
	bodyTime      = 10 * time.Second // for the whole body of a request
	headerTime    = 10 * time.Second
	keepAliveTime = 5 * time.Minute
)

// Config says what a Keeper serves. Policy, Audit and Principal are required. In Idle zero means the default, and a
// negative value never.
type Config struct {
	Principal string // who a caller on the socket is: "operator/ada"
	Inventory string // the absolute path of the one that is used where a request names none; "" means none
	Usual     string // the absolute path where one is without anybody naming it; "" means nowhere

	// SSHHosts knows the hosts of ssh_config, which operators may name where the inventory does not; nil knows none.
	SSHHosts *sshhosts.Book

	// Policy reads what decides; it is asked again when one of PolicyFiles has changed. Where it fails nothing may run.
	Policy      func() (*rules.Engine, error)
	PolicyFiles []string

	SettingsFiles []string // what else holds until the keeper ends, for the audit log

	Audit    audit.Sink // of all sessions; the caller closes it
	AuditDir string     // where it can be read; "" means that it cannot

	Outputs audit.OutputStore // keeps what commands print; nil means that nothing does

	// Own are further files and directories of Fairlead on this machine. Agents may not use them, and sandboxes do not show
	// them, as little as those that are named elsewhere here.
	Own []string

	Runs *runstore.Store // keeps what becomes of runs on many hosts; nil means that nothing does

	Recordings string // the directory of recordings of terminals; "" means that there are no terminals

	ApprovalsDir string // where the socket is at which operators answer; "" means only the API

	ApprovalTimeout time.Duration // how long what is asked waits for an answer; 0 means session.DefaultApprovalTimeout

	// Approvers returns who is enrolled to sign answers; nil means nobody.
	Approvers func() ([]approval.Approver, error)

	// Store keeps sandboxes, their commands and idempotency keys; nil means that there are none, and that keys are
	// forgotten with the keeper. ID is what the store knows this keeper by, the same after a restart, and nobody else's at a
	// time. The caller closes the store.
	Store *store.Store
	ID    string

	// Keep is how long the store keeps commands that have ended, with their outputs; 0 means for good.
	Keep time.Duration

	Listening func(net.Addr) // told where the keeper listens for TCP, once it does; nil is told nothing

	Exchange string // the directory from which agents upload files, and to which they download; "" is none

	Notify []notify.Config // who else is told of asks and ends

	// Spans makes tracers for commands and dials; nil means that none are traced. Where a request carries the header
	// traceparent (W3C Trace Context), its spans are below the one that this names. The caller closes it.
	Spans trace.TracerProvider

	AgentDoor listen.AgentDoor // a socket for an agent alone

	// Confine is the command line of a program on this machine that calls sandbox.Confine with the words behind it, for
	// sessions in sandboxes on local hosts; nil means that there is none.
	Confine []string

	TCP listen.TCP // where else to listen

	Auto    bool          // it was started on first use, as the next one will be: it leaves for a newer one
	Idle    time.Duration // without session and caller; then Serve returns
	Version string
	Log     io.Writer // what went wrong where nobody could be told; nil means nowhere

	headerTime time.Duration // for the headers of a request
	bodyTime   time.Duration // and for its body
	waitTime   time.Duration // for an answer that has not begun
	readTime   time.Duration // for a caller to read it
	aliveEvery time.Duration // between pings of terminals over TCP
	slowTime   time.Duration // for their clients to take what is sent
	tokenRate  float64       // requests a second with one token
	tokenBurst float64       // and at once
	sweep      time.Duration // sweepEvery, but for tests
	lookEvery  time.Duration // lookEvery, but for tests
	noWrap     bool          // as if there were no bubblewrap, for tests
	asks       int           // approval.Config.PerPrincipal, for tests
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Policy == nil || c.Audit == nil || c.Principal == "":
		return c, errors.New("keeper: Config needs Policy, Audit and Principal")
	case c.Store != nil && c.ID == "":
		return c, errors.New("keeper: Config.Store needs an ID")
	case c.Inventory != "" && !filepath.IsAbs(c.Inventory):
		return c, errors.New("keeper: Config.Inventory is an absolute path")
	}
	if err := c.AgentDoor.Check(); err != nil {
		return c, err
	}
	if err := c.TCP.Check(c.Store != nil); err != nil {
		return c, err
	}
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	c.ApprovalTimeout = cmp.Or(c.ApprovalTimeout, session.DefaultApprovalTimeout)
	if c.sweep == 0 {
		c.sweep = sweepEvery
	}
	c.lookEvery = cmp.Or(c.lookEvery, listen.LookEvery)
	c.headerTime, c.bodyTime = cmp.Or(c.headerTime, headerTime), cmp.Or(c.bodyTime, bodyTime)
	c.waitTime, c.readTime = cmp.Or(c.waitTime, waitTime), cmp.Or(c.readTime, readTime)
	c.aliveEvery, c.slowTime = cmp.Or(c.aliveEvery, stream.KeepAliveEvery), cmp.Or(c.slowTime, stream.WriteTime)
	c.tokenRate, c.tokenBurst = cmp.Or(c.tokenRate, limit.TokenRate), cmp.Or(c.tokenBurst, limit.TokenBurst)
	if c.Log == nil {
		c.Log = io.Discard
	}
	return c, nil
}

func (c Config) logger() *log.Logger {
	return log.New(c.Log, "fairlead keeper: ", log.LstdFlags|log.LUTC)
}

// sweepEvery is how often the keeper gives a sign of life to the store.
const sweepEvery = 10 * time.Second

// ownPaths are the files and directories of this keeper, which no agent may use and no sandbox shows.
func (c Config) ownPaths() []string {
	all := slices.Concat(c.Own, []string{c.AuditDir, c.Recordings, c.ApprovalsDir, c.Inventory}, c.namedPaths(), c.PolicyFiles)
	if c.Store != nil {
		all = append(all, c.Store.Files()...)
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !filepath.IsAbs(name) || filepath.Clean(name) == "/" })
	slices.Sort(all)
	return slices.Compact(all)
}

// namedPaths are those of ownPaths that no other process finds by itself.
func (c Config) namedPaths() []string {
	return slices.DeleteFunc([]string{c.AgentDoor.Socket, c.TCP.KeyFile}, func(name string) bool { return name == "" })
}

// withOwn adds what is this keeper's own to an engine.
func (k *Keeper) withOwn(e *rules.Engine) *rules.Engine {
	return e.WithOwn(judging.Own{Paths: k.cfg.ownPaths()}, k.machine.Is)
}

package session

import (
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Defaults and limits of Config and Command. Those of PoolConfig stand beside it.
const (
	DefaultPrincipal       = "program"
	DefaultReady           = 20 * time.Second
	DefaultGrace           = 2 * time.Second
	DefaultApprovalTimeout = 15 * time.Minute
	DefaultKeep            = 64 << 10         // bytes of each stream that a Result holds
	DefaultSlotWait        = 30 * time.Second // for a slot on a full host, where the caller gives no lower limit
	MaxBoundInput          = 1 << 30          // bytes of standard input that are kept while a command waits for approval

	// RestoredStale is in Result.Restored where umask and variables are those from before the last command that may have
	// changed them: the shell was gone before it could be asked.
	RestoredStale = "stale"
)

// Config configures sessions. Policy and Audit are required: what may run and where it is recorded is never a default.
// policy.AllowAll and audit.Discard{} say so when nothing is to be judged or recorded.
type Config struct {
	Principal string         // who asks, for policy and record; "" means DefaultPrincipal
	Policy    policy.Decider // asked before every command; an ask that nobody answers is a denial
	Audit     audit.Sink     // gets the request before a byte is sent, and the result; if it cannot record, nothing is sent

	// Approver, if not nil, is asked about commands for which the policy says ask; without one an ask is a denial. The
	// command waits as long as ApprovalTimeout: zero means DefaultApprovalTimeout, negative means no limit.
	Approver        policy.Approver
	ApprovalTimeout time.Duration

	// Redact, if not nil, is applied to the text of commands and input before it goes on record. The record's HMAC is that
	// of the exact bytes.
	Redact func(text string) string

	// Sending, if not nil, is called with the text of a command once it may run, before the first byte is sent. It must return
	// soon.
	Sending func(text string)

	// Outputs, if not nil, keeps what a Result has of a command's output, after Redact, under the hash that the record then
	// names; of a command whose Result keeps nothing, as much as DefaultKeep. What cannot be kept there is told in the record.
	Outputs audit.OutputStore

	// CleanEnv starts shells with HOME, USER, LOGNAME, PATH, LANG and TERM of the account's environment, and no more but
	// Host.Env (see [framing.Shell]). CleanEnvIf, if not nil, is asked whenever a shell starts, and may say so too.
	CleanEnv   bool
	CleanEnvIf func() bool

	// OneOff says that the session is for a few commands of one caller, and is closed soon. On a host whose slots are all held
	// by sessions it uses those that are kept for such commands. Pool.Run and Pool.Each always do.
	OneOff bool

	// ForeignEnv says that the variables of Host.Env were given by whoever asks, and not by the inventory: commands that
	// are allowed only for what they mean do not see them.
	ForeignEnv bool

	// Become, if not nil, asks a person for the password of an account, where commands run as another one (Host.Become,
	// Command.Become) and the host wants a password. Without it, or without an answer, the error wraps become.ErrPasswordNeeded.
	Become become.Ask

	// Program, if not nil, says how the programs of a session are started, its shells above all: in a place of their own, for
	// instance. It may be called concurrently. Work on files is then done by such programs, too.
	Program func(Program) (Program, error)

	// Ready bounds the start of a shell, login included, and how long a shell may take to accept a command. Zero means
	// DefaultReady; negative means no limit.
	Ready time.Duration

	// Grace is how long each step of stopping a command may take. Zero means DefaultGrace; negative means none: the
	// shell is replaced at once.
	Grace time.Duration

	Trace *Trace // nil traces nothing
}

// withDefaults returns a copy that is complete, or says what is missing.
func (c Config) withDefaults() (Config, error) {
	if c.Policy == nil {
		return c, errors.New("session: Config.Policy is required (policy.AllowAll allows everything)")
	}
	if c.Audit == nil {
		return c, errors.New("session: Config.Audit is required (audit.Discard{} records nothing)")
	}
	if c.Principal == "" {
		c.Principal = DefaultPrincipal
	}
	c.ApprovalTimeout = orDefault(c.ApprovalTimeout, DefaultApprovalTimeout)
	c.Ready = orDefault(c.Ready, DefaultReady)
	c.Grace = orDefault(c.Grace, DefaultGrace)
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	if c.Trace == nil {
		c.Trace = &Trace{}
	}
	return c, nil
}

// orDefault applies the rule for zero and negative values; no limit is 0 from then on.
func orDefault[T time.Duration | int](v, def T) T {
	switch {
	case v == 0:
		return def
	case v < 0:
		return 0
	}
	return v
}

func (c *Config) cleanEnv() bool { return c.CleanEnv || c.CleanEnvIf != nil && c.CleanEnvIf() }

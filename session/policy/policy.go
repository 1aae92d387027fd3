// Package policy decides whether a command may run.
//
// A [Decider] turns a [Request] into a [Decision]: deny, ask or allow, with the class of the command and the reason.
// The zero [Verdict] denies, so a forgotten field refuses. The package performs nothing and keeps no state.
package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Verdict is the outcome of a decision.
type Verdict uint8

// The verdicts, from the strictest.
const (
	Deny Verdict = iota
	Ask          // a human must approve
	Allow
)

// String returns "deny", "ask" or "allow"; any other value reads as "deny".
func (v Verdict) String() string {
	switch v {
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	default:
		return "deny"
	}
}

// MarshalText writes String.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes; anything else is Deny.
func (v *Verdict) UnmarshalText(text []byte) error {
	switch string(text) {
	case "ask":
		*v = Ask
	case "allow":
		*v = Allow
	default:
		*v = Deny
	}
	return nil
}

// Class says what kind of thing a command does.
type Class string

// The classes, from the mildest. The zero Class means that nobody looked, and counts as Unknown.
const (
	ReadOnly      Class = "read-only"      // changes nothing: its record need not wait for the disk
	SensitiveRead Class = "sensitive-read" // shows secrets: private keys, password hashes, credentials
	NetworkRead   Class = "network-read"   // asks a service over the network, and changes nothing on the host
	Write         Class = "write"          // changes files, processes or settings, or opens a network connection for more
	Unknown       Class = "unknown"        // nobody can tell before it runs
	Dangerous     Class = "dangerous"      // stops or removes what others rely on
	Privileged    Class = "privileged"     // takes another account's rights: sudo, su, doas
	Forbidden     Class = "forbidden"      // destroys the host, opens it to others, or runs code that nobody saw
)

// Classes are the classes, from the mildest. Unknown is worse than Write because a policy may well allow writes where it does not
// allow what nobody can tell, and milder than Dangerous because what is known to be dangerous is the better thing to say.
var Classes = [...]Class{ReadOnly, SensitiveRead, NetworkRead, Write, Unknown, Dangerous, Privileged, Forbidden}

// Rank is the place of a class in [Classes]. A class that is none ranks as Unknown.
func (c Class) Rank() int {
	if i := slices.Index(Classes[:], c); i >= 0 {
		return i
	}
	return slices.Index(Classes[:], Unknown)
}

// Worse reports whether c is worse than other.
func (c Class) Worse(other Class) bool { return c.Rank() > other.Rank() }

// Worst returns the worse of two classes.
func Worst(a, b Class) Class {
	if b.Worse(a) {
		return b
	}
	return a
}

// Request is what a decision is about. It is passed by value; deciders must not modify what it points to.
type Request struct {
	Principal   string // who asks: "operator/ada", "agent/mcp", "program/NAME"; what stands before the slash is the role
	Host        hosts.Host
	Shell       string   // the shell that runs it: "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh"; "" counts as any of them
	Command     string   // exactly what would be sent
	Dir         string   // where it would run; "" if that is not known yet
	Reason      string   // as the asker gave it
	Interactive bool     // somebody will type into it while it runs
	Set         []string // names that earlier commands of the session have set, as far as that was seen
	Input       string   // what is typed at Command, which runs already; "" when Command itself is judged
	Elsewhere   bool     // no shell of the session's runs it: a job, or a program that is started with exact words
	Action      bool     // it is done to files over the connection, as Command says, and no shell or program of the session does it
}

// Needs says whose yes an [Ask] waits for. The zero Needs counts as an approval.
type Needs string

// What an Ask may wait for.
const (
	NeedsApproval     Needs = "approval"     // another principal's yes
	NeedsConfirmation Needs = "confirmation" // the asker's own second thought, which --yes answers
	NeedsBreakGlass   Needs = "break-glass"  // the asker types the host's name and a reason; --yes does not answer
)

// Decision is a verdict and what it rests on.
type Decision struct {
	Verdict  Verdict `json:"verdict"`
	Class    Class   `json:"class,omitempty"`
	Rule     string  `json:"rule,omitempty"` // which rule decided
	Reason   string  `json:"reason,omitempty"`
	Approval string  `json:"approval,omitempty"` // the approval that turned an ask into an allow
	Needs    Needs   `json:"needs,omitempty"`    // set with Ask
	Hint     string  `json:"hint,omitempty"`     // what would make it pass

	// LeastProof is the least proof of a person that an approval takes, set with an Ask that needs one where a policy says
	// so. ApprovedBy and Proof are set once an approval has turned the ask into an allow.
	LeastProof Proof  `json:"least_proof,omitempty"`
	ApprovedBy string `json:"approved_by,omitempty"`
	Proof      Proof  `json:"proof,omitempty"`

	WithInput bool `json:"with_input,omitempty"` // the approval covers what is typed at the command while it runs, too

	// ForSession says how far an approval reaches that was given for a session, in words; "" is one command.
	ForSession string `json:"for_session,omitempty"`

	// For the record.
	Policy string `json:"-"` // the hash that names the policy that decided; "" where the decider has none

	// Hold says that it only reads and runs held by the host's kernel where that can be, else as it is judged.
	Hold bool `json:"-"`

	// Unheld, if not nil, says that it is allowed only where the host's kernel holds it to reading: where the host cannot, this is
	// decided instead, with why added to its Reason. Unfit says why it would not tell the truth held, and so runs as it is.
	// Sockets are local sockets that are open for it while it is held, as its programs ask their services through them.
	Unheld  *Decision `json:"-"`
	Unfit   string    `json:"-"`
	Sockets []string  `json:"-"`

	// Traceless says that it leaves its shell as it finds it, also to those who look: the pool may give that to another one-off command.
	Traceless bool `json:"-"`

	// First, if not nil, says with an Ask that the command is tried first, held to reading by the host's kernel. Where that refuses
	// nothing the command has only read, and nobody is asked.
	First *First `json:"-"`

	// For the session that runs it.
	Send   string   `json:"-"` // if not "", what is run instead of Command: the same with CRLF read as a newline
	Clean  bool     `json:"-"` // allowed only for what it means: not in a shell that other commands have shaped
	Ends   bool     `json:"-"` // it changes its shell for itself alone, so that this is to end with it
	Taints bool     `json:"-"` // it may change what later commands in the same shell mean
	Sets   []string `json:"-"` // names that it sets there
	Uses   []string `json:"-"` // names of variables and programs that it rests on; nil where nobody looked
	Rests  string   `json:"-"` // with Ask: a name of Request.Set that it rests on, so that it may mean something else than before
}

// First says how a command is tried that needs approval otherwise.
type First struct {
	Closed []string // places that it may not read: expressions of held.Closed
	Shapes bool     // it may change the shell that it runs in, so it is not tried where that goes on
}

// String says it in words.
func (f *First) String() string {
	switch {
	case f == nil:
		return "not tried"
	case f.Shapes:
		return "tried held first, in a one-off command"
	}
	return "tried held first"
}

// Question is what an [Approver] is asked: whether exactly this may run, here and now.
type Question struct {
	Exec        string // the command's identifier
	Session     string
	Sandbox     string // the sandbox that it is a command of, where it has a session of its own there; "" elsewhere
	Enforcement string // what holds that sandbox: "kernel", "account" or "checked"; in documents Decision.Reason says it
	Principal   string // who wants it
	Host        hosts.Host
	Shell       string
	Command     string // exactly what will be sent
	Dir         string
	Reason      string // as the asker gave it
	Interactive bool

	// Typed, if not "", is what is to be typed at Command, which runs already: exactly these bytes. Then the question is
	// about them alone.
	Typed string

	// Hosts are those that it is about, each once, where they are several. Host then stands for them: with their folded
	// names, and the tier that is the most careful.
	Hosts []hosts.Host

	// What the command gets on its standard input: how much, its SHA-256 in hexadecimal ("" is no input: /dev/null), and up
	// to StdinShown bytes of its beginning.
	StdinBytes  int64
	StdinSHA256 string
	StdinHead   string

	Decision Decision // why it asks
	Asked    time.Time
	Expires  time.Time // zero: never
}

// StdinShown is how much of a command's standard input is shown to those who approve it, in bytes.
const StdinShown = 4 << 10

// Answer is somebody's decision.
type Answer struct {
	Approved bool
	ID       string // of the approval
	By       string // who answered: "operator/ada"
	Proof    Proof  // how that is known
	Reason   string

	WithInput bool // the yes covers what is typed at an interactive command while it runs, too

	ForSession string // see Decision

	// What the proof rests on, for the record; empty where nothing was signed.
	Digest    string // what was signed: the digest of Document
	Document  string // what was approved, with all its bytes
	Approver  string // the name of the enrolled approver
	Key       string // the fingerprint of the key
	Signature string // of Digest, in OpenSSH's armor
}

// ErrExpired is wrapped by an Approver's error where the question's time was over before somebody answered.
var ErrExpired = errors.New("it was not answered in time")

// Approver puts a question to somebody who may answer it and waits until they do, or until ctx ends. An error is no
// answer, and denies. After a yes the [Decider] is asked again, and what it has come to deny does not run. It may be called
// concurrently.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}

// SettledApprover is an Approver that may have its answer already: then nothing is tried first.
type SettledApprover interface {
	Approver
	Settled() bool
}

// SessionApprover is an Approver that may hold approvals for a session. ForSession returns the answer of one that covers q,
// and false where none does; it asks nobody and does not wait.
type SessionApprover interface {
	Approver
	ForSession(ctx context.Context, q Question) (Answer, bool)
}

// Decider decides. It must be quick, must not perform the request, and may be called concurrently. On error the
// Decision is meaningless and callers deny.
type Decider interface {
	Decide(ctx context.Context, req Request) (Decision, error)
}

// DeciderFunc adapts a function.
type DeciderFunc func(ctx context.Context, req Request) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, req Request) (Decision, error) { return f(ctx, req) }

// AllowAll allows everything, for programs that are themselves the judge of what they run. It still tells the few
// commands that plainly change nothing, because their records need not wait for the disk.
var AllowAll Decider = DeciderFunc(func(_ context.Context, req Request) (Decision, error) {
	return Decision{Verdict: Allow, Class: classify(req.Command), Rule: "builtin/allow-all"}, nil
})

// classify knows single words only: shell source that says more is Unknown.
func classify(command string) Class {
	switch command {
	case "true", ":", "pwd", "id", "whoami", "hostname", "uname", "uname -a", "uptime", "date":
		return ReadOnly
	}
	return Unknown
}

// RestsOn reports whether names that a command rests on ([Decision].Uses) have one that is name, or that ends with "*" and begins it.
func RestsOn(uses []string, name string) bool {
	return slices.ContainsFunc(uses, func(use string) bool {
		prefix, wild := strings.CutSuffix(use, "*")
		return use == name || wild && strings.HasPrefix(name, prefix)
	})
}

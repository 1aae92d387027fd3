package sshconfig

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Value is one setting and where it came from.
type Value[T any] struct {
	V    T
	Raw  string    // as written, before expansion; "" for defaults and given values
	From hosts.Pos // the directive that decided; File is "" for a default and [Given] for a value from Options
}

// Given is the File of a value that Options set.
const Given = "given"

// Source says where the value came from: "file:line", "given" or "default".
func (v Value[T]) Source() string {
	if v.From.File == "" {
		return "default"
	}
	return v.From.String()
}

func (v Value[T]) isSet() bool { return v.From.File != "" }

// StrictHostKeyChecking says what to do about host keys that are not known yet.
type StrictHostKeyChecking string

// The values of StrictHostKeyChecking. Ask is the default. Off is what "no" and "off" mean to ssh; whether to obey is
// the dialer's decision.
const (
	StrictYes       StrictHostKeyChecking = "yes"
	StrictAsk       StrictHostKeyChecking = "ask"
	StrictAcceptNew StrictHostKeyChecking = "accept-new"
	StrictOff       StrictHostKeyChecking = "off"
)

// OpenSSH's defaults where they are not the zero value.
const (
	DefaultPort                = 22
	DefaultServerAliveCountMax = 3

	// DefaultNumberOfPasswordPrompts is how often ssh asks for a password.
	DefaultNumberOfPasswordPrompts = 3
)

// Settings is what a configuration says about one host. Slices are the caller's own.
type Settings struct {
	Alias string // the name as typed

	HostName Value[string] // name or address to connect to, lower case unless it is an address; never empty
	User     Value[string] // never empty
	Port     Value[uint16] // never 0

	// IdentityFiles are the private keys to try, in order, expanded. When none is configured they are OpenSSH's
	// default files, with a zero From; those need not exist. "IdentityFile none" leaves the list empty.
	IdentityFiles    []Value[string]
	CertificateFiles []Value[string]
	// CertificatesNone says that there is "CertificateFile none": no certificate is used that no line names, also none beside a key.
	CertificatesNone bool
	IdentitiesOnly   Value[bool]
	// IdentityAgent is the path of the agent's socket, by default from SSH_AUTH_SOCK of whoever asks. "" means that
	// there is no agent or that none may be used.
	IdentityAgent Value[string]

	UserKnownHostsFiles   []Value[string] // expanded; empty for "none"
	GlobalKnownHostsFiles []Value[string] // empty for "none"
	RevokedHostKeys       Value[string]   // a file, expanded; "" means none
	HostKeyAlias          Value[string]   // lower case; "" means none
	StrictHostKeyChecking Value[StrictHostKeyChecking]
	HashKnownHosts        Value[bool]
	CheckHostIP           Value[bool] // a key that is recorded for the address must be the host's, too
	// KnownHostsCommand is a program that prints lines as in known_hosts, beside the files; a zero Command means none.
	KnownHostsCommand Value[Command]
	// UpdateHostKeys says whether known_hosts follows when a host adds or replaces keys of its own: "yes", "no" or "ask".
	UpdateHostKeys Value[string]

	// ProxyJump lists jump hosts, first hop first. Each hop is resolved on its own: it takes nothing from this host.
	// Only the first hop's own ProxyJump counts; the others are reached through the hop before them.
	ProxyJump Value[[]Jump]
	// ProxyCommand is the program to connect through, with its tokens not expanded; "" means none. It and ProxyJump
	// are never both set.
	ProxyCommand Value[string]

	// ControlPath is the socket of an ssh that may share its connection, expanded; "" means that none is used.
	ControlPath Value[string]

	ConnectTimeout      Value[time.Duration] // 0 means none is configured
	ServerAliveInterval Value[time.Duration] // 0 means off
	ServerAliveCountMax Value[int]

	AddressFamily      Value[string] // "inet" or "inet6"; "" means any
	BindAddress        Value[string] // "" means none
	BindInterface      Value[string] // "" means none; BindAddress goes before it
	ConnectionAttempts Value[int]    // at least 1

	// Lists of algorithms, as written, with their "+", "-" or "^"; "" means the default.
	HostKeyAlgorithms, KexAlgorithms, Ciphers, MACs, PubkeyAcceptedAlgorithms, CASignatureAlgorithms Value[string]

	RequiredRSASize Value[int]    // in bits; 0 means the default
	RekeyLimit      Value[uint64] // in bytes; 0 means the default. Its time is in Skipped.

	PubkeyAuthentication     Value[bool]
	PreferredAuthentications Value[string] // "" means the default

	PasswordAuthentication       Value[bool]
	KbdInteractiveAuthentication Value[bool]
	NumberOfPasswordPrompts      Value[int]  // for each of the two
	BatchMode                    Value[bool] // ask no person

	SetEnv  []Value[string] // NAME=VALUE, for every program on the host
	SendEnv []Value[string] // names of the caller's variables, which may be patterns, for programs that a person starts

	// What runs on the host where the call names no command, with tokens expanded, and whether it has a terminal ("yes", "no", "force"
	// or "auto"). Both are set with Options.Programs only; "" means none, and nothing said.
	RemoteCommand, RequestTTY Value[string]

	// ForwardAgent lends an agent to programs on the host. Only the command line can say so; in files it has no effect. AgentLent is the
	// path of its socket: that of IdentityAgent, unless ForwardAgent names another one. "" means that there is none.
	ForwardAgent Value[bool]
	AgentLent    string

	Tag Value[string] // for Match tagged; "" means none

	// Skipped are directives that apply to this host and change neither where, as whom and with which keys and algorithms
	// Fairlead connects, nor the route. They have no effect.
	Skipped []Directive
}

// LimitsForwards is the PermitRemoteOpen that limits how far clients of a forwarded port without a destination get, which nothing here
// obeys: such a port is not to be opened. nil means that there is none.
func (s Settings) LimitsForwards() *Directive {
	i := slices.IndexFunc(s.Skipped, func(d Directive) bool { return strings.EqualFold(d.Keyword, "PermitRemoteOpen") })
	if i < 0 {
		return nil
	}
	return &s.Skipped[i]
}

// Directive is a line that has no effect.
type Directive struct {
	Keyword string // as written
	Value   string // as written
	From    hosts.Pos
}

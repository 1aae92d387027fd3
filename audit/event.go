package audit

import (
	"strings"
	"time"
)

// Kind says what an Event is about. Values are a stable format; more may appear.
type Kind string

// A kind that ends in ".request" stands before the deed, its partner with the same ID ends in ".result".
const (
	SessionOpen     Kind = "session.open"
	SessionClose    Kind = "session.close"
	CommandRequest  Kind = "command.request"
	CommandResult   Kind = "command.result"
	CommandInput    Kind = "command.input" // text or keys sent to a running command
	FileRequest     Kind = "file.request"
	FileResult      Kind = "file.result"
	JobRequest      Kind = "job.request" // a command that is to outlive the connection, or what is done to it later
	JobResult       Kind = "job.result"
	ForwardRequest  Kind = "forward.request" // a port is to be forwarded: Command says which, and where to
	ForwardResult   Kind = "forward.result"  // it no longer is
	ApprovalRequest Kind = "approval.request"
	ApprovalResult  Kind = "approval.result"
	ApprovalEnd     Kind = "approval.end" // of an approval for a session: revoked, expired, or closed with the session

	// Administration: what changes who may do what. ID is that of the token or sandbox, Subject whom or what it is about, and
	// Change what has changed, in words.
	TokenCreate    Kind = "token.create"
	TokenRevoke    Kind = "token.revoke"
	SandboxCreate  Kind = "sandbox.create"
	SandboxChange  Kind = "sandbox.change"
	SandboxDelete  Kind = "sandbox.delete"
	ApproverEnroll Kind = "approver.enroll"
	ApproverRemove Kind = "approver.remove"
	HostKeyTrust   Kind = "hostkey.trust"  // the key of a host was recorded
	HostKeyForget  Kind = "hostkey.forget" // the recorded keys of a host were removed
	WebLink        Kind = "web.link"       // a link to the web UI
	PolicyLoad     Kind = "policy.load"    // a policy took effect
	ConfigLoad     Kind = "config.load"    // a file of settings took effect
	KeeperStart    Kind = "keeper.start"
	KeeperEnd      Kind = "keeper.end"
	KeeperSocket   Kind = "keeper.socket" // a socket that was removed was created again

	// ChainSeal, ChainRotate and ChainPurge are written by File itself.
	ChainSeal   Kind = "chain.seal"
	ChainRotate Kind = "chain.rotate"
	ChainPurge  Kind = "chain.purge"
)

// after reports whether an event of this kind is written when the deed is done, so that nobody waits for the disk.
func (k Kind) after() bool {
	return k == SessionClose || strings.HasSuffix(string(k), ".result")
}

// Administers reports whether an event of this kind stands alone, about what changes who may do what.
func (k Kind) Administers() bool {
	switch k {
	case TokenCreate, TokenRevoke, SandboxCreate, SandboxChange, SandboxDelete, ApproverEnroll, ApproverRemove, HostKeyTrust, HostKeyForget, WebLink,
		PolicyLoad, ConfigLoad, KeeperStart, KeeperEnd, KeeperSocket:
		return true
	}
	return false
}

// pair splits a kind into what it is about and which half of the pair it is.
func (k Kind) pair() (about string, request, result bool) {
	if about, ok := strings.CutSuffix(string(k), ".request"); ok {
		return about, true, false
	}
	about, ok := strings.CutSuffix(string(k), ".result")
	return about, false, ok
}

// Event is one record. Fields that do not apply are left empty and are not written. The JSON names are a stable format:
// adding is allowed, changing is not.
type Event struct {
	V    int       `json:"v"`    // format version; set by the sink
	Seq  uint64    `json:"seq"`  // place in the chain, from 1; set by the sink
	Time time.Time `json:"time"` // UTC; set by the sink if zero
	Kind Kind      `json:"kind"`

	ID    string `json:"id,omitempty"`    // exec id: pairs a request with its result
	Group string `json:"group,omitempty"` // shared by the requests of one fleet command

	// Who.
	Principal  string `json:"principal,omitempty"`
	Client     string `json:"client,omitempty"` // what the client calls itself: a label, not a proof
	UID        *int   `json:"uid,omitempty"`    // of the asking process; nil means unknown, not root
	Separation string `json:"separation,omitempty"`

	// How.
	Host       string `json:"host,omitempty"`
	Tier       string `json:"tier,omitempty"` // of the host; absent counts as prod
	Address    string `json:"address,omitempty"`
	Route      string `json:"route,omitempty"`       // jump hosts, first hop first
	SSHOptions string `json:"ssh_options,omitempty"` // what the call said about connecting, as ssh -o does
	SSHUser    string `json:"ssh_user,omitempty"`
	Become     string `json:"become,omitempty"` // as whom it runs, if not as SSHUser, and by which program: "root by sudo"
	Key        string `json:"key,omitempty"`    // fingerprint of the key that logged in
	CertID     string `json:"cert_id,omitempty"`
	CertSerial uint64 `json:"cert_serial,omitempty"`
	HostKey    string `json:"host_key,omitempty"` // fingerprint
	Session    string `json:"session,omitempty"`
	Sandbox    string `json:"sandbox,omitempty"`

	// What. Command is redacted before it gets here. Exact holds the bytes as they are sent; it is never written: a sink
	// with a key records its HMAC as CommandHMAC, others ignore it.
	Command     string `json:"command,omitempty"`
	Exact       []byte `json:"-"`
	CommandHMAC string `json:"command_hmac,omitempty"`
	StdinBytes  int64  `json:"stdin_bytes,omitempty"`
	StdinSHA256 string `json:"stdin_sha256,omitempty"`
	Typed       bool   `json:"typed,omitempty"` // of an approval: what is asked about is typed at the command, and Command holds that

	// Of administration.
	Subject string `json:"subject,omitempty"` // the principal that a token or sandbox is for, an approver, a file
	Change  string `json:"change,omitempty"`  // in words: "role approver, expires 2027-01-01T00:00:00Z"

	// Why.
	Verdict       string `json:"verdict,omitempty"`
	Rule          string `json:"rule,omitempty"`
	Class         string `json:"class,omitempty"`
	Policy        string `json:"policy,omitempty"` // hash of the policy that judged
	Reason        string `json:"reason,omitempty"` // as the asker gave it
	Approval      string `json:"approval,omitempty"`
	ApprovedBy    string `json:"approved_by,omitempty"`
	ApprovalProof string `json:"approval_proof,omitempty"`
	WithInput     bool   `json:"with_input,omitempty"` // the approval covers what is typed at the command while it runs, too
	RevokedBy     string `json:"revoked_by,omitempty"`
	ForSession    string `json:"for_session,omitempty"` // how far an approval reaches that was given for a session

	// What an approval rests on, for whoever verifies it without this program: the digest that was signed, by whom (a name
	// among the enrolled approvers), with which key, the signature in OpenSSH's armor, and the document that the digest is of
	// where nothing in it had to be redacted.
	ApprovalDigest    string `json:"approval_digest,omitempty"`
	Approver          string `json:"approver,omitempty"`
	ApprovalKey       string `json:"approval_key,omitempty"` // fingerprint
	ApprovalSignature string `json:"approval_signature,omitempty"`
	ApprovalDocument  string `json:"approval_document,omitempty"`

	// ReadOnly says that the command changes nothing, so that its request need not wait for the disk. It is a hint for
	// the sink and is not written (class and rule are).
	ReadOnly bool `json:"-"`

	// Result.
	State        string   `json:"state,omitempty"`
	Status       string   `json:"status,omitempty"`
	ExitCode     *int     `json:"exit_code,omitempty"` // nil means unknown, not zero
	Signal       string   `json:"signal,omitempty"`
	StoppedBy    string   `json:"stopped_by,omitempty"`
	CWD          string   `json:"cwd,omitempty"`
	Held         string   `json:"held,omitempty"`    // "kernel: …" with what held the command to reading, or "no: …" with why nothing did
	Refused      []string `json:"refused,omitempty"` // calls that the kernel refused to the held command, such as "open for writing /etc/hosts"
	DurationMS   int64    `json:"duration_ms,omitempty"`
	StdoutBytes  int64    `json:"stdout_bytes,omitempty"`
	StderrBytes  int64    `json:"stderr_bytes,omitempty"`
	StdoutSHA256 string   `json:"stdout_sha256,omitempty"`
	StderrSHA256 string   `json:"stderr_sha256,omitempty"`
	StdoutKept   string   `json:"stdout_kept,omitempty"` // under which hash an OutputStore has what was kept of it, redacted
	StderrKept   string   `json:"stderr_kept,omitempty"`
	Omitted      Omitted  `json:"omitted,omitzero"`
	Error        Fault    `json:"error,omitzero"`

	// Torn, Next and Purged belong to the chain's own records.
	Torn   Torn   `json:"torn,omitzero"` // in chain.seal
	Next   string `json:"next,omitempty"`
	Purged Purged `json:"purged,omitzero"` // in chain.purge
}

// Omitted counts the bytes of each stream that were not given to the caller.
type Omitted struct {
	Stdout int64 `json:"stdout,omitempty"`
	Stderr int64 `json:"stderr,omitempty"`
}

// Fault is why a command has no ordinary result.
type Fault struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Torn describes bytes of a write that never became whole: where they begin in their file, how many there are up to the
// seal's own line, and their SHA-256 in hexadecimal.
type Torn struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Purged describes what is removed: the oldest record files up to one of them, or outputs.
type Purged struct {
	Before  time.Time `json:"before,omitzero"`   // what is older than this
	Through string    `json:"through,omitempty"` // the last record file that is removed
	Records uint64    `json:"records,omitempty"` // how many there are in the chain up to its end
	Hash    string    `json:"hash,omitempty"`    // of the last of them
	Outputs int64     `json:"outputs,omitempty"` // how many outputs are removed
	Bytes   int64     `json:"bytes,omitempty"`   // of the files or outputs
}

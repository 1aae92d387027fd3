// Package wire is what the keeper and its clients say to each other: the JSON of the API, and the names of its headers.
// Field names are a stable format. Fields ending in _s are seconds with fractions, in _ms milliseconds.
package wire

import (
	"fmt"
	"time"
)

// Headers of requests.
const (
	// Principal makes a caller on the socket act for an agent: "agent/NAME".
	Principal = "Fairlead-Principal"
	// Inventory is the absolute path of the inventory that names in the request are looked up in. On the socket only.
	Inventory = "Fairlead-Inventory"
	// AuthSock is the caller's SSH_AUTH_SOCK. On the socket only.
	AuthSock = "Fairlead-Ssh-Auth-Sock"
	// SSHOptions says how the hosts of the request are reached, in a form that is the programs' own: as ssh's -F and -o do. On the
	// socket only.
	SSHOptions = "Fairlead-Ssh-Options"
	// Environment is what the caller's variables say about how the hosts of the request are reached, in a form that is the
	// programs' own. On the socket only, and not for agents.
	Environment = "Fairlead-Environment"
	// Elicit, if not empty, has an agent's client asked too where it asks for approval. With UpgradeMCP only.
	Elicit = "Fairlead-Elicit"
	// Asker names the caller, in 8 to 64 letters and digits of its choice, as one that answers questions about connecting: it
	// looks for them at /v1/questions meanwhile. Agents are not asked.
	Asker = "Fairlead-Asker"
	// IdempotencyKey makes a request that is sent twice run once.
	IdempotencyKey = "Idempotency-Key"
)

// Headers are those of requests that are named for Fairlead, which refuses other names that begin like them.
var Headers = []string{Principal, Inventory, AuthSock, SSHOptions, Environment, Elicit, Asker}

// CodeElsewhere is the code of a Problem with a session that another keeper holds.
const CodeElsewhere = "elsewhere"

// UpgradeMCP is the protocol that a connection to /v1/mcp turns into: messages of the Model Context Protocol, as on
// standard input and output.
const UpgradeMCP = "fairlead-mcp"

// UpgradePipe is the protocol that a connection to /v1/pipes turns into: see package pipe.
const UpgradePipe = "fairlead-pipe"

// Problem is why a request failed (RFC 9457), with a code for programs.
type Problem struct {
	Type      string `json:"type" doc:"about:blank: the code says what it is"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail,omitempty"`
	Code      string `json:"code" doc:"for programs: busy, not_found, closed, denied, conflict, invalid, unreachable and others"`
	Retriable bool   `json:"retriable" doc:"whether trying again may help"`
	Exec      string `json:"exec,omitempty" doc:"for busy: the command that runs"`
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problem details where JSON was asked for.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// API is the form of the API that this program speaks. It changes where a program of before would misunderstand.
const API = 1

// Health says that a keeper lives, and what its gate is worth.
type Health struct {
	Status     string    `json:"status" enum:"ok,degraded"`
	Store      string    `json:"store,omitempty" doc:"of a degraded keeper: what is wrong with its store, and what to do"`
	Audit      string    `json:"audit,omitempty" doc:"of a degraded keeper: why the audit log takes no entry, so that nothing runs, and what to do"`
	Version    string    `json:"version"`
	API        int       `json:"api" doc:"which form of the API the keeper speaks: another number is another language"`
	Separation string    `json:"separation" enum:"shared-uid,split-uid" doc:"whether callers could use the keeper's SSH credentials without it"`
	PID        int       `json:"pid"`
	Started    time.Time `json:"started"`
	Sessions   int       `json:"sessions"`
}

// Moment is a time as JSON has it: nil for none.
func Moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// SessionsOpen says that a keeper has so many sessions.
func SessionsOpen(n int) string {
	if n == 1 {
		return "it has a session open"
	}
	return fmt.Sprintf("it has %d sessions open", n)
}

// Host is one of the inventory.
type Host struct {
	Name       string   `json:"name"`
	Addr       string   `json:"addr,omitempty"`
	Groups     []string `json:"groups"`
	Labels     []string `json:"labels"`
	Tier       string   `json:"tier"`
	Transport  string   `json:"transport"`
	Connection string   `json:"connection,omitempty" doc:"connected, or why the last attempt failed, or why none is allowed; omitted before the first attempt"`
}

// Hosts is a list of them.
type Hosts struct {
	Items []Host `json:"items"`
}

// Open asks for a session.
type Open struct {
	Host  string            `json:"host" doc:"a host of the inventory; an operator may also write user@host:port"`
	Name  string            `json:"name,omitempty" maxLength:"64" doc:"to use instead of the id; unique among the caller's"`
	CWD   string            `json:"cwd,omitempty" maxLength:"4096" doc:"its first directory; the account's home directory if omitted, and on hosts of transport command where that command's shell starts"`
	Env   map[string]string `json:"env,omitempty" doc:"some may change what commands mean: where that needs approval, exec of the session sets them, which is closed if it does not end well"`
	Shell string            `json:"shell,omitempty" enum:"auto,bash,zsh,ksh,mksh,dash,ash,sh" doc:"instead of the host's; auto is the account's own"`

	Sandbox string `json:"sandbox,omitempty" maxLength:"4096" doc:"id, label or path of a sandbox of one's own, to stay in; cwd may be relative to it"`
	Become  string `json:"become,omitempty" maxLength:"64" doc:"the account as which it runs, instead of the one that the inventory says; none is the account that logs in"`

	Reason string `json:"reason,omitempty" maxLength:"4096" doc:"reason to record in the audit log"`
}

// Session is a shell with a name and an owner.
type Session struct {
	ID     string    `json:"id"`
	Name   string    `json:"name,omitempty"`
	Host   string    `json:"host"`
	Shell  string    `json:"shell,omitempty"`
	CWD    string    `json:"cwd"`
	Opened time.Time `json:"opened"`
	Owner  string    `json:"owner"`
	Become string    `json:"become,omitempty" doc:"the account as which it runs; omitted where that is the one that logs in"`

	Sandbox string `json:"sandbox,omitempty" enum:"kernel,account,checked" doc:"what enforces its sandbox; omitted without one"`

	Exec string `json:"exec,omitempty" doc:"the command that runs or awaits approval"`
	Last string `json:"last,omitempty" doc:"the command that was started last"`
}

// Sessions is a list of them.
type Sessions struct {
	Items []Session `json:"items"`
}

// SessionLeft is what the end of a session leaves running on its host: programs that it has started with nohup or setsid.
type SessionLeft struct {
	Left []Process `json:"left" doc:"started with nohup or setsid, as far as the host can tell whose they are"`
}

// Process is one on a host.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name" doc:"up to 15 bytes, as the program has it"`
}

// Run asks for a command.
type Run struct {
	Command     string   `json:"command" required:"false" doc:"shell source, sent as it is; or program and args"`
	Program     string   `json:"program,omitempty" maxLength:"255" doc:"the bare name of a program, run with exactly args: no shell function, alias or builtin takes its place"`
	Args        []string `json:"args,omitempty" maxItems:"10000"`
	Reason      string   `json:"reason,omitempty" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
	WaitS       *float64 `json:"wait_s,omitempty" minimum:"0" doc:"seconds to wait for its end (default 30, at most 50); it keeps running after that"`
	TimeoutS    *float64 `json:"timeout_s,omitempty" minimum:"0" doc:"stop it after so many seconds; default 600 for agents, none for others"`
	IdleS       *float64 `json:"idle_s,omitempty" minimum:"0" doc:"stop it when it printed nothing for so many seconds"`
	Merged      bool     `json:"merged,omitempty" doc:"standard error into standard output, in the order of writing"`
	Interactive bool     `json:"interactive,omitempty" doc:"on a terminal that takes input"`
	Rows        int      `json:"rows,omitempty" minimum:"0" maximum:"1000" doc:"of that terminal"`
	Cols        int      `json:"cols,omitempty" minimum:"0" maximum:"1000"`
	Confirm     bool     `json:"confirm,omitempty" doc:"the operator's confirmation, where the policy requires one"`
	BreakGlass  string   `json:"break_glass,omitempty" doc:"an operator's: the host's name, to run what is forbidden; takes a reason too"`
	Output      *Output  `json:"output,omitempty"`
}

// Output says how much of the output is wanted; the rest can be paged.
type Output struct {
	Head     int    `json:"head,omitempty" minimum:"0" doc:"this many first lines"`
	Tail     int    `json:"tail,omitempty" minimum:"0" doc:"this many last lines"`
	Grep     string `json:"grep,omitempty" doc:"only lines in which this RE2 pattern is found"`
	Context  int    `json:"context,omitempty" minimum:"0" doc:"lines around them"`
	MaxBytes int    `json:"max_bytes,omitempty" minimum:"0" maximum:"4194304" doc:"of each stream (default 65536)"`
}

// Input is typed at an interactive command, or sent to any as a signal.
type Input struct {
	Text    string   `json:"text,omitempty"`
	Keys    []string `json:"keys,omitempty" doc:"after the text: C-c, C-d, Enter, Tab, Esc, Up, …"`
	Signal  string   `json:"signal,omitempty" enum:"INT,TERM,KILL"`
	WaitFor string   `json:"wait_for,omitempty" doc:"wait until this RE2 pattern comes on standard output"`
	WaitS   *float64 `json:"wait_s,omitempty" minimum:"0" doc:"for the pattern, a prompt or the end (default 30 with wait_for, else 0)"`
}

// Page is a piece of a stream.
type Page struct {
	Stream   string `json:"stream" enum:"stdout,stderr"`
	Offset   int64  `json:"offset"`
	Next     int64  `json:"next_offset" doc:"where to go on"`
	End      bool   `json:"end" doc:"nothing comes after this page, now or later"`
	Skipped  int64  `json:"skipped,omitempty" doc:"bytes before offset that were not kept"`
	Encoding string `json:"encoding" enum:"utf-8,base64"`
	Data     string `json:"data"`
}

// Chunk is an event of the stream of a command's output. Its id, given back as Last-Event-ID, goes on after it.
type Chunk struct {
	Stream   string `json:"stream"`
	Offset   int64  `json:"offset"`
	Skipped  int64  `json:"skipped,omitempty"`
	Encoding string `json:"encoding"`
	Data     string `json:"data"`
}

// Event tells of what happened to an ask or a command.
type Event struct {
	Kind      string    `json:"kind" doc:"asked, approved, rejected, expired or canceled, of an approval; done, of a command; missed: earlier events may be lost"`
	ID        string    `json:"id" doc:"of the approval; of a command that is done its exec, or the sandbox command that never became one"`
	Exec      string    `json:"exec,omitempty" doc:"which exec it is about, where there is one"`
	Command   string    `json:"command_id,omitempty" doc:"which command in a sandbox it is about"`
	Approval  string    `json:"approval,omitempty" doc:"the approval that it is about"`
	Principal string    `json:"principal"`
	Host      string    `json:"host,omitempty"`
	Status    string    `json:"status,omitempty" doc:"of a command that is done"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	Time      time.Time `json:"time"`
}

// Approval is an ask that waits.
type Approval struct {
	ID        string     `json:"id"`
	Exec      string     `json:"exec,omitempty" doc:"of what: an exec or a command; missing where it is about many hosts"`
	Principal string     `json:"principal"`
	Host      string     `json:"host"`
	Tier      string     `json:"tier,omitempty"`
	Class     string     `json:"class,omitempty"`
	FirstLine string     `json:"first_line" doc:"truncated, and redacted for callers who may not approve; an answer is bound to the document"`
	Lines     int        `json:"lines"`
	Bytes     int        `json:"bytes"`
	Typed     bool       `json:"typed,omitempty" doc:"it is about what is to be typed at the command, which runs already"`
	Asked     *time.Time `json:"asked,omitempty"`
	Expires   *time.Time `json:"expires,omitempty"`
}

// Approvals is a list of them.
type Approvals struct {
	Items []Approval `json:"items"`
	Store string     `json:"store,omitempty" doc:"the list may not be whole: what is wrong with the keeper's store, and what to do"`
}

// Document is an ask in full.
type Document struct {
	ID       string `json:"id"`
	Digest   string `json:"digest" doc:"SHA-256 of the document; the answer names it"`
	Document []byte `json:"document" doc:"what an answer is bound to, all of it"`

	DigestWithInput string `json:"digest_with_input,omitempty" doc:"of an interactive command: SHA-256 of the document and the field “with-input 3”, “yes” after it, which an approval with input names"`
}

// Answer answers an ask.
type Answer struct {
	Digest string `json:"digest" doc:"of the document that was shown; with with_input its digest_with_input"`
	Reason string `json:"reason,omitempty" maxLength:"4096"`

	WithInput bool `json:"with_input,omitempty" doc:"approves an interactive command together with all input while it runs"`

	ForSession *ForSession `json:"for_session,omitempty" doc:"approve more commands of the session; the digest is then of the document that GET /v1/approvals/{id} returns for the same for_session, prefix and for_s"`

	Signature string `json:"signature,omitempty" maxLength:"65536" doc:"of an approval only: over the digest's text, in OpenSSH's SSHSIG format (ssh-keygen -Y sign -n approve@fairlead), armored, or in base64"`
	Proof     string `json:"proof,omitempty" doc:"the most that the answerer says about the key: touch, passphrase or unproven"`
}

// ForSession says which later commands of the session, or of the sandbox, an approval covers.
type ForSession struct {
	Prefix string `json:"prefix,omitempty" maxLength:"4096" doc:"commands that begin with these literal words, such as “systemctl restart”; if omitted, the exact same command"`
	ForS   int64  `json:"for_s,omitempty" minimum:"0" maximum:"86400" doc:"seconds; if omitted, until the session ends, at most 24 hours"`
}

// SessionApproval is an approval that holds for a session.
type SessionApproval struct {
	ID         string    `json:"id" doc:"of the approval"`
	Scope      string    `json:"scope" doc:"what it covers, in words"`
	Command    string    `json:"command" doc:"the command that was approved, redacted and truncated"`
	Principal  string    `json:"principal" doc:"whose commands it covers"`
	Host       string    `json:"host"`
	Session    string    `json:"session,omitempty"`
	Sandbox    string    `json:"sandbox_id,omitempty"`
	CWD        string    `json:"cwd" doc:"the directory in which it holds"`
	Class      string    `json:"class,omitempty"`
	ApprovedBy string    `json:"approved_by"`
	Proof      string    `json:"proof"`
	WithInput  bool      `json:"with_input,omitempty"`
	Given      time.Time `json:"given"`
	Until      time.Time `json:"until" doc:"or the end of the session, if that comes first"`
	Used       int       `json:"used" doc:"how many commands have run under it, besides the first"`
}

// SessionApprovals is a list of them.
type SessionApprovals struct {
	Items []SessionApproval `json:"items"`
}

// Link leads to the keeper's web page.
type Link struct {
	URL     string    `json:"url" doc:"good for one use: the first browser that opens it is let in"`
	Expires time.Time `json:"expires"`
}

// Verified is what a check of the record found.
type Verified struct {
	OK       bool     `json:"ok"`
	Records  uint64   `json:"records"`
	Head     string   `json:"head,omitempty"`
	Problems []string `json:"problems"`
}

package wire

import "time"

// Sandbox is a directory on a host in which a principal may work.
type Sandbox struct {
	ID      string    `json:"sandbox_id"`
	Owner   string    `json:"owner_principal_id"`
	Host    string    `json:"host"`
	Label   string    `json:"label"`
	Path    string    `json:"path"`
	Active  bool      `json:"is_active"`
	Network string    `json:"network,omitempty" enum:"none" doc:"none: programs in it have no network; omitted where they have the account's"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// NewSandbox asks for one.
type NewSandbox struct {
	Owner string `json:"owner_principal_id,omitempty" maxLength:"200" doc:"its owner; the caller if omitted"`
	Host  string `json:"host,omitempty" maxLength:"255" doc:"may be omitted if the inventory has one host"`
	Label string `json:"label,omitempty" maxLength:"200"`
	Path  string `json:"path" maxLength:"4096" doc:"absolute"`

	Network string `json:"network,omitempty" enum:"account,none" doc:"none: programs have no network, which the host's kernel must enforce (default account)"`
}

// SandboxChange changes one; what is left out stays.
type SandboxChange struct {
	Label  *string `json:"label,omitempty" maxLength:"200"`
	Path   *string `json:"path,omitempty" maxLength:"4096"`
	Active *bool   `json:"is_active,omitempty"`

	Network *string `json:"network,omitempty" enum:"account,none"`
}

// Sandboxes is a part of a list, the newest first.
type Sandboxes struct {
	Items []Sandbox `json:"items"`
	Next  string    `json:"next_cursor"`
}

// Enforcement is what holds the owner of a sandbox in it, as its host has just been found.
type Enforcement struct {
	Level string `json:"level" enum:"kernel,account,checked"`
	How   string `json:"how,omitempty" enum:"bubblewrap,landlock" doc:"with kernel"`
	Why   string `json:"why" doc:"what it holds, or why it is not more"`

	Open []string `json:"open,omitempty" doc:"with kernel: what it leaves open, one sentence each"`

	Directory string `json:"directory" enum:"there,missing" doc:"whether the sandbox's path is a directory that the owner's account may enter"`
	LeadsTo   string `json:"leads_to" doc:"the path without symbolic links"`
}

// NewCommand asks for a command in a sandbox.
type NewCommand struct {
	Sandbox  string   `json:"sandbox_id" maxLength:"80"`
	Command  string   `json:"command" doc:"shell source"`
	CWD      string   `json:"cwd,omitempty" maxLength:"4096" doc:"in the sandbox; relative to it, or absolute"`
	Host     string   `json:"host,omitempty" maxLength:"255" doc:"the sandbox's, if it is said"`
	Reason   string   `json:"reason,omitempty" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
	TimeoutS *float64 `json:"timeout_s,omitempty" minimum:"0" doc:"stop it after so many seconds (default 600)"`
	WaitS    *float64 `json:"wait_s,omitempty" minimum:"0" doc:"wait so many seconds for its end (default 30, at most 50)"`
}

// Command is the record of one.
type Command struct {
	ID          string     `json:"command_id"`
	Session     string     `json:"session_id"`
	Sandbox     string     `json:"sandbox_id"`
	Host        string     `json:"host"`
	Command     string     `json:"command"`
	CWD         string     `json:"cwd"`
	Enforcement string     `json:"enforcement" doc:"what holds it in its sandbox, as a session's sandbox says it: kernel, account or checked; empty where that was never asked"`
	Status      string     `json:"status" enum:"pending,approved,executed,failed,rejected"`
	Verdict     string     `json:"verdict"`
	Reason      string     `json:"reason" doc:"why the verdict, or why it ended so"`
	Outcome     string     `json:"outcome" doc:"once it has ended: ok, exit, timeout, lost, denied, expired and others"`
	Stdout      string     `json:"stdout"`
	Stderr      string     `json:"stderr"`
	ExitCode    *int       `json:"exit_code"`
	RequestedBy string     `json:"requested_by"`
	ApprovedBy  string     `json:"approved_by"`
	Created     time.Time  `json:"created_at"`
	Updated     time.Time  `json:"updated_at"`
	Finalized   *time.Time `json:"finalized_at"`
	Exec        *Result    `json:"exec" doc:"the Result, once it has run"`
}

// Commands is a part of a list, the newest first.
type Commands struct {
	Items []Command `json:"items"`
	Next  string    `json:"next_cursor"`
}

// Approve is a yes. With a Digest it is one to what has that digest and to nothing else, as GET /v1/approvals/{id} tells it.
type Approve struct {
	Reason     string      `json:"reason,omitempty" maxLength:"4096"`
	Digest     string      `json:"digest,omitempty" doc:"of the document that was shown; the approval is the one of /v1/approvals whose exec is the command"`
	ForSession *ForSession `json:"for_session,omitempty" doc:"approve more commands of the sandbox"`

	Signature string `json:"signature,omitempty" maxLength:"65536" doc:"over the digest's text, in OpenSSH's SSHSIG format (ssh-keygen -Y sign -n approve@fairlead), armored, or in base64"`
	Proof     string `json:"proof,omitempty" doc:"the most that the answerer says about the key: touch, passphrase or unproven"`
}

// Reject says why not.
type Reject struct {
	Reason string `json:"reason,omitempty" maxLength:"4096"`
}

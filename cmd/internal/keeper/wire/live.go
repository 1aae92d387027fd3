package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// NewRun asks for a command whose caller takes the output as it comes, and with whom it ends: on one host, in a session, or
// on many hosts at once, which are one request.
type NewRun struct {
	ID         string   `json:"id" minLength:"8" maxLength:"80" doc:"chosen by the caller, new for every run; stops the run; recorded in the audit log for runs on many hosts, and kept as this if it holds only letters, digits, _ and -"`
	Host       string   `json:"host,omitempty" doc:"where, in a shell of its own; or"`
	Session    string   `json:"session,omitempty" maxLength:"80" doc:"in which session, by id or name; or"`
	Hosts      []string `json:"hosts,omitempty" maxItems:"100000" doc:"on which hosts, by name or user@host:port; or"`
	Selector   string   `json:"selector,omitempty" maxLength:"65536" doc:"on which hosts: web[01-12], web*, @group, role=web, tier=dev, ~regex, all; joined by , & and !"`
	CWD        string   `json:"cwd,omitempty" maxLength:"4096" doc:"go to this directory first; a session stays there; not for many hosts"`
	Command    string   `json:"command,omitempty" doc:"shell source, sent as it is; or program and args"`
	Program    string   `json:"program,omitempty" maxLength:"255" doc:"the bare name of a program, run with exactly args: no shell function, alias or builtin takes its place"`
	Args       []string `json:"args,omitempty" maxItems:"10000"`
	CommandB64 string   `json:"command_b64,omitempty" doc:"shell source that is not UTF-8, in base64, and command is empty"`
	Commands   []string `json:"commands,omitempty" maxItems:"100000" doc:"one for each of hosts, instead of command: each is judged on its host, and one approval is for all"`
	Held       bool     `json:"held,omitempty" doc:"run it in a shell that the host's kernel holds to reading: a dry run; where the host cannot, nothing is sent"`
	Reason     string   `json:"reason,omitempty" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
	TimeoutS   *float64 `json:"timeout_s,omitempty" minimum:"0" doc:"stop it after so many seconds; default 600 for agents, none for others"`
	IdleS      *float64 `json:"idle_s,omitempty" minimum:"0" doc:"stop it when it printed nothing for so many seconds"`
	Confirm    bool     `json:"confirm,omitempty" doc:"the operator's confirmation, where the policy requires one"`
	BreakGlass string   `json:"break_glass,omitempty" doc:"an operator's: the host's name, or the number of several, to run what is forbidden; takes a reason too"`
	Answered   string   `json:"answered,omitempty" enum:"flag,terminal" doc:"how the operator answered, for the audit log"`

	// For many hosts.
	Sums            []string `json:"sums,omitempty" doc:"what the caller takes each of hosts for: one that is another here gets nothing, and neither do the others"`
	Partial         bool     `json:"partial,omitempty" doc:"run where the policy allows it; else one host where it does not is enough for it to run nowhere"`
	Forks           int      `json:"forks,omitempty" minimum:"0" maximum:"100000" doc:"how many hosts at a time (default 32)"`
	ConnectTimeoutS *float64 `json:"connect_timeout_s,omitempty" minimum:"0" doc:"give up connecting after so many seconds, instead of what the inventory says"`
	Shell           string   `json:"shell,omitempty" enum:"auto,bash,zsh,ksh,mksh,dash,ash,sh" doc:"run it in this shell, instead of the one that the inventory names"`
	Become          string   `json:"become,omitempty" maxLength:"64" doc:"run it as this account, instead of the one that the inventory says; none is the account that logs in"`
	Stdin           bool     `json:"stdin,omitempty" doc:"each host gets a standard input: with POST /v1/runs/{id}/stdin, after its event “stdin”"`
	Quiet           bool     `json:"quiet,omitempty" doc:"send no output as it comes: the results hold some of it"`
	Keep            int      `json:"keep,omitempty" minimum:"-1" maximum:"524288" doc:"bytes of each output that a result holds, from its beginning and its end (default 65536; -1: none)"`
	Redact          bool     `json:"redact,omitempty" doc:"take secrets out of what operators get, too"`
	KeepRun         bool     `json:"keep_run,omitempty" doc:"keep how the run ends on each host, without output, for GET /v1/runs; the command line keeps its runs itself"`
	Rollout         *Rollout `json:"rollout,omitempty" doc:"run in steps: batches, limits, and a check after each batch"`
	Rerun           *Rerun   `json:"rerun,omitempty" doc:"run a kept run again, instead of hosts and a command"`
	Job             string   `json:"job_id,omitempty" maxLength:"15" pattern:"^j_[a-z2-7]{13}$" doc:"start it as a job on each host instead, of this id that the caller has made up; on several hosts the ids are this one, a dash and the number of the host. The results are those of the starts"`

	// Of files, instead of a command, on hosts or a selector. The stream of an upload comes as standard input; that of a
	// download is fetched with GET /v1/runs/{id}/files. Output is reports, as lines of JSON.
	Copy *copies.Plan `json:"copy,omitempty" doc:"copy files instead of running a command"`
}

// Rerun names a kept run of the caller's, and on which of its hosts it runs again.
type Rerun struct {
	Run string `json:"run" maxLength:"80"`
	On  string `json:"on" enum:"failed,unreachable,notrun,all" doc:"the hosts on which it was so; failed includes hosts whose outcome is unknown, notrun only those that certainly got nothing"`
}

// SetCommand puts shell source in, whatever its bytes are.
func (r *NewRun) SetCommand(script string) {
	r.Command, r.CommandB64 = script, ""
	if !utf8.ValidString(script) {
		r.Command, r.CommandB64 = "", base64.StdEncoding.EncodeToString([]byte(script))
	}
}

// Script is the shell source.
func (r *NewRun) Script() (string, error) {
	if r.CommandB64 == "" {
		return r.Command, nil
	}
	text, err := base64.StdEncoding.DecodeString(r.CommandB64)
	switch {
	case err != nil:
		return "", errors.New("command_b64 is not base64")
	case r.Command != "":
		return "", errors.New("give command or command_b64, not both")
	}
	return string(text), nil
}

// Sum tells a host from what its name stands for elsewhere, or at another time: a hash over all that is known of it but the
// place where that is written.
func Sum(h hosts.Host) string {
	h.Source = hosts.Pos{}
	text, err := json.Marshal(h)
	if err != nil {
		panic("wire: internal error: " + err.Error()) // a host is texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// RunWaits is the event “waiting”: somebody has to approve the command.
type RunWaits struct {
	Exec string `json:"exec,omitempty"`
}

// RunEnd is the event “end”, the last one of a run on one host or in a session.
type RunEnd struct {
	Result *Result `json:"result"`
}

// RunHosts is the event “hosts”, the first one of a run on many: the others tell a host by its place here.
type RunHosts struct {
	Hosts []string `json:"hosts"`
}

// RunBegins is the event “begin”: the turn of a host has come; and the event “stdin”: its standard input is wanted.
type RunBegins struct {
	Host int `json:"host"`
}

// RunChunk is the event “output” of a run on many hosts.
type RunChunk struct {
	Host int `json:"host"`
	Chunk
}

// RunResult is the event “result”: a host has ended; and the event “verified”: so has the check of a rollout on it. Where the Result's command is empty it is the one that was asked for.
type RunResult struct {
	Host int `json:"host"`
	RunEnd
	Taken map[string]int `json:"taken,omitempty" doc:"secrets redacted in the output, by kind"`
}

// RunsEnd is the event “end” of a run on many hosts.
type RunsEnd struct {
	Counts  map[string]int `json:"counts" doc:"of hosts, by status"`
	Rollout *RunReport     `json:"rollout,omitempty" doc:"of a rollout: what happened in each batch, and what stopped it"`
}

// StdinError is the trailer with which a sender of standard input says that it could not be read to its end, and why.
const StdinError = "Fairlead-Stdin-Error"

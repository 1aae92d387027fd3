package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Status says where a command stands.
type Status string

// The statuses. Executed, Failed and Rejected are ends: nothing but [Store.Finalize] and purging follows.
const (
	Pending  Status = "pending"  // waits for an answer
	Approved Status = "approved" // may run, or runs
	Executed Status = "executed" // the host gave an exit code, any
	Failed   Status = "failed"   // timeout, lost, unreachable, error
	Rejected Status = "rejected" // by policy, a person, or expiry: it never ran
)

// Ended reports that it is an end.
func (s Status) Ended() bool { return s == Executed || s == Failed || s == Rejected }

// Outcomes that the store itself gives. Others are those of a Result: "ok", "exit", "signal", "timeout", …
const (
	OutcomeDenied  = "denied"  // a person or policy said no
	OutcomeExpired = "expired" // nobody answered in time, or nobody began it in time
	OutcomeLost    = "lost"    // the keeper that had begun it died: it may or may not have run
)

// Command is the record of one command. Its texts may hold any bytes, and are kept as the caller gave them: redacted.
type Command struct {
	ID        string // "c_…"
	Session   string
	Sandbox   string
	Host      string   // "" where Hosts says where
	Hosts     []string // a fixed list, in the caller's order; nil for one host
	Command   string
	Cwd       string
	AskReason string // why, in the asker's words

	Enforcement string // what holds it in its sandbox, in the caller's words: as it was judged, then as it runs

	Status  Status
	Verdict string // of policy: "allow", "ask", "deny"
	Class   string
	Rule    string
	Reason  string // why the verdict, or why it ended so
	Outcome string // once it has ended

	RequestedBy string
	Token       string // the bearer token that it was requested with; "" for none
	ApprovedBy  string // who said yes
	Proof       string // of who that was

	ExitCode  *int // nil unless the host said so
	Stdout    string
	Stderr    string
	StdoutSum string          // SHA-256 of the whole output in hexadecimal, where it is kept or recorded elsewhere too
	StderrSum string          //
	Exec      json.RawMessage // the Result

	Expires   time.Time // when waiting ends; zero: never
	Created   time.Time
	Updated   time.Time
	ClaimedBy string    // the keeper that has begun it
	Claimed   time.Time // when; zero: not yet
	Ended     time.Time // zero: not yet
	Finalized time.Time // zero: not yet
	Purged    time.Time // when its outputs were taken out; zero: not yet
}

// commandColumns are what scanCommand reads; brief ones leave the outputs out.
const (
	commandColumns = `command_id, session_id, sandbox_id, hosts, fleet, command, cwd, asked_why, enforcement, status, verdict, class, rule, reason, outcome,
		requested_by, approved_by, proof, exit_code, stdout, stderr, stdout_sum, stderr_sum, exec_result, expires_at, created_at, updated_at,
		claimed_by, claimed_at, ended_at, finalized_at, purged_at, token_id`
	briefColumns = `command_id, session_id, sandbox_id, hosts, fleet, command, cwd, asked_why, enforcement, status, verdict, class, rule, reason, outcome,
		requested_by, approved_by, proof, exit_code, '', '', stdout_sum, stderr_sum, NULL, expires_at, created_at, updated_at,
		claimed_by, claimed_at, ended_at, finalized_at, purged_at, token_id`
)

// scanCommand reads a row of commandColumns.
func scanCommand(row scanner) (Command, error) {
	var c Command
	var sandbox sql.NullString
	var exit sql.NullInt64
	var hosts, exec []byte
	var fleet, expires, created, updated, claimed, ended, finalized, purged int64
	err := row.Scan(&c.ID, &c.Session, &sandbox, &hosts, &fleet, &c.Command, &c.Cwd, &c.AskReason, &c.Enforcement, &c.Status, &c.Verdict, &c.Class, &c.Rule, &c.Reason, &c.Outcome,
		&c.RequestedBy, &c.ApprovedBy, &c.Proof, &exit, &c.Stdout, &c.Stderr, &c.StdoutSum, &c.StderrSum, &exec, &expires, &created, &updated,
		&c.ClaimedBy, &claimed, &ended, &finalized, &purged, &c.Token)
	if err != nil {
		return Command{}, err
	}
	words, err := wordsOf(hosts)
	switch {
	case err != nil:
		return Command{}, err
	case fleet != 0:
		c.Hosts = words
	case len(words) == 1:
		c.Host = words[0]
	}
	if exit.Valid {
		code := int(exit.Int64)
		c.ExitCode = &code
	}
	if len(exec) > 0 {
		c.Exec = exec
	}
	c.Sandbox = sandbox.String
	c.Expires, c.Created, c.Updated = timeOf(expires), timeOf(created), timeOf(updated)
	c.Claimed, c.Ended, c.Finalized, c.Purged = timeOf(claimed), timeOf(ended), timeOf(finalized), timeOf(purged)
	return c, nil
}

// command reads a record inside a transaction. With lock it stays as it is until the transaction ends.
func (q query) command(id string, lock bool) (Command, error) {
	text := `SELECT ` + commandColumns + ` FROM commands WHERE command_id = ?`
	if lock {
		text += "@LOCK@"
	}
	c, err := scanCommand(q.row(text, id))
	return c, found(err, "command", id)
}

// state says where a command stands, for errors.
func (c Command) state() string {
	switch {
	case c.Status == Approved && c.ClaimedBy != "":
		return fmt.Sprintf("command %s was begun by keeper %s", c.ID, c.ClaimedBy)
	case c.Outcome != "":
		return fmt.Sprintf("command %s is %s (%s)", c.ID, c.Status, c.Outcome)
	}
	return fmt.Sprintf("command %s is %s", c.ID, c.Status)
}

// overdue reports that its time to wait or to begin is over.
func (c Command) overdue(now int64) bool {
	return !c.Expires.IsZero() && c.Expires.UnixMicro() <= now
}

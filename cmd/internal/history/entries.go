package history

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/doctor"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// command is one that was run, on one host or more.
type command struct {
	Number  uint64    `json:"number"` // of its first entry
	Time    time.Time `json:"time"`
	Status  string    `json:"status,omitempty"` // how it ended, where that is the same on all hosts; else "mixed"
	Hosts   []string  `json:"hosts"`
	Command string    `json:"command"` // redacted; of the first host
	Run     string    `json:"run,omitempty"`

	differs bool // hosts got commands of their own
	targets []*target
	last    map[string]*target // by the host's name
	held    bool               // the kernel held it to reading, so it may have changed nothing
	unkept  string             // what it had besides its text, and again would not have; "" is nothing
}

// target is a host that got the command.
type target struct {
	host, tier, options, become, command string
	endpoint                             // zero where it was not reached
	status                               string
}

// endpoint is as whom and where a host is reached.
type endpoint struct{ user, addr string }

// request is one request of a command and what its result is about.
type request struct {
	c *command
	t *target // nil where a result says nothing about the command itself
}

// opens is the command that opens a session, which the caller did not type.
const opens = ":"

// untyped are commands that doctor and hosts send, by the reasons that they give: the caller did not type those either.
var untyped = map[string]string{hostscmd.PingReason: hostscmd.Looks, hostscmd.HeldReason: hostscmd.Looks, doctor.Reason: doctor.Looks}

// commands are those of the caller, the oldest first.
func (o *options) commands() (all []*command, err error) {
	dir, err := o.dir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	who := o.caller().Principal
	by, requests := map[string]*command{}, map[string]request{}
	// All is read: a run on many hosts of which only some were seen would run again on those.
	for event, err := range audit.All(dir) {
		if errors.Is(err, audit.ErrUnavailable) {
			return nil, err
		}
		e := &event
		if err != nil || e.Principal != who || e.Kind == audit.CommandRequest && (e.Command == "" || e.Command == opens || e.Command == untyped[e.Reason]) || strings.HasPrefix(e.Rule, "keeper/own") {
			continue
		}
		switch e.Kind {
		case audit.CommandRequest:
			c := by[cmp.Or(e.Group, e.ID)]
			if c == nil {
				c = &command{Number: e.Seq, Time: e.Time, Command: e.Command, Run: e.Group, last: map[string]*target{}}
				by[cmp.Or(e.Group, e.ID)], all = c, append(all, c)
			}
			requests[e.ID] = request{c, c.request(e)}
		case audit.CommandInput:
			if r, ok := requests[e.ID]; ok {
				r.c.unkept = "what was typed at it"
			}
		case audit.CommandResult:
			if r := requests[e.ID]; r.t != nil {
				r.c.result(r.t, e)
			}
			delete(requests, e.ID)
		}
	}
	for _, c := range all {
		c.Status = c.status()
	}
	return all, nil
}

// request adds a request to a command. It returns nil for the check of --verify, which has the same group as the command, and whose
// request may be in the audit log before the result of the command.
func (c *command) request(e *audit.Event) *target {
	if t := c.last[e.Host]; t != nil && t.tier == e.Tier {
		switch {
		case t.command != e.Command:
			return nil
		case t.status == string(session.StatusUnreachable) && t.addr == "":
			return t // --retry
		}
	}
	t := &target{host: e.Host, tier: e.Tier, options: e.SSHOptions, become: e.Become, command: e.Command}
	c.last[e.Host], c.targets, c.Hosts = t, append(c.targets, t), append(c.Hosts, e.Host)
	c.differs = c.differs || c.Command != e.Command
	if e.CWD != "" {
		c.unkept = "the directory and the variables of its session"
	}
	return t
}

func (c *command) result(t *target, e *audit.Event) {
	if e.StdinBytes > 0 {
		c.unkept = "standard input"
	}
	c.held = c.held || strings.HasPrefix(e.Held, "kernel")
	t.status, t.endpoint = e.Status, endpoint{e.SSHUser, e.Address}
}

// status is how it ended on all hosts of which the end is known.
func (c *command) status() (status string) {
	for _, t := range c.targets {
		switch {
		case t.status == "" || t.status == status:
		case status != "":
			return "mixed"
		default:
			status = t.status
		}
	}
	return status
}

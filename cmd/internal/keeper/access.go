package keeper

import (
	"context"
)

// Role is what a caller may do. Nobody both runs and approves with one token.
type Role string

// The roles. A caller on the socket is the account itself, and has the role Owner unless it acts for an agent. No token has
// that, nor Page.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Approver Role = "approver"
	Admin    Role = "admin"
	Agent    Role = "agent"
	Owner    Role = "owner"
	Page     Role = "page" // the account at its web page: it watches, answers and sits at terminals
)

// need is what a route takes.
type need string

const (
	needNothing need = ""        // nobody in particular
	needSee     need = "see"     // hosts, and what is one's own
	needRun     need = "run"     // sessions and commands of one's own
	needType    need = "type"    // full terminals
	needWatch   need = "watch"   // what others do: asks, events
	needAudit   need = "audit"   // the record
	needApprove need = "approve" // answer others' asks
	needPlace   need = "place"   // make and change sandboxes
	needReply   need = "reply"   // answer what connecting wants to know for requests of one's own
	needManage  need = "manage"  // tokens
	needOwn     need = "own"     // the keeper itself
)

// allowed is which role may do what.
var allowed = map[Role][]need{
	Viewer:   {needNothing, needSee, needWatch, needAudit},
	Operator: {needNothing, needSee, needRun, needType, needWatch, needAudit, needPlace, needReply},
	Approver: {needNothing, needSee, needWatch, needAudit, needApprove},
	Admin:    {needNothing, needSee, needWatch, needAudit, needPlace, needManage},
	Agent:    {needNothing, needSee, needRun},
	Owner:    {needNothing, needSee, needRun, needType, needWatch, needAudit, needApprove, needPlace, needManage, needOwn, needReply},
	Page:     {needNothing, needSee, needType, needWatch, needAudit, needApprove, needReply},
}

// personal is what a process tree that may not approve may not do either: it could give itself what it lacks. Every route
// with such a need is refused to the program that hosts an agent, and to what has left it (see approval.Trees.Admit).
var personal = map[need]bool{needApprove: true, needPlace: true, needManage: true, needOwn: true, needReply: true}

func (r Role) may(n need) bool {
	for _, a := range allowed[r] {
		if a == n {
			return true
		}
	}
	return false
}

// caller is who asks, and for whom.
type caller struct {
	principal string // who it acts as: "operator/ada", "agent/claude"
	role      Role
	inventory string // absolute path, or ""
	authSock  string
	ssh       string   // how hosts are reached, a sshopt.Set; "" is as ever
	bucket    string   // of the token's rate; "" on the socket
	account   *account // nil where none of this machine asks
	pid       int      // the process behind the socket; 0 elsewhere, and where it cannot be seen

	// use returns what a request lives in, which ends with the right to make it; leave says that the request is over. It is nil
	// where such a right ends with the keeper alone.
	use func(ctx context.Context) (_ context.Context, leave func())
}

// where is what names of hosts in a request are relative to.
func (c *caller) where() string {
	if c.ssh == "" {
		return c.inventory
	}
	return c.inventory + "\x00" + c.ssh
}

type callerKey struct{}

func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// own reports whether a caller is the account itself.
func own(c *caller) bool { return c.bucket == "" && c.role == Owner }

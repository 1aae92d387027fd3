package access

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

// Need is what a route takes.
type Need string

const (
	NeedNothing Need = ""        // nobody in particular
	NeedSee     Need = "see"     // hosts, and what is one's own
	NeedRun     Need = "run"     // sessions and commands of one's own
	NeedType    Need = "type"    // full terminals
	NeedWatch   Need = "watch"   // what others do: asks, events
	NeedAudit   Need = "audit"   // the record
	NeedApprove Need = "approve" // answer others' asks
	NeedPlace   Need = "place"   // make and change sandboxes
	NeedReply   Need = "reply"   // answer what connecting wants to know for requests of one's own
	NeedManage  Need = "manage"  // tokens
	NeedOwn     Need = "own"     // the keeper itself
)

// allowed is which role may do what.
var allowed = map[Role][]Need{
	Viewer:   {NeedNothing, NeedSee, NeedWatch, NeedAudit},
	Operator: {NeedNothing, NeedSee, NeedRun, NeedType, NeedWatch, NeedAudit, NeedPlace, NeedReply},
	Approver: {NeedNothing, NeedSee, NeedWatch, NeedAudit, NeedApprove},
	Admin:    {NeedNothing, NeedSee, NeedWatch, NeedAudit, NeedPlace, NeedManage},
	Agent:    {NeedNothing, NeedSee, NeedRun},
	Owner:    {NeedNothing, NeedSee, NeedRun, NeedType, NeedWatch, NeedAudit, NeedApprove, NeedPlace, NeedManage, NeedOwn, NeedReply},
	Page:     {NeedNothing, NeedSee, NeedType, NeedWatch, NeedAudit, NeedApprove, NeedReply},
}

// Personal is what a process tree that may not approve may not do either: it could give itself what it lacks. Every route
// with such a need is refused to the program that hosts an agent, and to what has left it (see approval.Trees.Admit).
var Personal = map[Need]bool{NeedApprove: true, NeedPlace: true, NeedManage: true, NeedOwn: true, NeedReply: true}

func (r Role) May(n Need) bool {
	for _, a := range allowed[r] {
		if a == n {
			return true
		}
	}
	return false
}

// Caller is who asks, and for whom.
type Caller struct {
	Principal string // who it acts as: "operator/ada", "agent/claude"
	Role      Role
	Inventory string // absolute path, or ""
	AuthSock  string
	Ssh       string   // how hosts are reached, a sshopt.Set; "" is as ever
	Env       string   // what its variables say about that, a sshopt.Environment; "" is nothing
	Bucket    string   // of the token's rate; "" on the socket
	Token     string   // the bearer token's id; "" where there is none
	Account   *account // nil where none of this machine asks
	Pid       int      // the process behind the socket; 0 elsewhere, and where it cannot be seen

	// use returns what a request lives in, which ends with the right to make it; leave says that the request is over. It is nil
	// where such a right ends with the keeper alone.
	Use func(ctx context.Context) (_ context.Context, leave func())
}

// Where is what names of hosts in a request are relative to.
func (c *Caller) Where() string {
	if c.Ssh == "" {
		return c.Inventory
	}
	return c.Inventory + "\x00" + c.Ssh
}

type CallerKey struct{}

func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(CallerKey{}).(*Caller)
	return c
}

// Own reports whether a caller is the account itself.
func Own(c *Caller) bool { return c.Bucket == "" && c.Role == Owner }

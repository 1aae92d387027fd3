package keeper

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
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

var agentName = lazyregexp.New(`^agent/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// local is who asks over the socket: the account, or an agent that it names. What runs in a session of ours is neither,
// whatever its account: see approval.Trees.Inside for what is recognised, and what cannot be.
func (k *Keeper) local(r *http.Request) (*caller, *wire.Problem) {
	if err := insideOf(r.Context()); err != nil {
		return nil, problem(http.StatusForbidden, "forbidden", "%s", cmdutil.Text(err))
	}
	c := &caller{principal: k.cfg.Principal, role: Owner, inventory: k.cfg.Inventory, account: k.sink.own, pid: pidOf(r.Context())}
	if as := r.Header.Values(wire.Principal); len(as) > 0 {
		if len(as) > 1 || !agentName.MatchString(as[0]) {
			return nil, problem(http.StatusForbidden, "forbidden", "%s can only name an agent (agent/NAME)", wire.Principal)
		}
		c.principal, c.role = as[0], Agent
	}
	if inv := r.Header.Get(wire.Inventory); inv != "" {
		if !filepath.IsAbs(inv) || len(inv) > 4096 {
			return nil, problem(http.StatusBadRequest, "invalid", "%s is an absolute path", wire.Inventory)
		}
		c.inventory = filepath.Clean(inv)
	}
	if sock := r.Header.Get(wire.AuthSock); sock != "" {
		if !filepath.IsAbs(sock) || len(sock) > 4096 {
			return nil, problem(http.StatusBadRequest, "invalid", "%s is an absolute path", wire.AuthSock)
		}
		c.authSock = sock
	}
	if word := r.Header.Get(wire.SSHOptions); word != "" {
		if strings.HasPrefix(r.URL.Path, "/agent/") || r.URL.Path == "/mcp" || r.URL.Path == "/v1/mcp" {
			return nil, problem(http.StatusBadRequest, "invalid", "%s is not for %s", wire.SSHOptions, r.URL.Path)
		}
		ssh, err := sshopt.Parse(word)
		if err != nil {
			return nil, problem(http.StatusBadRequest, "invalid", "%s: %v", wire.SSHOptions, err)
		}
		if err := ssh.MayNot(c.principal); err != nil {
			return nil, problem(http.StatusForbidden, "denied", "%v", err)
		}
		c.ssh = word
	}
	k.sink.saw(c)
	return c, nil
}

// naming is which names in Host and Origin a listener takes. Browsers tell in both from which site a page is.
type naming struct {
	host   func(host string) bool
	origin func(host string) bool // besides being that of Host
}

// socketNames are those of the sockets, which no browser reaches: Host may be anything there, as curl --unix-socket takes
// any, and only Origin is looked at.
var socketNames = naming{host: func(string) bool { return true }, origin: localName}

// names takes the same names in Host and in Origin.
func names(ok func(host string) bool) naming { return naming{ok, ok} }

// foreign reports whether a request can come from a page of another site.
func (n naming) foreign(r *http.Request) bool {
	if !n.host(r.Host) || r.URL.Host != "" && !n.origin(r.URL.Host) { // the latter is asked of a proxy
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "cross-site"
	}
	_, at, ok := strings.Cut(origin, "://")
	return !ok || at != r.Host || !n.origin(at)
}

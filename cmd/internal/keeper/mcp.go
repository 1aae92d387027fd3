package keeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// defaultAgent is who a caller on the socket acts as that names no agent.
const defaultAgent = "agent/mcp"

// mcpPath is where agents are served over HTTP.
const mcpPath = "/mcp"

// addMCP adds the two ways in which agents are served: a connection that turns into a stream of messages, for "fairlead
// mcp", and streamable HTTP.
func (k *Keeper) addMCP(a *route.API, mux *http.ServeMux) {
	mux.Handle("GET /v1/pipes", a.Guard(access.NeedRun, http.HandlerFunc(k.servePipe)))
	mux.Handle("GET /v1/mcp", a.Guard(access.NeedRun, http.HandlerFunc(k.mcpStream)))
	mux.Handle(mcpPath, a.Guard(access.NeedRun, http.HandlerFunc(k.mcpHTTP)))
}

// agentOf is the caller as an agent. People run commands in other ways.
func agentOf(c *access.Caller) (*access.Caller, *wire.Problem) {
	switch {
	case c.Role == access.Agent:
		return c, nil
	case c.Role != access.Owner:
		return nil, problem.New(http.StatusForbidden, "forbidden", "%s (%s) is not an agent, and the protocol is for agents: make a token for agent/NAME", c.Principal, c.Role)
	}
	as := *c
	as.Principal, as.Role = defaultAgent, access.Agent
	return &as, nil
}

// agents serves those of a realm over streamable HTTP.
func (k *Keeper) agents(r *realm.Realm) (http.Handler, error) {
	s, err := k.mcpServer(r, nil, nil)
	if err != nil {
		return nil, err
	}
	return s.HTTP(), nil
}

// mcpServer returns a server for the agent of a realm. Its calls are those of c; over HTTP, where there is no c, they log in
// through the agent's socket that the request names.
func (k *Keeper) mcpServer(r *realm.Realm, c *access.Caller, elicit *mcpserver.Elicitor) (*mcpserver.Server, error) {
	principal := r.Key.Principal
	limits := func() rules.Limits {
		engine, err := k.policy.Last()
		if err != nil {
			return rules.Limits{} // nothing was ever admitted
		}
		return engine.Limits(principal)
	}
	return mcpserver.New(mcpserver.Config{
		Registry: r.Reg, Jobs: r.Jobs, Inventory: r.Inv, Principal: principal, Policy: r.Judge, Limits: limits,
		LeastProof: func(req policy.Request) policy.Proof {
			engine, err := k.policy.Current()
			if err != nil {
				return policy.Touch // what it says is not known
			}
			return engine.LeastProof(req)
		},
		Admit: func(now time.Time) error {
			engine, err := k.policy.Current()
			if err != nil {
				return err
			}
			return engine.Admit(principal, now)
		},
		AnyEnv: func(h hosts.Host) bool {
			engine, err := k.policy.Current()
			return err == nil && engine.Allows(principal, h, policy.Unknown)
		},
		Asks: true, Approver: k.approver(), ApprovalTimeout: k.cfg.ApprovalTimeout, Way: r.Conn.Way, Elicit: elicit,
		State: func(h hosts.Host) (string, error) { return r.State(h.Name), nil },
		Sandbox: func(ctx context.Context, h hosts.Host, name, cwd string) (registry.Place, error) {
			p, err := k.boxes.Box(ctx, r, h, name, cwd)
			return p, untold(h, err)
		},
		Context: func(ctx context.Context, header http.Header) context.Context {
			if c == nil {
				return connect.WithAuthSock(ctx, header.Get(wire.AuthSock)) // which mcpHTTP has set
			}
			return connect.WithAuthSock(context.WithValue(ctx, access.CallerKey{}, c), c.AuthSock)
		},
		Exchange: k.cfg.Exchange, HostChecked: true, Version: k.cfg.Version,
	})
}

// approver is who is asked in all sessions: the desk, and the client whose call asks where that was switched on.
// untold makes of a problem, which is for callers over HTTP, an error of a session on h.
func untold(h hosts.Host, err error) error {
	var p *wire.Problem
	if !errors.As(err, &p) {
		return err
	}
	return &session.Error{Op: "open", Host: h.Name, Code: p.Code, Retriable: p.Retriable, Exec: p.Exec, Err: errors.New(p.Detail)}
}

func (k *Keeper) approver() policy.Approver { return mcpserver.Asking{Else: approver{k}} }

// mcpStream serves one agent on the connection of the request. When the agent is gone, what it has begun ends.
func (k *Keeper) mcpStream(w http.ResponseWriter, req *http.Request) {
	c, p := agentOf(access.CallerOf(req.Context()))
	elicits := req.Header.Get(wire.Elicit) != ""
	switch {
	case p != nil:
	case !strings.EqualFold(req.Header.Get("Upgrade"), wire.UpgradeMCP):
		w.Header().Set("Upgrade", wire.UpgradeMCP)
		p = problem.New(http.StatusUpgradeRequired, "invalid", "this takes the header Upgrade: %s; over HTTP agents are served at /mcp", wire.UpgradeMCP)
	case elicits && c.Account != k.sink.Own:
		p = problem.New(http.StatusForbidden, "forbidden", "--elicit needs a client that the operator started, which the keeper cannot verify here")
	}
	if p != nil {
		k.refuse(w, "mcp", p)
		return
	}
	leave, err := k.stay()
	if err != nil {
		k.refuse(w, "ending", problem.Of(err))
		return
	}
	defer leave()
	r, done, err := k.realms.Of(c)
	if err != nil {
		k.refuse(w, "mcp", problem.Of(err))
		return
	}
	defer done()
	var elicit *mcpserver.Elicitor
	if elicits {
		elicit = mcpserver.NewElicitor(k.desk, c.Principal)
	}
	s, err := k.mcpServer(r, c, elicit)
	if err != nil {
		k.refuse(w, "mcp", problem.Of(err))
		return
	}
	conn, in, err := hijack(w)
	if err != nil {
		k.log.Printf("an agent's connection: %v", err)
		return
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(k.base)
	defer cancel()
	defer context.AfterFunc(req.Context(), cancel)() // the right to it may end
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer k.trees.Host(c.Pid)()
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", wire.UpgradeMCP); err != nil {
		return
	}
	if err := s.Serve(ctx, in, conn, s.Leave); err != nil && ctx.Err() == nil {
		k.log.Printf("%s: %v", c.Principal, err)
	}
}

// hijack takes the connection of a request over, without the deadlines of requests. What has been read of it already comes
// first.
func hijack(w http.ResponseWriter) (net.Conn, io.Reader, error) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		conn.Close()
		return nil, nil, err
	}
	first, err := both.Reader.Peek(both.Reader.Buffered())
	if err != nil && len(first) == 0 {
		conn.Close()
		return nil, nil, err
	}
	return conn, bufio.NewReaderSize(io.MultiReader(strings.NewReader(string(first)), conn), 64<<10), nil
}

// mcpHTTP serves agents over streamable HTTP. Those of one principal share their sessions, which stay when a client goes.
func (k *Keeper) mcpHTTP(w http.ResponseWriter, req *http.Request) {
	c, p := agentOf(access.CallerOf(req.Context()))
	if p != nil {
		k.refuse(w, "mcp", p)
		return
	}
	r, done, err := k.realms.Of(c)
	if err != nil {
		k.refuse(w, "mcp", problem.Of(err))
		return
	}
	defer done()
	h, err := r.MCP()
	if err != nil {
		k.refuse(w, "mcp", problem.Of(err))
		return
	}
	if c.Pid != 0 {
		k.trees.Asked(c.Pid)
	}
	req.Header.Set(wire.AuthSock, c.AuthSock) // what a caller says does not count everywhere
	h.ServeHTTP(&patient{ResponseWriter: w, rc: http.NewResponseController(w)}, req)
}

// patient gives every write its own time, for answers that are streams.
type patient struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) Write(b []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(time.Now().Add(stream.WriteTime))
	return p.ResponseWriter.Write(b)
}

// FlushError is found by http.ResponseController.
func (p *patient) FlushError() error {
	_ = p.rc.SetWriteDeadline(time.Now().Add(stream.WriteTime))
	return p.rc.Flush()
}

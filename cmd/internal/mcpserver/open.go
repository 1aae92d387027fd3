package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type openArgs struct {
	Host    string            `json:"host"`
	Name    string            `json:"name,omitempty" jsonschema:"use it as session_id"`
	CWD     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Shell   string            `json:"shell,omitempty"`
	Sandbox string            `json:"sandbox,omitempty" jsonschema:"id, label or path of your sandbox"`
	Become  string            `json:"become,omitempty"`
}

func (s *Server) sessionOpen(ctx context.Context, c *call, in openArgs) (*sessionOut, error) {
	out := &sessionOut{}
	h, err := s.hostAs(in.Host, in.Become)
	if err != nil {
		return out, err
	}
	if in.Sandbox != "" && s.cfg.Sandbox == nil {
		return out, &callError{code: "unsupported", err: fmt.Errorf("sandboxes are not supported without a keeper, and nothing was opened: leave sandbox out")}
	}
	env, err := registry.Variables(h.Name, in.Env)
	if err != nil {
		return out, err
	}
	var shaping []string // what needs an approval
	if len(env) > 0 && !s.cfg.AnyEnv(h) {
		env, shaping = registry.Shaping(env)
	}
	sctx, stop := s.starting(ctx)
	defer stop()
	req := registry.OpenRequest{Principal: s.cfg.Principal, Host: h, Name: in.Name, Dir: in.CWD, Env: env, Shell: in.Shell}
	why := ""
	if in.Sandbox != "" {
		p, err := s.cfg.Sandbox(sctx, h, in.Sandbox, in.CWD)
		if err != nil {
			return out, err
		}
		req.Place = &p
		why = p.Why
	}
	e, err := s.cfg.Registry.Open(sctx, req)
	if err != nil {
		return out, err
	}
	s.opened(e)
	dir, _ := s.cfg.Registry.Redact(e.Dir())
	out = &sessionOut{SessionID: e.ID(), Host: h.Name, Shell: e.Shell(), CWD: s.redactor().text(dir), Sandbox: e.Sandbox(), Why: why}
	if len(shaping) == 0 {
		return out, nil
	}
	return s.export(ctx, c, e, shaping, out)
}

// export has variables set that may change what commands mean, and waits for an answer to who asks for them.
func (s *Server) export(ctx context.Context, c *call, e *registry.Entry, vars []string, out *sessionOut) (*sessionOut, error) {
	names := make([]string, len(vars))
	for i, kv := range vars {
		names[i], _, _ = strings.Cut(kv, "=")
	}
	note := fmt.Sprintf("%s may change what commands mean; without approval only %s may be set",
		printable.Clip(strings.Join(names, ", "), maxCommand), policy.InertNames)
	sctx, stop := s.starting(ctx)
	x, err := e.Export(sctx, vars, "")
	stop()
	if err != nil {
		return &sessionOut{}, err
	}
	s.started(x)
	s.await(ctx, c, x, defaultWait, registry.Wait{}, true)
	got, err := s.show(c, x, output.Budget{}, showing{again: true})
	switch {
	case err != nil:
		return &sessionOut{}, err
	case got.State != "" && got.State != string(session.Done):
		out.State, out.Exec, out.Note, out.Next = got.State, x.ID(), note, got.Next
	case got.Error != nil:
		got.Error.Message += ". No session is open: " + note
		return &sessionOut{Error: got.Error}, nil
	case got.Status != string(session.StatusOK):
		return &sessionOut{}, invalid("no session is open, for its shell did not take the variables: %s", strings.TrimSpace(got.Stderr))
	}
	return out, nil
}

// hostAs finds one host, on which all runs as the account that a call names.
func (s *Server) hostAs(name, user string) (hosts.Host, error) {
	h, err := s.host(name)
	if err != nil {
		return h, err
	}
	hs, err := as([]hosts.Host{h}, user)
	if err != nil {
		return h, err
	}
	return hs[0], nil
}

// host finds one host.
func (s *Server) host(name string) (hosts.Host, error) {
	if h, ok, err := hosts.ParseAdHoc(name); ok || err != nil {
		switch {
		case err != nil:
			return h, invalid("%w", err)
		case !s.cfg.AnyOne:
			return h, &callError{code: "denied", next: "hosts_list shows the hosts", err: fmt.Errorf("%s is not in the inventory, and agents may use no other hosts", h.Name)}
		}
		return h, nil
	}
	inv, err := s.cfg.Inventory()
	if err != nil {
		return hosts.Host{}, &callError{code: "inventory", err: err}
	}
	h, err := inv.Lookup(name)
	if err != nil {
		return h, &callError{code: registry.CodeNotFound, next: "hosts_list shows the hosts", err: err}
	}
	return h, nil
}

type closeArgs struct {
	SessionID string `json:"session_id" jsonschema:"or a run's id"`
	Reset     bool   `json:"reset,omitempty" jsonschema:"new shell, same directory, instead of closing"`
}

func (s *Server) sessionClose(ctx context.Context, _ *call, in closeArgs) (*sessionOut, error) {
	out := &sessionOut{}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil && strings.HasPrefix(in.SessionID, "r_") {
		return s.stopRun(in)
	}
	if err != nil {
		return out, err
	}
	out = &sessionOut{SessionID: e.ID()}
	if in.Reset {
		e.Reset()
		dir, _ := s.cfg.Registry.Redact(e.Dir())
		out.Reset, out.CWD = true, s.redactor().text(dir)
		return out, nil
	}
	for _, p := range e.Leaves(ctx) {
		out.Left = append(out.Left, p.Text())
	}
	e.Close()
	out.Closed = true
	return out, nil
}

// stopRun stops a run on many hosts step by step, and returns once it has ended.
func (s *Server) stopRun(in closeArgs) (*sessionOut, error) {
	f, err := s.cfg.Registry.FleetOf(s.cfg.Principal, in.SessionID)
	switch {
	case err != nil:
		return &sessionOut{}, err
	case in.Reset:
		return &sessionOut{}, invalid("reset is about a session; %s is a run", f.ID())
	}
	f.Stop()
	return &sessionOut{Run: f.ID(), Stopped: true}, nil
}

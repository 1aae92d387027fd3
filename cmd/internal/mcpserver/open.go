package mcpserver

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type openArgs struct {
	Host    string            `json:"host" jsonschema:"a host's name; see hosts_list"`
	Name    string            `json:"name,omitempty" jsonschema:"a name for the session, to use instead of its id"`
	CWD     string            `json:"cwd,omitempty" jsonschema:"directory to start in"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables to set"`
	Shell   string            `json:"shell,omitempty" jsonschema:"instead of the host's; auto is the account's own"`
	Sandbox string            `json:"sandbox,omitempty" jsonschema:"id, label or path of a sandbox of yours, to stay in; cwd may be relative to it"`
}

func (s *Server) sessionOpen(ctx context.Context, _ *call, in openArgs) (*sessionOut, string, error) {
	out := &sessionOut{}
	h, err := s.host(in.Host)
	if err != nil {
		return out, "", err
	}
	if in.Sandbox != "" && s.cfg.Sandbox == nil {
		return out, "", &callError{code: "unsupported", err: fmt.Errorf("there are no sandboxes here, and nothing was opened: leave sandbox out")}
	}
	env, err := s.env(h, in.Env)
	if err != nil {
		return out, "", err
	}
	sctx, stop := s.starting(ctx)
	defer stop()
	req := registry.OpenRequest{Principal: s.cfg.Principal, Host: h, Name: in.Name, Dir: in.CWD, Env: env, Shell: in.Shell}
	said := ""
	if in.Sandbox != "" {
		p, err := s.cfg.Sandbox(sctx, h, in.Sandbox, in.CWD)
		if err != nil {
			return out, "", err
		}
		req.Place = &p
		said = fmt.Sprintf("; its sandbox is enforced by %s: %s", p.Level, p.Why)
	}
	e, err := s.cfg.Registry.Open(sctx, req)
	if err != nil {
		return out, "", err
	}
	s.opened(e)
	dir, _ := s.cfg.Registry.Redact(e.Dir())
	out = &sessionOut{SessionID: e.ID(), Name: e.Name(), Host: h.Name, Shell: e.Shell(), CWD: dir, Sandbox: e.Sandbox()}
	return out, fmt.Sprintf("session %s on %s, in %s%s", e.ID(), h.Name, dir, said), nil
}

// host finds one host.
func (s *Server) host(name string) (hosts.Host, error) {
	if h, ok, err := hosts.ParseAdHoc(name); ok || err != nil {
		switch {
		case err != nil:
			return h, invalid("%w", err)
		case !s.cfg.AnyOne:
			return h, denied("%s is not in the inventory, and an agent may use no other hosts: see hosts_list", h.Name)
		}
		return h, nil
	}
	inv, err := s.cfg.Inventory()
	if err != nil {
		return hosts.Host{}, &callError{code: "inventory", err: err}
	}
	h, err := inv.Lookup(name)
	if err != nil {
		return h, &callError{code: registry.CodeNotFound, err: err}
	}
	return h, nil
}

// env takes the variables that change nothing but how programs present things; others only where anything may run.
func (s *Server) env(h hosts.Host, vars map[string]string) ([]string, error) {
	env, err := registry.Variables(h.Name, vars)
	if err != nil {
		return nil, err
	}
	any := len(vars) > 0 && s.cfg.AnyEnv(h)
	for name := range vars {
		if !any && !policy.Inert(name) {
			return nil, denied("the variable %.80q may change what commands mean: only %s may be set", name, policy.InertNames)
		}
	}
	return env, nil
}

type closeArgs struct {
	SessionID string `json:"session_id" jsonschema:"id or name of a session"`
	Reset     bool   `json:"reset,omitempty" jsonschema:"give it a new shell in the same directory instead of closing it"`
}

func (s *Server) sessionClose(_ context.Context, _ *call, in closeArgs) (*sessionOut, string, error) {
	out := &sessionOut{}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return out, "", err
	}
	out = &sessionOut{SessionID: e.ID(), Name: e.Name(), Host: e.Host().Name, CWD: e.Dir()}
	if in.Reset {
		e.Reset()
		out.Reset = true
		return out, fmt.Sprintf("session %s gets a new shell with its next command", e.ID()), nil
	}
	e.Close()
	out.Closed, out.CWD = true, ""
	return out, fmt.Sprintf("session %s is closed", e.ID()), nil
}

package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// maxHosts is how many hosts are listed at once.
const maxHosts = 200

type hostsArgs struct {
	Selector *string `json:"selector,omitempty" jsonschema:"as targets of run; default all"`
}

func (s *Server) hostsList(_ context.Context, _ *call, in hostsArgs) (*hostsOut, error) {
	out := &hostsOut{}
	selector := "all"
	if in.Selector != nil {
		selector = *in.Selector
	}
	hs, err := s.selectHosts(selector)
	if err != nil {
		return out, err
	}
	out.Count = len(hs)
	if len(hs) > maxHosts {
		out.More = len(hs) - maxHosts
		hs = hs[:maxHosts]
	}
	for _, h := range hs {
		out.Hosts = append(out.Hosts, s.describe(h))
	}
	return out, nil
}

func (s *Server) describe(h hosts.Host) hostOut {
	o := hostOut{Name: h.Name, Groups: h.Groups, Tier: h.TierName(), Transport: string(h.Transport)}
	if o.Transport == "" {
		o.Transport = string(hosts.SSH)
	}
	for k, v := range h.Labels {
		o.Labels = append(o.Labels, k+"="+v)
	}
	slices.Sort(o.Labels)
	if s.cfg.State != nil {
		state, err := s.cfg.State(h)
		o.Connection = state
		if err != nil {
			why, _ := s.redactor()(faultOf(err).Message)
			o.Connection = strings.TrimPrefix(strings.TrimSuffix(state+": "+why, ": "), ": ")
		}
	}
	if o.Connection == "" {
		o.Connection = h.NoLogin
	}
	return o
}

// selectHosts resolves a selector. Lists in files are refused: they would read the controller's.
func (s *Server) selectHosts(text string) ([]hosts.Host, error) {
	if _, ok, _ := hosts.ParseAdHoc(strings.TrimSpace(text)); ok {
		h, err := s.host(strings.TrimSpace(text))
		return []hosts.Host{h}, err
	}
	sel, err := hosts.ParseSelector(text)
	if err != nil {
		return nil, invalid("%w", err)
	}
	inv, err := s.cfg.Inventory()
	if err != nil {
		return nil, &callError{code: "inventory", err: err}
	}
	hs, err := inv.Select(sel)
	if err != nil {
		return nil, &callError{code: "not_found", next: "hosts_list shows the hosts", err: err}
	}
	return hs, nil
}

package history

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// finder finds what to call the hosts of a command, so that they are reached as before.
type finder struct {
	inventory *hosts.Inventory // nil is none
	options   sshopt.Set
	asked     map[string][]string // what the run was asked for, by the host's name; empty where it is not kept
	many      bool                // it was on several hosts
	file      bool                // it may have had -F, which the audit log does not have
	hosts     map[string]int      // how many hosts of a name got the command
	resolve   func(hosts.Host) (endpoint, error)
}

func (o *options) finder(c *command, lines []string) *finder {
	f := &finder{resolve: o.resolve, options: sshopt.Set{Lines: lines}, many: c.Run != "", asked: map[string][]string{}, hosts: map[string]int{}}
	for _, t := range c.targets {
		f.hosts[t.host]++
	}
	if inv, err := o.inventory(); err == nil {
		f.inventory = inv
	}
	for _, rec := range o.kept(c) {
		set, err := sshopt.Parse(rec.SSH)
		f.file = f.file || err != nil || set.File != ""
		for _, h := range rec.Hosts {
			if name := nameOf(h.Name); !slices.Contains(f.asked[name], h.Name) {
				f.asked[name] = append(f.asked[name], h.Name)
			}
		}
	}
	return f
}

// kept are the kept runs that may be of a command. The audit log names the run only where it was on several hosts.
func (o *options) kept(c *command) (recs []*runstore.Record) {
	store, err := o.runs()
	if err != nil {
		return nil
	}
	who := o.caller().Principal
	if c.Run != "" {
		if rec, err := store.Get(who, c.Run); err == nil {
			recs = append(recs, rec)
		}
		return recs
	}
	all, err := store.List(who)
	if err != nil {
		return nil
	}
	for _, rec := range all {
		during := !rec.Started.After(c.Time) && (rec.Finish == nil || !rec.Finish.Ended.Before(c.Time))
		if during && len(rec.Hosts) == 1 && nameOf(rec.Hosts[0].Name) == c.Hosts[0] && rec.Command == c.Command {
			recs = append(recs, rec)
		}
	}
	return recs
}

// nameOf is the name of a host in what a run was asked for.
func nameOf(asked string) string {
	if h, ok, err := targets.ParseUnlisted(asked); ok && err == nil {
		return h.Name
	}
	if h, ok, err := hosts.ParseAdHoc(asked); ok && err == nil {
		return h.Name
	}
	return asked
}

// find is what to call a host.
func (f *finder) find(t *target) (string, error) {
	if asked := f.asked[t.host]; f.many && len(asked) > f.hosts[t.host] {
		return "", fmt.Errorf("its hosts include %s, which the audit log does not tell apart", strings.Join(asked, " and "))
	}
	listed, known := f.listed(t.host)
	switch {
	case t.endpoint == endpoint{}:
		return f.unreached(t, listed, known)
	case known && listed.Transport != hosts.SSH && listed.Transport != "":
		return t.host, nil
	}
	was := fmt.Sprintf("it ran on %s as %s at %s", t.host, t.user, t.addr)
	now := ""
	if known {
		e, err := f.reaches(listed)
		if err == nil && e == t.endpoint {
			return t.host, nil
		}
		now = fmt.Sprintf("the inventory's %s is now reached as %s at %s", t.host, e.user, e.addr)
		if err != nil {
			now = err.Error()
		}
	}
	h, err := unlisted(t)
	if err == nil {
		var e endpoint
		if e, err = f.reaches(h); err == nil && e == t.endpoint {
			return hosts.FormatAdHoc(h), nil
		}
		if err == nil {
			err = fmt.Errorf("%s is now reached as %s at %s", hosts.FormatAdHoc(h), e.user, e.addr)
		}
	}
	if now == "" {
		now = err.Error()
	}
	return "", fmt.Errorf("%s, and %s", was, now)
}

// unreached is find for a host that was not reached, so that the audit log does not have as whom and where it would have run.
func (f *finder) unreached(t *target, listed hosts.Host, known bool) (string, error) {
	asked := f.asked[t.host]
	if len(asked) == 0 && listed.Tier != "" && listed.Tier == t.tier {
		asked = []string{t.host} // a host outside of the inventory has no tier
	}
	if len(asked) == 1 && !f.file && (known || strings.Contains(asked[0], "@")) {
		return asked[0], nil
	}
	return "", fmt.Errorf("%s was not reached, and the audit log does not have its user and port", t.host)
}

func (f *finder) listed(name string) (hosts.Host, bool) {
	if f.inventory == nil {
		return hosts.Host{}, false
	}
	h, err := f.inventory.Lookup(name)
	return h, err == nil
}

// reaches is as whom and where a host is reached with the options of the command.
func (f *finder) reaches(h hosts.Host) (endpoint, error) {
	h, err := f.options.Apply(h)
	if err != nil {
		return endpoint{}, err
	}
	return f.resolve(h)
}

// unlisted is the host of a target as one outside of the inventory.
func unlisted(t *target) (h hosts.Host, err error) {
	_, text, err := net.SplitHostPort(t.addr)
	if err != nil {
		return h, errors.New("the audit log does not have its port")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return h, errors.New("the audit log does not have its port")
	}
	h, ok, err := hosts.ParseAdHoc(hosts.FormatAdHoc(hosts.Host{Name: t.host, User: t.user, Port: uint16(port)}))
	if err == nil && !ok {
		err = fmt.Errorf("%s as %s cannot be given on a command line", t.host, t.user)
	}
	return h, err
}

// resolve is as whom and where a host is reached, as the inventory and ssh_config say. noPrograms is for [hostscmd.LoadSSHConfig].
func resolve(h hosts.Host, noPrograms bool) (endpoint, error) {
	cfg, err := hostscmd.LoadSSHConfig(h.SSHConfig, noPrograms)
	if err != nil {
		return endpoint{}, err
	}
	s, err := cfg.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		return endpoint{}, err
	}
	at := s.HostName.V
	if h.Addr != "" {
		at = h.Addr
	}
	return endpoint{s.User.V, net.JoinHostPort(at, strconv.Itoa(int(s.Port.V)))}, nil
}

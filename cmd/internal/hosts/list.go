package hosts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// ListOptions is everything that "hosts list" needs.
type ListOptions struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)

	Except string
	JSON   bool
	Names  bool // nothing but names

	Selector string // "" means all
}

// NewCmdList builds the command. runF replaces the real work in tests of flags.
func NewCmdList(f *cmdutil.Factory, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{IO: f.IO, Inventory: f.Inventory}
	if runF == nil {
		runF = listRun
	}
	cmd := &cobra.Command{
		Use:   "list [SELECTOR]",
		Short: "List hosts",
		Long: `List the hosts of the inventory, or those that SELECTOR picks.

On a terminal this is a table that fits its width. In a pipe it is one line per host, without a header and separated by
tabs: name, transport, address, tier, groups, labels. What is not set in the inventory is "-"; "hosts show" tells what
will be used. --json says as well from which file and line each host comes, and why one refuses logins.`,
		Example: `  fairlead hosts list
  fairlead hosts list '@web & !tier=prod'
  fairlead hosts list -1 role=db
  fairlead hosts list --json | jq -r .source`,
		Args: cmdutil.Args(0, 1, "at most one SELECTOR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector = strings.Join(args, "")
			if len(args) == 0 {
				o.Selector = "all"
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	cmd.Flags().StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVarP(&o.Names, "names", "1", false, "print names only, one per line")
	return cmd
}

func listRun(_ context.Context, o *ListOptions) error {
	if o.JSON && o.Names {
		return &cmdutil.UsageError{Err: errors.New("--json prints the names as well: leave out --names")}
	}
	r := targets.Resolver{Inventory: o.Inventory, In: o.IO.In}
	hs, err := r.Resolve(o.Selector, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if o.JSON || o.Names {
		return o.lines(hs)
	}
	t := table.New("NAME", "TRANSPORT", "ADDRESS", "TIER", "GROUPS", "LABELS")
	t.Fit = true
	for _, h := range hs {
		t.Add(h.Name, string(kind(h)), dash(address(h)), dash(h.Tier), dash(strings.Join(h.Groups, ",")), dash(strings.Join(labels(h), ",")))
	}
	return t.Print(o.IO)
}

// lines prints names or JSON objects.
func (o *ListOptions) lines(hs []hosts.Host) error {
	out := bufio.NewWriter(o.IO.Out)
	enc := json.NewEncoder(out)
	for _, h := range hs {
		var err error
		if o.Names {
			_, err = out.WriteString(h.Name + "\n")
		} else {
			err = enc.Encode(toJSON(h))
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// hostJSON is a stable format. It says what the inventory says; absent means not set.
type hostJSON struct {
	Name           string            `json:"name"`
	Transport      hosts.Kind        `json:"transport"`
	Addr           string            `json:"addr,omitempty"`
	Port           uint16            `json:"port,omitempty"`
	User           string            `json:"user,omitempty"`
	Via            []string          `json:"via,omitempty"`
	Groups         []string          `json:"groups"`
	Labels         map[string]string `json:"labels"`
	Tier           string            `json:"tier"` // what the host counts as
	Identity       []string          `json:"identity,omitempty"`
	SSHConfig      string            `json:"ssh_config,omitempty"`
	Shell          string            `json:"shell,omitempty"`
	Login          bool              `json:"login,omitempty"`
	Env            []string          `json:"env,omitempty"`
	Command        []string          `json:"command,omitempty"`
	ConnectTimeout string            `json:"connect_timeout,omitempty"`
	Source         string            `json:"source,omitempty"`
	Refused        string            `json:"refused,omitempty"` // why logins are refused
}

func toJSON(h hosts.Host) hostJSON {
	j := hostJSON{
		Name: h.Name, Transport: kind(h), Addr: h.Addr, Port: h.Port, User: h.User, Via: h.Via, Groups: h.Groups,
		Labels: h.Labels, Tier: h.TierName(), Identity: h.Identity, SSHConfig: h.SSHConfig, Shell: h.Shell,
		Login: h.Login, Env: h.Env, Command: h.Command, Refused: h.NoLogin,
	}
	if j.Groups == nil {
		j.Groups = []string{}
	}
	if j.Labels == nil {
		j.Labels = map[string]string{}
	}
	if h.ConnectTimeout > 0 {
		j.ConnectTimeout = h.ConnectTimeout.String()
	}
	if h.Source.File != "" {
		j.Source = h.Source.String()
	}
	return j
}

func kind(h hosts.Host) hosts.Kind {
	if h.Transport == "" {
		return hosts.SSH
	}
	return h.Transport
}

// address is user@addr:port as far as the inventory says.
func address(h hosts.Host) string {
	addr := h.Addr
	if addr == "" && (h.User != "" || h.Port != 0) {
		addr = h.Name
	}
	if h.Port != 0 {
		addr = net.JoinHostPort(addr, strconv.Itoa(int(h.Port)))
	}
	if h.User != "" {
		addr = h.User + "@" + addr
	}
	return addr
}

func labels(h hosts.Host) []string {
	out := make([]string, 0, len(h.Labels))
	for k, v := range h.Labels {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

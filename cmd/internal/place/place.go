// Package place says where commands run, from this process or in the keeper, and makes one of the other where it must: what
// the keeper tells of a command's end becomes a Result like any. Commands that run either way differ in nothing else.
package place

import (
	"context"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Chooser chooses. Mode and Keeper are required.
type Chooser struct {
	Mode     func() (config.KeeperMode, error)
	Keeper   func(context.Context) (*client.Client, error) // nil where one is done without
	Terminal func() (cmdutil.Terminal, error)              // nil means that nobody can be asked
	Asked    func() bool                                   // whether the person was asked already; nil is no

	// Environment says in one word what the caller's variables say about how hosts are reached; nil is nothing.
	Environment func([]hosts.Host) (string, error)
}

// NewChooser returns a factory's.
func NewChooser(f *cmdutil.Factory) Chooser {
	return Chooser{f.KeeperMode, f.Keeper, f.Terminal, f.Asked, f.Environment}
}

// For returns the keeper to use for hs, which the caller closes, or nil where they are reached from here. All of them go one
// way, since many hosts are one request. An error is a usage error where no keeper can do what it is required for.
func (c Chooser) For(ctx context.Context, hs []hosts.Host) (*client.Client, error) {
	mode, err := c.Mode()
	if err != nil || mode == config.Off {
		return nil, err
	}
	for _, h := range hs {
		file := Relative(h)
		switch {
		case file == "" && (mode == config.Require || far(h)):
		case mode == config.Require:
			return nil, Elsewhere(h, file)
		default:
			return nil, nil
		}
	}
	env, err := c.environment(hs)
	switch {
	case err == nil:
	case mode == config.Require:
		return nil, &cmdutil.UsageError{Err: err}
	default:
		return nil, nil
	}
	keeper, err := c.Keeper(ctx)
	if keeper == nil || env == "" {
		return keeper, err
	}
	return keeper.With(env), err
}

func (c Chooser) environment(hs []hosts.Host) (string, error) {
	if c.Environment == nil {
		return "", nil
	}
	return c.Environment(hs)
}

// With returns a keeper's client for calls about h.
func (c Chooser) With(keeper *client.Client, h hosts.Host) (*client.Client, error) {
	env, err := c.environment([]hosts.Host{h})
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return keeper.With(env), nil
}

// far reports whether a host has a connection that is worth keeping. What has none needs nobody to keep it, and has the
// environment of whoever starts it.
func far(h hosts.Host) bool {
	return h.Transport == hosts.SSH || h.Transport == "" || h.Transport == hosts.Demo
}

// Relative is a file that the host names by the directory where the caller is, which is not the keeper's; "" is none.
func Relative(h hosts.Host) string {
	for _, file := range append([]string{h.SSHConfig}, h.Identity...) {
		if file != "" && file != "none" && !strings.ContainsAny(file[:1], "/~%$") {
			return file
		}
	}
	return ""
}

// Elsewhere says that a keeper cannot use such a file.
func Elsewhere(h hosts.Host, file string) error {
	return cmdutil.Usagef("%s names %s by the directory that you are in, and the keeper is in another: write the whole path, or ~/", h.Name, file)
}

// Locked reports whether a person at the terminal may help where the keeper, which has none, could not log in: nothing was
// sent, and the host may be tried again from here.
func (c Chooser) Locked(r session.Result) bool {
	if r.Status != session.StatusAuth || c.Terminal == nil || !c.Auto() || c.Asked != nil && c.Asked() {
		return false
	}
	tty, err := c.Terminal()
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Auto reports whether the keeper is used where that is of use, and done without else.
func (c Chooser) Auto() bool {
	mode, err := c.Mode()
	return err == nil && mode == config.Auto
}

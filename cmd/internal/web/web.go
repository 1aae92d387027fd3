// Package web implements "fairlead web".
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Options is everything the command needs: dependencies, then flags.
type Options struct {
	IO         *iostreams.IOStreams
	KeeperMode func() (config.KeeperMode, error)
	Keepers    cmdutil.Keepers
	Places     func() (listen.Places, error)
	Getenv     func(string) string
	Browser    func(file string) error // shows a file to the person; nil where there is no screen

	NoOpen bool
	JSON   bool
}

const long = `Open the keeper's web UI in a browser: pending approvals with their exact bytes, live sessions and terminals, recordings,
and a search through the audit log.

The keeper serves it on a free port of 127.0.0.1. The printed link lets one browser in, once, within two minutes. That
browser stays signed in for twelve hours, or until an hour after the last page was closed. The web UI has the rights of
this account, except that it runs commands in terminals only and does not manage tokens, sandboxes or the keeper. Agents
get no link.

Fairlead opens the link if the machine has a screen. If you work on it from another machine, forward the port first:
ssh -L PORT:127.0.0.1:PORT.`

const example = `  fairlead web
  fairlead web --no-open`

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, KeeperMode: f.KeeperMode, Keepers: f.Keepers, Getenv: f.Getenv, Browser: browser(f.Getenv),
		Places: func() (listen.Places, error) { return listen.FindPlaces(f.Getenv) },
	}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use: "web", Short: "Open the web UI in a browser", Long: long, Example: example,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.NoOpen, "no-open", false, "only print the link")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the link, and when it ends, as a JSON object; open nothing")
	return f.ForPeople(cmd, "open the web UI")
}

func run(ctx context.Context, o *Options) error {
	mode, err := o.KeeperMode()
	switch {
	case err != nil:
		return err
	case mode == config.Off:
		return cmdutil.Usagef("the page is the keeper's, and the keeper is off: leave --keeper off out, or say --keeper auto where %s or config.yaml switches it off", cmdutil.KeeperVariable)
	}
	c, err := o.Keepers.Start(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return cmdutil.Wrap("the web UI needs the keeper", err)
	}
	defer c.Close()
	l, err := c.Web(ctx)
	var p *wire.Problem
	switch {
	case errors.As(err, &p) && p.Code == "forbidden":
		fmt.Fprintf(o.IO.Err, "fairlead: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
		return cmdutil.Exit(exitcode.Denied)
	case err != nil:
		return err
	case o.JSON:
		return json.NewEncoder(o.IO.Out).Encode(l)
	}
	if _, err := fmt.Fprintln(o.IO.Out, l.URL); err != nil {
		return err
	}
	return o.open(l)
}

// open shows the page where somebody looks.
func (o *Options) open(l wire.Link) error {
	if o.NoOpen || !o.IO.OutTTY {
		return nil
	}
	if o.Browser == nil {
		o.hint(l)
		return nil
	}
	file, err := o.leave(l)
	if err == nil {
		err = o.Browser(file)
	}
	if err != nil {
		fmt.Fprintf(o.IO.Err, "fairlead: no browser could be opened (%v): open the link yourself\n", err)
	}
	return nil
}

func (o *Options) hint(l wire.Link) {
	if u, err := url.Parse(l.URL); err == nil && o.Getenv("SSH_CONNECTION") != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: from the machine you sit at: ssh -L %s:%s, and open the link there\n", u.Port(), u.Host)
		return
	}
	fmt.Fprintln(o.IO.Err, "fairlead: no browser can be opened here: open the link in a browser on this machine")
}

// leave writes a page that leads to the link: on a command line every account of the machine could read the code.
func (o *Options) leave(l wire.Link) (file string, err error) {
	places, err := o.Places()
	if err != nil {
		return "", err
	}
	file = filepath.Join(filepath.Dir(places.Socket), "web.html")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "<!doctype html><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0; url=%s\">\n", l.URL)
	return file, errors.Join(err, f.Close())
}

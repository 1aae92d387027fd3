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

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Options is everything the command needs: dependencies, then flags.
type Options struct {
	IO         *iostreams.IOStreams
	KeeperMode func() (config.KeeperMode, error)
	Keepers    cmdutil.Keepers
	Places     func() (keeper.Places, error)
	Getenv     func(string) string
	Browser    func(file string) error // shows a file to the person; nil where there is no screen

	NoOpen bool
	JSON   bool
}

const long = `Open the keeper's page in a browser: what waits for a yes, with its exact bytes; sessions as they go on, as terminals;
recordings; and a search through the record.

The keeper serves it on a port of 127.0.0.1 that it picks. The link lets one browser in, once, within two minutes; that
browser stays in for twelve hours, or an hour after the page was closed. The page can do what this account can, but for
running commands other than in a terminal, and but for tokens, sandboxes and the keeper itself. Agents get no link.

The link is printed, and opened where there is a screen. On a machine that you sit at from afar, forward the port that
the link names: ssh -L PORT:127.0.0.1:PORT.`

const example = `  fairlead web
  fairlead web --no-open`

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, KeeperMode: f.KeeperMode, Keepers: f.Keepers, Getenv: f.Getenv, Browser: browser(f.Getenv),
		Places: func() (keeper.Places, error) { return keeper.FindPlaces(f.Getenv) },
	}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use: "web", Short: "Open the keeper's page in a browser", Long: long, Example: example,
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
		return fmt.Errorf("the page is the keeper's, and there is none: %w", err)
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
	fmt.Fprintln(o.IO.Err, "fairlead: there is no screen here: open the link in a browser on this machine")
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

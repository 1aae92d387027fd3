package run

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/template"
)

// fillOptions are about what differs between hosts in the command: {host}, {addr}, {n} and {label.KEY}.
type fillOptions struct {
	NoTemplate bool

	after []string               // what stands after --, of a command in which places are filled in; nil else
	each  map[targets.Key]string // the command of each host, where they differ; nil else
}

func (o *fillOptions) flags(fl *pflag.FlagSet) {
	fl.BoolVar(&o.NoTemplate, "no-template", false, "send {host}, {addr}, {n} and {label.KEY} as they stand")
}

// places checks where there are places to fill in, and where there cannot be.
func (o *Options) places() error {
	around := append([]string{o.CWD}, o.Env...)
	switch {
	case o.NoTemplate:
		o.after = nil
	case template.Has(o.Verify):
		return cmdutil.Usagef("--verify is the same on all hosts, and it has a place such as {host}: --no-template sends it as it stands")
	case o.ScriptFile != "" && template.Has(around...):
		return cmdutil.Usagef("--cwd and --env are the same on all hosts for --script, and they have a place such as {host}: --no-template sends it as it stands")
	case !template.Has(append(around, o.after...)...):
		o.after = nil
	case !utf8.ValidString(strings.Join(append(around, o.after...), "")):
		return cmdutil.Usagef("the command is not UTF-8 and has a place such as {host}: --no-template sends it as it stands")
	}
	return nil
}

// fill makes the command of each host.
func (o *Options) fill(hs []hosts.Host) error {
	if o.after == nil {
		return nil
	}
	t := template.Words(o.after)
	if len(o.after) == 1 {
		t = template.Source(o.after[0])
	}
	o.each = make(map[targets.Key]string, len(hs))
	for i, h := range hs {
		text, err := o.filled(t, h, i+1)
		if err != nil {
			return cmdutil.Usagef("%w (--no-template sends the places of a command as they stand)", err)
		}
		o.each[targets.KeyOf(h)] = text
	}
	return nil
}

func (o *Options) filled(t template.Template, h hosts.Host, n int) (string, error) {
	text, err := t.Render(h, n)
	if err != nil {
		return "", err
	}
	cmd := session.Command{Script: text}
	if cmd.Dir, err = template.Exact(o.CWD, h, n); err != nil {
		return "", err
	}
	for _, kv := range o.Env {
		if kv, err = template.Exact(kv, h, n); err != nil {
			return "", err
		}
		cmd.Env = append(cmd.Env, kv)
	}
	return cmd.Text()
}

// scripts is what gives the command of each host; nil where all get the same.
func (o *Options) scripts() func(hosts.Host) string {
	if o.each == nil {
		return nil
	}
	return func(h hosts.Host) string { return o.each[targets.KeyOf(h)] }
}

// scriptOn is the command of a host.
func (o *Options) scriptOn(h hosts.Host) string {
	if o.each == nil {
		return o.Script
	}
	return o.each[targets.KeyOf(h)]
}

package jobs

import (
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/template"
)

// fill makes the command of each host: {host}, {addr}, {n} and {label.KEY} are filled in, and on several hosts --cwd becomes a
// part of it.
func (o *Options) fill(hs []hosts.Host) (err error) {
	filled := !o.NoTemplate && template.Has(append([]string{o.CWD}, o.after...)...)
	if len(hs) == 1 {
		if filled {
			o.Script, o.CWD, err = o.filled(hs[0], 1)
		}
		return err
	}
	if !filled {
		o.Script, err = surrounded(o.Script, o.CWD)
		return err
	}
	o.each = make(map[targets.Key]string, len(hs))
	for i, h := range hs {
		text, dir, err := o.filled(h, i+1)
		if err != nil {
			return err
		}
		if o.each[targets.KeyOf(h)], err = surrounded(text, dir); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) filled(h hosts.Host, n int) (text, dir string, err error) {
	t := template.Words(o.after)
	if len(o.after) == 1 {
		t = template.Source(o.after[0])
	}
	if text, err = t.Render(h, n); err == nil {
		dir, err = template.Exact(o.CWD, h, n)
	}
	if err != nil {
		err = cmdutil.Usagef("%w (--no-template sends the places of a command as they stand)", err)
	}
	return text, dir, err
}

// surrounded is a command that runs in a directory.
func surrounded(script, dir string) (string, error) {
	text, err := session.Command{Script: script, Dir: dir}.Text()
	if err != nil {
		return "", &cmdutil.UsageError{Err: err}
	}
	return text, nil
}

// scripts is what gives the command of each host; nil where all get the same.
func (o *Options) scripts() func(hosts.Host) string {
	if o.each == nil {
		return nil
	}
	return func(h hosts.Host) string { return o.each[targets.KeyOf(h)] }
}

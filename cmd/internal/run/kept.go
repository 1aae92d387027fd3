package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// maxCommands bounds what is kept of a run whose hosts got commands of their own.
const maxCommands = 8 << 20

// keepRun begins to keep the run; nil where that cannot be, which is reported: the audit log has it all the same.
func (o *Options) keepRun(id string, hs []hosts.Host, steps *place.Steps, secrets *redact.Set) *runstore.Writer {
	if o.Runs == nil {
		return nil
	}
	rec := runstore.Run{
		ID: id, Principal: o.Caller().Principal, Started: time.Now(), PID: os.Getpid(), Targets: o.Targets, Shell: o.shell, Stdin: o.Stdin != stdinNone,
		Held: o.Held, Become: o.Become, SSH: o.reached(),
	}
	rec.Command = cmdutil.Redactor(secrets)(o.Script)
	rec.Exact = rec.Command == o.Script && utf8.ValidString(o.Script)
	if len(rec.Command) > runstore.MaxCommand {
		rec.Command, rec.Exact = "", false
	}
	rec.Exact = rec.Exact && cmdutil.Redactor(secrets)(o.Verify) == o.Verify && len(o.Verify) <= runstore.MaxCommand
	if rec.Exact {
		rec.Words, rec.Verify = o.Words, o.Verify
	}
	if steps != nil {
		rec.Rollout = steps.Request(hs)
		rec.Rollout.Verify = "" // which may hold a secret
	}
	if o.Timeout > 0 {
		rec.Timeout = o.Timeout.String()
	}
	if o.Idle > 0 {
		rec.Idle = o.Idle.String()
	}
	left := maxCommands
	for i, label := range targets.Labels(hs) {
		h := runstore.Host{Name: targets.Asked(hs[i])}
		if label != h.Name {
			h.Label = label
		}
		if text := o.each[targets.KeyOf(hs[i])]; text != "" {
			h.Command = cmdutil.Redactor(secrets)(text)
			left -= len(h.Command)
			rec.Exact = rec.Exact && h.Command == text && left >= 0
		}
		rec.Hosts = append(rec.Hosts, h)
	}
	if !rec.Exact { // it cannot be run again, so nothing needs them
		for i := range rec.Hosts {
			rec.Hosts[i].Command = ""
		}
	}
	store, err := o.Runs()
	if err != nil {
		return nil // there is no place for anything, which the audit log reports
	}
	w, err := store.Begin(rec)
	if err != nil {
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			err = reason.File(file.Path, err)
		}
		fmt.Fprintf(o.IO.Err, "fairlead: warning: the run is not kept, and fairlead runs does not show it: %s\n", cmdutil.Why(err))
		return nil
	}
	return w
}

// endRun ends what is kept of the run.
func (r *report) endRun(code int, err error) {
	if r.log == nil {
		return
	}
	var usage *cmdutil.UsageError
	switch {
	case errors.As(err, &usage):
		code = exitcode.Usage
	case err != nil:
		code = exitcode.Internal
	}
	_ = r.log.Close(runstore.Finish{Ended: time.Now(), ExitCode: code, Rollout: r.summary.rollout}) // it is lost, and that is what its readers see
}

// reached is how the call reaches its hosts, as a kept run has it.
func (o *Options) reached() string {
	if o.SSH == nil {
		return ""
	}
	return o.SSH.Set.String()
}

// rerunWords takes the run to run again, and a command in place of its own.
func (o *Options) rerunWords(args []string, dash int) error {
	switch o.Rerun {
	case runstore.Failed, runstore.Unreachable, runstore.NotRun, runstore.All:
	default:
		return cmdutil.Usagef("--rerun must be failed, unreachable, notrun or all")
	}
	switch {
	case o.ScriptFile != "":
		return cmdutil.Usagef("--rerun runs the run's own command, or the one after --: leave --script out")
	case o.Program && dash < 0:
		return cmdutil.Usagef("--rerun without a command runs the run's own: leave --program out")
	case (o.CWD != "" || len(o.Env) > 0) && dash < 0:
		return cmdutil.Usagef("--rerun without a command runs the run's own: leave --cwd and --env out")
	}
	before := args
	if dash >= 0 {
		before = args[:dash]
	}
	switch {
	case len(before) > 1:
		return cmdutil.Usagef("--rerun takes one RUN, got %d; write -- before a command", len(before))
	case dash >= 0 && len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	case len(before) == 1:
		o.rerunOf = before[0]
	}
	if dash >= 0 {
		return o.command(args[dash:])
	}
	return nil
}

// rerunHosts are the hosts of a run that is to be run again. It sets the command, where there is none.
func (o *Options) rerunHosts() ([]hosts.Host, error) {
	if o.Runs == nil {
		return nil, cmdutil.Usagef("there are no runs")
	}
	store, err := o.Runs()
	if err != nil {
		return nil, err
	}
	rec, err := o.runOf(store)
	if err != nil {
		return nil, err
	}
	picked, err := rec.Pick(o.Rerun)
	switch {
	case err != nil:
		return nil, cmdutil.Usagef("--rerun: %w", err)
	case rec.State == "running":
		return nil, cmdutil.Usagef("%s still runs: wait for it with fairlead runs follow %s", rec.ID, rec.ID)
	case len(picked) == 0:
		return nil, cmdutil.Usagef("no host of %s is %s: see fairlead runs show %s", rec.ID, o.Rerun, rec.ID)
	case o.Script == "" && (!rec.Exact || rec.Stdin):
		why := "its command, or what checks it, holds a secret or is too long, and was not kept"
		if rec.Stdin {
			why = "its standard input was not kept"
		}
		return nil, cmdutil.Usagef("%s cannot be run again as it was: %s. Give the command: fairlead run --rerun %s %s -- COMMAND", rec.ID, why, o.Rerun, rec.ID)
	}
	if rec.SSH != o.reached() {
		was, err := sshopt.Parse(rec.SSH)
		if err != nil {
			return nil, err
		}
		return nil, cmdutil.Usagef("%s reached its hosts with %s: give the same options, which decide where and as whom it runs", rec.ID, cmp.Or(was.Names(), "no options of ssh"))
	}
	again := false // with the run's own command
	o.Targets = rec.ID
	if o.Script == "" {
		o.Script, o.Words, o.shell = rec.Command, rec.Words, rec.Shell
		o.Program, again = rec.Words != nil, true
		o.Held = o.Held || rec.Held
		o.Become = cmp.Or(o.Become, rec.Become)
		o.Verify = cmp.Or(o.Verify, rec.Verify)
		if d, err := time.ParseDuration(rec.Timeout); err == nil && o.Timeout == 0 {
			o.Timeout = d
		}
		if d, err := time.ParseDuration(rec.Idle); err == nil && o.Idle == 0 {
			o.Idle = d
		}
	}
	if again && rec.Rollout != nil {
		o.stepOptions.again(rec.Rollout)
	}
	if err := o.between(); err != nil {
		return nil, err
	}
	at, err := o.stillThere(rec, picked)
	if err != nil {
		return nil, err
	}
	var hs []hosts.Host
	for i, p := range picked {
		h, ok := at[i]
		if !ok {
			continue
		}
		if again && p.Command != "" {
			if o.each == nil {
				o.each = map[targets.Key]string{}
			}
			o.each[targets.KeyOf(h)] = p.Command
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// runOf is the run that is named, or the last one.
func (o *Options) runOf(store runstore.Store) (*runstore.Record, error) {
	who := o.Caller().Principal
	if o.rerunOf != "" {
		rec, err := store.Get(who, o.rerunOf)
		if errors.Is(err, runstore.ErrNotFound) {
			return nil, cmdutil.Usagef("%w: see fairlead runs list", err)
		}
		return rec, err
	}
	all, err := store.List(who)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, cmdutil.Usagef("there is no run yet to run again")
	}
	return all[0], nil
}

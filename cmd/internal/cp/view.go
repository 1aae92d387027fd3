package cp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// ruleBytes is the rule that denies characters in names.
const ruleBytes = "builtin/bytes"

// view shows what becomes of a copy.
type view struct {
	o    *Options
	verb string // "copied to"
	gate *outcome.Gate
	each int64 // bytes for each host; 0 is not known before

	sinks map[targets.Key]*sink
	sink  func(hosts.Host) *sink   // of a download; nil else
	old   func(name string) []byte // the content here that a dry run compares with

	unread   []copies.Report                 // what cannot be read here, or on the host that it comes from, so that no other host hears of it
	from     string                          // that host; "" is here
	copy     map[targets.Key]policy.Decision // of what a dry run shows
	foretold []foretold

	odd []copies.Report // what has characters in its name that the policy denies in a command

	heard func(place.HostEnd, []copies.Report) // hears of each host instead; nil shows it
	ask   bool                                 // what it shows comes before a question, and nothing was done

	began time.Time
	hosts []*hostView
	by    map[targets.Key]*hostView

	groups   []*group
	tally    exitcode.Tally
	counts   map[session.Status]int
	canceled int

	mu sync.Mutex // guards what follows, and the fields of each hostView
	n  int        // hosts that are done
}

// hostView is one host.
type hostView struct {
	label   string
	begun   bool
	done    bool
	bytes   int64
	total   int64
	reports []copies.Report
}

func newView(o *Options, hs []hosts.Host, verb string) *view {
	v := &view{o: o, verb: verb, by: map[targets.Key]*hostView{}, counts: map[session.Status]int{}}
	labels := targets.Labels(hs)
	for i, h := range hs {
		one := &hostView{label: labels[i]}
		v.hosts = append(v.hosts, one)
		v.by[targets.KeyOf(h)] = one
	}
	return v
}

// run runs the copy to its end and returns what the program ends with.
func (v *view) run(ctx context.Context, where place.Runner, hs []hosts.Host, cmd session.Command) error {
	v.began = time.Now()
	stop := v.watch(ctx)
	defer v.o.Running.Track(func() []string {
		_, labels := v.running()
		return labels
	})()
	if len(hs) > 1 {
		cmd.Group = client.NewRunID()
	}
	cmd.Streams = v.start
	err := where.Run(ctx, hs, cmd, v.ended)
	stop()
	v.closeSinks()
	code := v.code(ctx)
	if err == nil {
		v.finish(code)
	}
	if cerr := outcome.Ended(context.Cause(ctx)); cerr != nil {
		return cerr
	}
	if err != nil {
		return err
	}
	return cmdutil.Exit(code)
}

// closeSinks ends those of hosts that never ended.
func (v *view) closeSinks() {
	for _, s := range v.sinks {
		_, _ = s.end()
	}
}

func (v *view) code(ctx context.Context) int {
	var sig *cmdutil.SignalError
	if v.canceled > 0 && errors.As(context.Cause(ctx), &sig) {
		return 128 + sig.Number
	}
	return v.tally.Code()
}

func (v *view) start(h hosts.Host) (stdout, stderr io.Writer) {
	one := v.by[targets.KeyOf(h)]
	v.mu.Lock()
	one.begun = true
	v.mu.Unlock()
	return &copies.Reports{Take: func(r copies.Report) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if r.Done == "" {
			one.bytes, one.total = r.Progress, r.Total
			return
		}
		one.reports = append(one.reports, r)
	}}, nil
}

// running returns how many hosts are done, and the labels of those that are not and have begun.
func (v *view) running() (done int, labels []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.hosts {
		if h.begun && !h.done {
			labels = append(labels, h.label)
		}
	}
	return v.n, labels
}

// ended takes what became of a host.
func (v *view) ended(e place.HostEnd) {
	one, r := v.by[targets.KeyOf(e.Host)], e.Result
	var local []copies.Report
	var err error
	if v.sink != nil {
		if s := v.sink(e.Host); s != nil {
			if local, err = s.end(); err != nil && !lost(r) {
				r.Status = session.StatusError
				r.Err = &session.Error{Op: "copy", Host: e.Host.Name, Code: files.CodeError, Err: err}
			}
		}
	}
	v.mu.Lock()
	one.done = true
	v.n++
	reports := one.reports
	v.mu.Unlock()
	if v.sink != nil {
		reports = merged(reports, local)
		if v.o.lacks != nil && err == nil && len(local) > 0 && r.Status == session.StatusError && r.Err != nil && r.Err.Code == files.CodeError {
			for _, one := range reports { // the stream came to its end
				if one.Done == copies.Failed {
					v.o.lacks(one)
				}
			}
			r.Status, r.Err = session.StatusOK, nil
		}
		came := slices.ContainsFunc(reports, func(one copies.Report) bool { return one.Done != copies.Skipped })
		if r.Status == session.StatusOK && len(reports) > 0 && !came && !v.o.silent {
			r.Status = session.StatusError
			r.Err = &session.Error{Op: "copy", Host: e.Host.Name, Code: files.CodeSpecial, Err: errors.New("there is nothing to copy: name a file or a directory")}
		}
	}
	if v.heard != nil && (r.Status == session.StatusOK || r.Err != nil && r.Err.Code == files.CodeNotFound) {
		v.heard(e, reports) // where nothing is yet, nothing is removed
		return
	}
	if len(v.unread) > 0 {
		reports = append(reports, v.unread...)
		if r.Status == session.StatusOK {
			r.Status = session.StatusError
			r.Err = &session.Error{Op: "copy", Host: e.Host.Name, Code: files.CodeError, Err: v.unreadable()}
		}
	}
	if r.Status == session.StatusDenied && r.Decision.Rule == ruleBytes {
		reports = append(reports, v.odd...)
	}
	v.counts[r.Status]++
	if r.Status == session.StatusCanceled {
		v.canceled++
	}
	v.tally.Add(ours(r))
	would, known := v.copy[targets.KeyOf(e.Host)]
	known = known && r.Status != session.StatusDenied // as the dry run itself
	if known && would.Verdict == policy.Deny {
		v.tally.Add(session.Result{Status: session.StatusDenied})
	}
	if v.o.silent && r.Status == session.StatusOK {
		v.skipped(one.label, reports)
		return
	}
	if v.o.JSON {
		line := hostJSON(one.label, r, reports)
		if known {
			line.Verdict, line.Needs, line.Rule, line.Reason = would.Verdict.String(), string(would.Needs), would.Rule, would.Reason
		}
		v.print(line)
		return
	}
	v.tell(one.label, r, reports)
	if known {
		v.foresees(one.label, would)
	}
}

// unreadable says of a host that has got the rest what it has not got.
func (v *view) unreadable() error {
	if v.o.DryRun {
		return fmt.Errorf("%s would not be copied", plural(len(v.unread), "file"))
	}
	if v.from != "" {
		text := fmt.Sprintf("all was copied but %d files or directories that could not be read on %s", len(v.unread), v.from)
		if len(v.unread) == 1 {
			text = fmt.Sprintf("all was copied but 1 file or directory that could not be read on %s", v.from)
		}
		if v.o.Delete {
			text += ", and nothing was removed"
		}
		return errors.New(text)
	}
	what := map[bool]string{true: "directory", false: "directories"}[len(v.unread) == 1]
	if v.o.Delete {
		what += ", and nothing was removed"
	}
	return fmt.Errorf("the files were copied, but for what is in %d %s", len(v.unread), what)
}

// skipped tells what did not come of a copy of which nothing else is told.
func (v *view) skipped(label string, reports []copies.Report) {
	var left []copies.Report
	for _, r := range reports {
		if r.Done == copies.Skipped {
			if v.o.missed != nil {
				v.o.missed(r.Name)
			}
			r.Name = label + ":" + shownPath(r)
			left = append(left, r)
		}
	}
	v.o.left(left)
}

// lost reports whether a result says itself why not all has come.
func lost(r session.Result) bool {
	return r.Err != nil && r.Err.Code != files.CodeError && r.Err.Code != "error"
}

// merged are the reports of a download: what was skipped and failed on the host, and what arrived here.
func merged(host, local []copies.Report) (all []copies.Report) {
	for _, r := range host {
		if r.Done == copies.Skipped || r.Done == copies.Failed {
			all = append(all, r)
		}
	}
	return append(all, local...)
}

// ours is a result as the exit code counts it: what a host refuses is a command that fails, not a fault of Fairlead.
func ours(r session.Result) session.Result {
	if r.Status == session.StatusError && r.Err != nil {
		switch r.Err.Code {
		case files.CodeNotFound, files.CodePermission, files.CodeDirectory, files.CodeSpecial, files.CodeConflict, files.CodeTooLarge,
			files.CodeNoSpace, files.CodeInvalid, files.CodeError:
			one := 1
			return session.Result{Status: session.StatusExit, ExitCode: &one}
		}
	}
	return r
}

// jsonHost is a stable format.
type jsonHost struct {
	Host   string          `json:"host"`
	Status session.Status  `json:"status"`
	Exec   string          `json:"exec,omitempty"`
	Files  []copies.Report `json:"files,omitempty"`
	Count  int             `json:"count"` // of files that were copied
	Bytes  int64           `json:"bytes"`
	MS     int64           `json:"duration_ms"`
	Error  *jsonError      `json:"error,omitempty"`

	// What the policy says of the copy that a dry run shows.
	Verdict string `json:"verdict,omitempty"`
	Needs   string `json:"needs,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

type jsonError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func hostJSON(label string, r session.Result, reports []copies.Report) jsonHost {
	j := jsonHost{Host: label, Status: r.Status, Exec: r.Exec, Files: reports, MS: r.Duration.Milliseconds()}
	for _, one := range reports {
		if one.Done == copies.Copied {
			j.Count++
			j.Bytes += one.Size
		}
	}
	if r.Err != nil {
		j.Error = &jsonError{r.Err.Code, cmdutil.Why(r.Err)}
	}
	return j
}

func (v *view) print(what any) {
	line, err := json.Marshal(what)
	if err != nil {
		panic("cp: internal error: " + err.Error()) // both types can always be written
	}
	v.gate.Out().Write(append(line, '\n'))
}

// counted says how much was copied.
func (v *view) counted(reports []copies.Report) string {
	var n, dirs, changed, same int
	var bytes int64
	for _, r := range reports {
		switch r.Done {
		case copies.Copied:
			n++
			bytes += r.Size
		case copies.Created:
			dirs++
		case copies.Changed, copies.New, copies.Doomed:
			changed++
		case copies.Unchanged:
			same++
		}
	}
	if v.o.DryRun {
		return fmt.Sprintf("%d would change, %d unchanged", changed, same)
	}
	text := fmt.Sprintf("%s, %s", plural(n, "file"), size(bytes))
	if dirs > 0 {
		text += ", " + plural(dirs, "new directory")
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if rest, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, rest)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

const maxShown = 20 // lines of one kind

// details are the lines on single files that a person needs.
func (v *view) details(reports []copies.Report) string {
	var b strings.Builder
	shown, left := 0, 0
	for _, r := range reports {
		line := ""
		switch r.Done {
		case copies.Skipped:
			line = fmt.Sprintf("skipped %s: %s", shownPath(r), r.Why)
		case copies.Failed:
			line = fmt.Sprintf("failed %s: %s", shownPath(r), cmdutil.OneLine(r.Why))
		case copies.Noted:
			line = cmdutil.OneLine(r.Why)
		case copies.Deleted:
			line = "deleted " + shownPath(r)
		case copies.Doomed, copies.New, copies.Changed:
			line = r.Done + " " + shownPath(r)
			if r.Done != copies.Doomed && r.SHA256 != "" && r.Was != r.SHA256 {
				line += " sha256 " + was(r.Was) + r.SHA256
			}
			if r.WasMode != "" {
				line += " mode " + was(r.WasMode) + r.Mode
			}
			if r.Owner != "" {
				line += " owner " + was(r.WasOwner) + r.Owner
			}
			if !r.Modified.IsZero() {
				line += " time " + was(r.WasModified.UTC().Format(time.RFC3339)) + r.Modified.UTC().Format(time.RFC3339)
			}
		default:
			continue
		}
		if shown++; shown > maxShown && !v.o.DryRun {
			left++
			continue
		}
		b.WriteString("  " + line + "\n")
		if v.o.DryRun && r.Done == copies.Changed && r.Was != r.SHA256 && v.old != nil {
			b.WriteString(diff(r, v.old(r.Name)))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "  and %d more\n", left)
	}
	return b.String()
}

func was(old string) string {
	if old == "" {
		return ""
	}
	return old + " -> "
}

func shownPath(r copies.Report) string {
	if r.Path != "" {
		return cmdutil.OneLine(r.Path)
	}
	return cmdutil.OneLine(r.Name)
}

// finish prints what is left to print.
func (v *view) finish(code int) {
	if v.o.silent && code == 0 {
		return
	}
	if v.o.JSON {
		v.print(map[string]any{"summary": map[string]any{
			"hosts": len(v.hosts), "counts": v.counts, "exit_code": code, "duration_ms": time.Since(v.began).Milliseconds(),
		}})
		return
	}
	bad := 0
	for _, g := range v.groups {
		if g.tell(v.gate); g.cause != nil {
			bad += len(g.names)
		}
	}
	v.tellForetold(v.gate.Err())
	switch {
	case v.ask:
		fmt.Fprintf(v.gate.Err(), "fairlead: nothing was copied or removed: what --delete would remove is not known on %s; leave %s out, or go on without a question: --yes\n",
			plural(bad, "host"), map[bool]string{true: "it", false: "them"}[bad == 1])
	case len(v.hosts) == 1 || bad == 0:
	case v.canceled > 0:
		fmt.Fprintf(v.gate.Err(), "fairlead: interrupted: %d of %d hosts are done\n", len(v.hosts)-v.canceled, len(v.hosts))
	default:
		fmt.Fprintf(v.gate.Err(), "fairlead: %d of %d hosts failed, %d succeeded\n", bad, len(v.hosts), len(v.hosts)-bad)
	}
}

// size is a number of bytes for people.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for ; f >= 1024 && i < len(units)-1; i++ {
		f /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

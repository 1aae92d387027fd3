// Package runstore keeps runs: a command on hosts, how it ended on each, and what stopped it. It keeps no output, and no
// command that holds a secret.
//
// Each run is one file of JSON lines below a directory, ID.run. Its writer holds a lock on it, so that a reader knows
// whether a run goes on, and who to stop. The oldest runs are removed when a new one begins. The package has no global state.
package runstore

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
	newid "github.com/fairlead-ssh/fairlead/session/id"
)

// Bounds of what is kept.
const (
	MaxRuns    = 200      // that are always kept
	spareRuns  = 20       // more than these, and the oldest are removed together
	MaxCommand = 64 << 10 // a longer command is kept as none
	maxLine    = 64 << 20
)

// Run is what a run was asked for.
type Run struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"`
	Started   time.Time `json:"started"`
	PID       int       `json:"pid,omitempty"` // of the process that runs it; 0 is a keeper, for a caller of its API

	Targets string   `json:"targets"`
	Hosts   []Host   `json:"hosts"`
	Command string   `json:"command"`           // redacted
	Exact   bool     `json:"exact"`             // Command is what was sent, and can be sent again
	Words   []string `json:"words,omitempty"`   // of structured mode, where Exact
	Shell   string   `json:"shell,omitempty"`   // that a script named
	Stdin   bool     `json:"stdin,omitempty"`   // the command got standard input, which is not kept
	Held    bool     `json:"held,omitempty"`    // it was held to reading
	Become  string   `json:"become,omitempty"`  // the account that --become named
	SSH     string   `json:"ssh,omitempty"`     // how the call reached the hosts, from sshopt.Set
	Verify  string   `json:"verify,omitempty"`  // what checked each batch, where Exact
	Timeout string   `json:"timeout,omitempty"` // as flags take it
	Idle    string   `json:"idle,omitempty"`

	Rollout *wire.Rollout `json:"rollout,omitempty"` // its batches and limits; nil is all at once
}

// Host is a host of a run.
type Host struct {
	Name  string `json:"name"`            // that finds it again
	Label string `json:"label,omitempty"` // what results call it; "" is Name

	Command string `json:"command,omitempty"` // that it got, where Exact and each host got one of its own
}

// End is how a run ended on one host.
type End struct {
	Host     string         `json:"host"` // its label
	Status   session.Status `json:"status"`
	ExitCode *int           `json:"exit_code,omitempty"`
	Signal   string         `json:"signal,omitempty"`
	Why      string         `json:"why,omitempty"`
	NotRun   bool           `json:"notrun,omitempty"` // it got nothing
	Verify   bool           `json:"verify,omitempty"` // this is of the check after the command
}

// Finish is the end of a run.
type Finish struct {
	Ended    time.Time       `json:"ended"`
	ExitCode int             `json:"exit_code"`
	Rollout  *wire.RunReport `json:"rollout,omitempty"`
}

// Record is all that is known of a run.
type Record struct {
	Run
	State  string  `json:"state"` // running, done, or lost where its writer went away
	Ends   []End   `json:"ends"`
	Finish *Finish `json:"finish,omitempty"`

	turns turns
}

// line is a line of a file: one of these.
type line struct {
	Run    *Run    `json:"run,omitempty"`
	Turns  *string `json:"turns,omitempty"`
	Turn   string  `json:"turn,omitempty"`
	End    *End    `json:"end,omitempty"`
	Finish *Finish `json:"finish,omitempty"`
}

// The same lines as they are written: encoding/json works out a type with all that it can hold before it writes the first value of
// it, and a report of a rollout can hold much.
type (
	runLine struct {
		Run *Run `json:"run"`
	}
	endLine struct {
		End *End `json:"end"`
	}
	plainLine struct {
		Finish plainFinish `json:"finish"`
	}

	plainFinish struct { // a Finish without a rollout
		Ended    time.Time `json:"ended"`
		ExitCode int       `json:"exit_code"`
	}
)

// Store is a directory of runs.
type Store struct{ Dir string }

// ErrNotFound says that there is no such run.
var ErrNotFound = errors.New("there is no such run")

var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{3,79}$`)

const suffix = ".run"

func (s Store) file(id string) (string, error) {
	if !validID.MatchString(id) {
		return "", fmt.Errorf("%w: %q", ErrNotFound, cut(id))
	}
	return filepath.Join(s.Dir, id+suffix), nil
}

func cut(s string) string { return s[:min(len(s), 80)] }

// Writer writes one run. It may be used concurrently. Close it. A nil Writer writes nothing.
type Writer struct {
	mu  sync.Mutex
	f   *os.File
	err error
}

// Begin begins a run, and removes the oldest ones where there are many more than MaxRuns. An id that is taken is fs.ErrExist.
func (s Store) Begin(r Run) (*Writer, error) {
	name, err := s.file(r.ID)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, newid.New(".begin-")), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600) // a keeper adds lines
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		w.write(runLine{&r})
		if err = w.err; err == nil {
			err = os.Link(f.Name(), name) // which replaces nothing
		}
	}
	os.Remove(f.Name())
	if err != nil {
		f.Close()
		return nil, err
	}
	s.prune()
	return w, nil
}

func (w *Writer) write(l any) {
	text, err := json.Marshal(l)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err == nil {
		_, err = w.f.Write(append(text, '\n'))
	}
	w.err = cmp.Or(w.err, err)
}

// End adds the end of a host.
func (w *Writer) End(label string, r session.Result, verify bool) {
	if w == nil {
		return
	}
	e := EndOf(label, r, verify)
	w.write(endLine{&e})
}

// EndOf is how a Result of a host is kept.
func EndOf(label string, r session.Result, verify bool) End {
	e := End{Host: label, Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal, Verify: verify, NotRun: r.Status == session.StatusCanceled && (r.Err == nil || !r.Err.Sent)}
	if r.Err != nil && r.Err.Err != nil {
		e.Why = reason.Of(r.Err)
	}
	return e
}

// Close ends the run. Its error is the first one of all that was written.
func (w *Writer) Close(f Finish) error {
	if w == nil {
		return nil
	}
	if f.Rollout != nil {
		w.write(line{Finish: &f})
	} else {
		w.write(plainLine{plainFinish{f.Ended, f.ExitCode}})
	}
	return errors.Join(w.err, w.f.Close())
}

// prune removes the oldest runs, but none that goes on. Most calls only count: which ones are the oldest takes a call of the
// system for each.
func (s Store) prune() {
	if n, err := s.count(); err != nil || n <= MaxRuns+spareRuns {
		return
	}
	names, err := s.names()
	if err != nil || len(names) <= MaxRuns {
		return
	}
	for _, n := range names[MaxRuns:] {
		if f, err := os.Open(n); err == nil {
			if !locked(f) {
				os.Remove(n)
			}
			f.Close()
		}
	}
}

// count is how many files there are, runs and others.
func (s Store) count() (int, error) {
	dir, err := os.Open(s.Dir)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return len(names), err
}

// names are the files of runs, the newest first.
func (s Store) names() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), suffix) && info.Mode().IsRegular() {
			files = append(files, file{filepath.Join(s.Dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.name
	}
	return names, nil
}

// locked reports whether the writer of a file lives.
func locked(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return errors.Is(err, syscall.EWOULDBLOCK)
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return false
}

// Get returns a principal's run.
func (s Store) Get(principal, id string) (*Record, error) {
	name, err := s.file(id)
	if err != nil {
		return nil, err
	}
	r, err := read(name)
	if errors.Is(err, os.ErrNotExist) || err == nil && r.Principal != principal {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return r, err
}

// List returns a principal's runs, the newest first. A file that cannot be understood is left out.
func (s Store) List(principal string) ([]*Record, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, n := range names {
		if r, err := read(n); err == nil && r.Principal == principal {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *Record) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// read reads a file. The last line may be half written.
func read(name string) (*Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	alive := locked(f) // before the lines: who ends now has written all of them
	r := &Record{State: "lost", Ends: []End{}}
	in := bufio.NewReader(io.LimitReader(f, maxLine))
	for n := 0; ; n++ {
		text, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var l line
		if json.Unmarshal(text, &l) != nil {
			return nil, fmt.Errorf("%s: line %d cannot be understood", name, n+1)
		}
		switch {
		case l.Run != nil:
			r.Run = *l.Run
		case l.Turns != nil:
			r.turns.kept(*l.Turns)
		case l.Turn != "":
			r.turns.come(l.Turn)
		case l.End != nil:
			r.Ends = append(r.Ends, *l.End)
		case l.Finish != nil:
			r.Finish = l.Finish
		}
	}
	switch {
	case r.ID == "":
		return nil, fmt.Errorf("%s holds no run", name)
	case r.Finish != nil:
		r.State = "done"
	case alive:
		r.State = "running"
	}
	return r, nil
}

// Outcome is how a run ended on a host.
type Outcome struct {
	Host
	End
	Unverified bool // the command succeeded, and the check after it did not come to its end
}

// Outcomes are those of all hosts, in the order of the run. A check that failed is its host's outcome; one that was canceled says
// nothing about the host. A host whose turn had not come when the run was lost got nothing. The status of a host of which nothing is
// known is "".
func (r *Record) Outcomes() []Outcome {
	by, verified, verifies := map[string]End{}, map[string]bool{}, r.Verify != ""
	for _, e := range r.Ends {
		verifies = verifies || e.Verify
		switch {
		case e.Verify && e.Status == session.StatusCanceled:
			continue
		case e.Verify:
			verified[e.Host] = true
			if e.Status == session.StatusOK {
				continue
			}
		}
		by[e.Host] = e
	}
	out := make([]Outcome, len(r.Hosts))
	for i, h := range r.Hosts {
		label := cmp.Or(h.Label, h.Name)
		e := by[label]
		e.Host = label
		if e.Status == "" && r.State == "lost" && r.turns.never(label) {
			e.Status, e.NotRun = session.StatusCanceled, true
		}
		out[i] = Outcome{h, e, verifies && e.Status == session.StatusOK && !verified[label]}
	}
	return out
}

// The words that pick hosts of a run.
const (
	Failed      = "failed"      // that got the command, may have got it, or could not get it, and are not known to be ok
	Unreachable = "unreachable" // no connection, no login, or no trust
	NotRun      = "notrun"      // certainly got nothing, because the run was stopped, or its process went away
	All         = "all"
)

// Pick returns the hosts of a run to which a word applies.
func (r *Record) Pick(which string) ([]Host, error) {
	var picked []Host
	for _, o := range r.Outcomes() {
		yes := false
		switch which {
		case Failed:
			yes = !o.NotRun && o.Status != session.StatusOK && (o.Status != "" || r.State != "running")
		case Unreachable:
			yes = o.Status == session.StatusUnreachable || o.Status == session.StatusAuth || o.Status == session.StatusHostKey
		case NotRun:
			yes = o.NotRun // and not where nothing is known: the command may have run there
		case All:
			yes = true
		default:
			return nil, fmt.Errorf("%q is not one of failed, unreachable, notrun and all", cut(which))
		}
		if yes {
			picked = append(picked, o.Host)
		}
	}
	return picked, nil
}

// ErrKeeper says that a run goes on in a keeper, which has to be asked to stop it.
var ErrKeeper = errors.New("the run continues in the keeper")

// Stop interrupts the process that a run goes on in.
func (r *Record) Stop() error {
	switch {
	case r.State != "running":
		return fmt.Errorf("%s does not run: it is %s", r.ID, r.State)
	case r.PID == 0:
		return ErrKeeper
	}
	return syscall.Kill(r.PID, syscall.SIGINT)
}

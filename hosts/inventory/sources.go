package inventory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// spec is one item of sources: where more hosts are.
type spec struct {
	kind    string // one of kinds
	path    string // as it is written; "" for a program
	exact   bool   // path does not begin at the inventory's directory
	argv    []string
	fresh   time.Duration
	timeout time.Duration
	set     settings // the tier and labels of its hosts
	pos     hosts.Pos
}

// The kinds of source.
const (
	kindAnsible   = "ansible"
	kindProgram   = "exec"
	kindClush     = "clush"
	kindHosts     = "hosts"
	kindCSV       = "csv"
	kindSSHConfig = "ssh_config"
)

var kinds = []string{kindAnsible, kindProgram, kindClush, kindHosts, kindCSV, kindSSHConfig}

// imported is a source that was read.
type imported struct {
	*spec
	inv *foreign.Inventory
}

// maxSources bounds how many there are.
const maxSources = 100

// maxTimeout bounds what timeout takes: a command waits that long.
const maxTimeout = 10 * time.Minute

func (r *reader) source(n *node) *spec {
	if !r.mapping(n, "a source", "ansible", "exec", "clush", "hosts", "csv", "ssh_config", "tier", "labels", "cache", "timeout") {
		return nil
	}
	s := &spec{pos: n.pos, fresh: foreign.DefaultFresh}
	given := &node{kind: mapping, pos: n.pos}
	for _, kv := range n.pairs {
		switch {
		case slices.Contains(kinds, kv.key):
			if s.kind != "" {
				r.add(kv.pos, "a source is one of %s, and this one is two", strings.Join(kinds, ", "))
				return nil
			}
			s.kind = kv.key
			r.under(kv.key, func() { r.place(s, kv.val) })
		case kv.key == "tier" || kv.key == labels:
			given.pairs = append(given.pairs, kv)
		}
	}
	if s.kind == "" {
		r.add(n.pos, "a source is one of %s", strings.Join(kinds, ", "))
		return nil
	}
	s.set = r.settings(given, "a source")
	r.times(s, n)
	return s
}

// place reads the file of a source, or the program.
func (r *reader) place(s *spec, n *node) {
	if s.kind != kindProgram {
		if text, ok := r.text(n); ok {
			if s.path = text; text == "" {
				r.add(n.pos, "the name of a file is missing")
			}
		}
		return
	}
	if argv, ok := readTexts(r, n).([]string); ok {
		if s.argv = argv; len(argv) == 0 {
			r.add(n.pos, "a program is missing, as in [./hosts.py, --list]")
		}
	}
}

// times reads cache and timeout, which are for programs: an Ansible directory may hold some.
func (r *reader) times(s *spec, n *node) {
	for key, to := range map[string]*time.Duration{"cache": &s.fresh, "timeout": &s.timeout} {
		v := n.get(key)
		if v == nil {
			continue
		}
		r.under(key, func() {
			if s.kind != kindProgram && s.kind != kindAnsible {
				r.add(v.pos, "only programs have it")
				return
			}
			least := time.Duration(0)
			if key == "timeout" {
				least = time.Millisecond
			}
			if d, ok := r.duration(v, least).(time.Duration); ok {
				if *to = d; key == "timeout" && d > maxTimeout {
					r.add(v.pos, "more than %s", maxTimeout)
				}
			}
		})
	}
}

// loading is one reading of an inventory with its sources.
type loading struct {
	ctx     context.Context
	path    string // of the inventory file, as it was named
	opts    Options
	files   []foreign.File // all that was looked at but the inventory file
	notes   []foreign.Note
	refresh time.Duration // how long the answers of programs are good for; 0 means that there are none
}

// read reads the sources of a document. What is wrong with one is noted.
func (l *loading) read(p *problems, doc *document) {
	for _, s := range doc.specs {
		inv, err := l.source(s)
		if inv != nil {
			l.files = append(l.files, inv.Files...)
		}
		if err != nil {
			l.wrong(p, s, err)
			continue
		}
		l.notes = append(l.notes, inv.Notes...)
		doc.imported = append(doc.imported, imported{s, inv})
	}
}

// wrong notes why a source cannot be read, each mistake at its place.
func (l *loading) wrong(p *problems, s *spec, err error) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, e := range list {
		var pe *hosts.ParseError
		if errors.As(e, &pe) && pe.Pos.File != "" {
			p.errs = append(p.errs, pe)
			continue
		}
		p.wrap(s.pos, "sources", e)
	}
	if s.path != "" { // mending it is a change
		if path, err := l.place(s); err == nil {
			l.files = append(l.files, foreign.File{Path: path, Stamp: foreign.Stamp(path)})
		}
	}
}

func (l *loading) source(s *spec) (*foreign.Inventory, error) {
	dir, err := filepath.Abs(filepath.Dir(l.path))
	if s.exact {
		dir, err = filepath.Abs(filepath.Dir(s.path))
	}
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, argv []string, valid func([]byte) error) ([]byte, *foreign.Note, error) {
		if err := l.trusted(); err != nil && !s.exact {
			return nil, nil, &hosts.ParseError{Pos: s.pos, Msg: "the program is not run", Err: err}
		}
		if fresh := max(s.fresh, time.Minute); l.refresh == 0 || fresh < l.refresh {
			l.refresh = fresh
		}
		p := foreign.Programs{Dir: dir, Fresh: s.fresh, Timeout: s.timeout, Cache: l.opts.cache(), Kept: l.opts.Kept}
		return p.Run(ctx, argv, valid)
	}
	if s.kind == kindProgram {
		return foreign.Program(l.ctx, dir, s.argv, run)
	}
	path, err := l.place(s)
	if err != nil {
		return nil, &hosts.ParseError{Pos: s.pos, Msg: s.kind, Err: err}
	}
	switch s.kind {
	case kindAnsible:
		return foreign.Ansible(l.ctx, path, run)
	case kindClush:
		return foreign.Clush(path)
	case kindHosts:
		return foreign.Hosts(path)
	case kindCSV:
		return foreign.CSV(path)
	default:
		return foreign.SSHConfig(path, ownConfig(path))
	}
}

// place returns where the file of a source is: the whole path, so that hosts are the same wherever this runs.
func (l *loading) place(s *spec) (string, error) {
	if s.exact {
		return filepath.Abs(s.path)
	}
	path, err := foreign.Expand(s.path, filepath.Dir(l.path))
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// trusted says why a program that the inventory names is not run: other accounts can change the file that names it.
func (l *loading) trusted() error {
	st, err := os.Stat(l.path)
	if err != nil || st.IsDir() {
		return err
	}
	f, err := trustedfile.Open(l.path, "naming programs")
	if err != nil {
		return err
	}
	return f.Close()
}

// ownConfig reports whether path is the configuration that is asked about every host anyway.
func ownConfig(path string) bool {
	home, err := os.UserHomeDir()
	return err == nil && filepath.Clean(path) == filepath.Join(home, ".ssh", "config")
}

// cache returns the directory for the answers of programs, or "".
func (o Options) cache() string {
	switch o.Cache {
	case "none":
		return ""
	case "":
		dir, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(dir, "fairlead", "sources")
	}
	return o.Cache
}

// warnings say what of the sources a person should know each time: one line for hosts that are left out, and one for all else
// that was not converted.
func (l *loading) warnings() (out []Warning) {
	lost, refused, left := 0, 0, 0
	var first, firstLeft foreign.Note
	for _, n := range l.notes {
		switch {
		case n.Stale:
			out = append(out, Warning{Pos: n.Pos, Msg: n.Msg})
		case n.Minor:
		case n.LeftOut:
			if left++; left == 1 {
				firstLeft = n
			}
		default:
			if lost++; lost == 1 {
				first = n
			}
			if n.Refused {
				refused++
			}
		}
	}
	list := "; list them with: fairlead hosts import " + printable.Word(l.path)
	switch {
	case left == 1:
		out = append(out, Warning{Pos: firstLeft.Pos, Msg: firstLeft.Msg})
	case left > 1:
		out = append(out, Warning{Pos: firstLeft.Pos, Msg: fmt.Sprintf("%d hosts are left out, because of their names", left) + list})
	}
	if lost == 0 {
		return out
	}
	var msg string
	switch {
	case lost == 1 && refused == 1:
		msg = "1 setting has no counterpart and makes hosts refuse logins"
	case lost == 1:
		msg = "1 setting has no counterpart"
	case refused > 0:
		msg = fmt.Sprintf("%d settings have no counterpart, and %d of them make hosts refuse logins", lost, refused)
	default:
		msg = fmt.Sprintf("%d settings have no counterpart", lost)
	}
	return append(out, Warning{Pos: first.Pos, Msg: msg + list})
}

package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// Options says how a file is read. The zero value is what a command line wants.
type Options struct {
	Format  string   // "yaml", "toml" or "json", or a kind of source; "" means what the file looks like
	Cache   string   // the directory for the last answers of programs; "" means the user's, "none" means none
	Kept    bool     // no program runs: their last answers count, for a caller who must not start any
	Environ []string // "KEY=value" to take overrides from; nil means the process's own, empty means none
}

// Warning is something about an inventory that deserves a look and does not keep it from working.
type Warning struct {
	Pos    hosts.Pos
	Msg    string
	NoTier bool // it counts hosts without a tier, which is usual where tiers have no use: once a day is enough
}

// String returns "file:line: message".
func (w Warning) String() string { return w.Pos.String() + ": " + w.Msg }

// Load reads the inventory at path, with its sources: a file of Fairlead's, or one of another program's as it is, such as
// Ansible's hosts.ini or a directory of its. It holds files open only while it reads. Programs that sources name run, within
// their timeouts.
//
// If the file cannot be read the error wraps the cause. If what it says is wrong the error joins every problem found, each
// a [*hosts.ParseError] with file and line, in the order of the file. There is no inventory then: half of one would
// select the wrong hosts.
func Load(path string, o Options) (*hosts.Inventory, []Warning, error) {
	got, err := Read(context.Background(), path, o)
	return got.Inventory, got.Warnings, err
}

// Loaded is an inventory with what is to be said about it.
type Loaded struct {
	Inventory *hosts.Inventory
	Warnings  []Warning      // what a person should know each time
	Notes     []foreign.Note // all that was not converted of sources
	Own       bool           // the file is one of Fairlead's

	state []foreign.File // what the sources depend on
	again time.Duration  // when programs are to be asked again; 0 means never
}

// Read is [Load] with all that is to be said. ctx ends programs that run.
func Read(ctx context.Context, path string, o Options) (Loaded, error) {
	if s := o.direct(path); s != nil {
		if _, err := os.Stat(path); err != nil {
			_, err = readFile(path) // it says why
			return Loaded{}, err
		}
		return parse(&loading{ctx: ctx, path: path, opts: o}, []byte("version: 1\n"), "yaml", s)
	}
	data, err := readFile(path)
	if err != nil {
		return Loaded{}, err
	}
	return readOwn(ctx, data, path, o)
}

// Import is [Read] for the inventories of other programs, of which there may be several that add up. One of Fairlead's stands
// alone.
func Import(ctx context.Context, paths []string, o Options) (Loaded, error) {
	if len(paths) == 1 {
		return Read(ctx, paths[0], o)
	}
	var specs []*spec
	for _, path := range paths {
		s := o.direct(path)
		if s == nil {
			if _, err := readFile(path); err != nil {
				return Loaded{}, err
			}
			return Loaded{}, &hosts.ParseError{Pos: hosts.Pos{File: path}, Msg: "this is not an inventory of another program, so it cannot be added to others; say what it is with --format if it is"}
		}
		specs = append(specs, s)
	}
	if len(specs) == 0 {
		return Loaded{}, errors.New("no file is named")
	}
	return parse(&loading{ctx: ctx, path: paths[0], opts: o}, []byte("version: 1\n"), "yaml", specs...)
}

// Formats are the kinds of source, for [Options.Format].
func Formats() []string { return slices.Clone(kinds) }

// readOwn reads a file of Fairlead's with its sources.
func readOwn(ctx context.Context, data []byte, path string, o Options) (Loaded, error) {
	format, err := o.format(path)
	if err != nil {
		return Loaded{}, err
	}
	out, err := parse(&loading{ctx: ctx, path: path, opts: o}, data, format)
	out.Own = true
	return out, err
}

// Parse is [Load] for bytes that are at hand. name stands for the file in positions, and its extension for the format.
// Sources are mistakes: where a file is not at hand, nothing is beside it.
func Parse(data []byte, name string, o Options) (*hosts.Inventory, []Warning, error) {
	format, err := o.format(name)
	if err != nil {
		return nil, nil, err
	}
	got, err := parse(&loading{path: name, opts: o}, data, format)
	return got.Inventory, got.Warnings, err
}

// parse reads a file's bytes. only are sources that were named without one. Without a context no sources are read.
// What the sources depend on is returned with an error, too.
func parse(l *loading, data []byte, format string, only ...*spec) (out Loaded, err error) {
	environ := l.opts.Environ
	if environ == nil {
		environ = os.Environ()
	}
	p := &problems{}
	src, err := readSource(p, data, l.path, format, environ)
	if err != nil {
		return out, errors.Join(p.err(), err)
	}
	doc := readDocument(p, src)
	doc.specs = append(doc.specs, only...)
	if l.ctx == nil {
		for _, s := range doc.specs {
			p.add(s.pos, "sources: they are read for a file only, and this is a text")
		}
	} else if len(p.errs) == 0 { // programs are not run for an inventory that is of no use
		l.read(p, doc)
	}
	out.state, out.again = l.files, l.refresh
	all, origins := resolve(p, doc)
	checkCredentials(p, doc, all)
	if err := p.err(); err != nil {
		return out, err
	}
	inv, err := doc.inventory(all)
	if err != nil {
		return out, err
	}
	out.Inventory, out.Notes, out.Warnings = inv.WithOrigins(origins), l.notes, append(warnings(l.path, all), l.warnings()...)
	return out, nil
}

// inventory makes the value of hosts that were put together.
func (doc *document) inventory(all []hosts.Host) (*hosts.Inventory, error) {
	inv, err := doc.plain(all)
	if err != nil || !doc.strict {
		return inv, err
	}
	return inv.WithCredentials(doc.credentials())
}

// plain is the inventory without its credentials, and without groups that are there twice, which was reported.
func (doc *document) plain(all []hosts.Host) (*hosts.Inventory, error) {
	var groups []hosts.Group
	seen := map[string]bool{}
	for _, g := range doc.groups {
		if seen[g.name] {
			continue
		}
		seen[g.name] = true
		groups = append(groups, hosts.Group{Name: g.name, Children: names(g.children), Source: g.pos})
	}
	return hosts.NewInventory(all, groups)
}

// missingError is that a file is not there.
type missingError struct{ path string }

func (e *missingError) Error() string { return "inventory: there is no file " + e.path }
func (e *missingError) Unwrap() error { return fs.ErrNotExist }

func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without, opening a FIFO would block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingError{path}
	case err != nil:
		return nil, fmt.Errorf("inventory: cannot open the file: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && !st.IsDir() { // reading a directory says what it is
		return nil, fmt.Errorf("inventory: %s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("inventory: cannot read the file: %w", err)
	}
	return data, nil
}

// format returns one of the formats that parseTree knows.
func (o Options) format(name string) (string, error) {
	format, from := o.Format, "format"
	if format == "" {
		format, from = strings.TrimPrefix(filepath.Ext(name), "."), "extension"
	}
	switch f := strings.ToLower(format); f {
	case "yaml", "json", "toml":
		return f, nil
	case "yml":
		return "yaml", nil
	}
	return "", &hosts.ParseError{Pos: hosts.Pos{File: name, Line: 1},
		Msg: fmt.Sprintf("the %s %q is not one of yaml, yml, toml, json, nor one of another program's inventory (ini, csv)", from, clip(format))}
}

// warnings says once how many hosts nobody gave a tier. Local shells and demo hosts need none.
func warnings(name string, all []hosts.Host) []Warning {
	var without []string
	line := 0
	for _, h := range all {
		if h.Tier == "" && h.Transport != hosts.Local && h.Transport != hosts.Demo {
			without = append(without, h.Name)
			if line == 0 && h.Source.File == name {
				line = h.Source.Line
			}
		}
	}
	if len(without) == 0 {
		return nil
	}
	who := "hosts have no tier and count"
	if len(without) == 1 {
		who = "host has no tier and counts"
	}
	return []Warning{{Pos: hosts.Pos{File: name, Line: line}, NoTier: true, Msg: fmt.Sprintf(
		"%d %s as prod: %s; give them one, or set tier: on a group or in defaults", len(without), who, clip(hosts.Fold(without)))}}
}

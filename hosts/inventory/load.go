package inventory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Options says how a file is read. The zero value is what a command line wants.
type Options struct {
	Format  string   // "yaml", "toml" or "json"; "" means by the file's extension
	Environ []string // "KEY=value" to take overrides from; nil means the process's own, empty means none
}

// Warning is something about an inventory that deserves a look and does not keep it from working.
type Warning struct {
	Pos hosts.Pos
	Msg string
}

// String returns "file:line: message".
func (w Warning) String() string { return w.Pos.String() + ": " + w.Msg }

// Load reads the inventory in the file at path. It holds the file open only while it reads.
//
// If the file cannot be read the error wraps the cause. If what it says is wrong the error joins every problem found, each
// a [*hosts.ParseError] with file and line, in the order of the file. There is no inventory then: half of one would
// select the wrong hosts.
func Load(path string, o Options) (*hosts.Inventory, []Warning, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return Parse(data, path, o)
}

// Parse is [Load] for bytes that are at hand. name stands for the file in positions, and its extension for the format.
func Parse(data []byte, name string, o Options) (*hosts.Inventory, []Warning, error) {
	format, err := o.format(name)
	if err != nil {
		return nil, nil, err
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	p := &problems{}
	src, err := readSource(p, data, name, format, environ)
	if err != nil {
		return nil, nil, errors.Join(p.err(), err)
	}
	doc := readDocument(p, src)
	all := resolve(p, doc)
	checkCredentials(p, doc, all)
	if err := p.err(); err != nil {
		return nil, nil, err
	}
	inv, err := doc.inventory(all)
	if err != nil {
		return nil, nil, err
	}
	return inv, warnings(name, all), nil
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

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("inventory: there is no file %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("inventory: cannot open the file: %w", err)
	}
	defer f.Close()
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
		Msg: fmt.Sprintf("the %s %q is not one of yaml, yml, toml, json", from, clip(format))}
}

// warnings says once how many hosts nobody gave a tier. Local shells and demo hosts need none.
func warnings(name string, all []hosts.Host) []Warning {
	var without []string
	line := 0
	for _, h := range all {
		if h.Tier == "" && h.Transport != hosts.Local && h.Transport != hosts.Demo {
			without = append(without, h.Name)
			if line == 0 {
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
	return []Warning{{hosts.Pos{File: name, Line: line}, fmt.Sprintf(
		"%d %s as prod: %s; give them one, or set tier: on a group or in defaults", len(without), who, clip(hosts.Fold(without)))}}
}

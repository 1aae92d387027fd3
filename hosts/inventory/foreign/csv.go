package foreign

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// columns are those that a header may name.
var columns = []string{"name", "address", "user", "port", "tier", "groups", "labels"}

// otherColumns are what tables of machines call them.
var otherColumns = map[string]string{"addr": "address", "ip": "address", "host": "name", "hostname": "name", "group": "groups", "label": "labels"}

// maxProblems bounds how many mistakes of one file are reported.
const maxProblems = 50

// CSV reads a table of hosts. Its first line names the columns: name, and any of address, user, port, tier, groups and
// labels, in any order; host and hostname are name, and ip is address. Commas separate cells, or semicolons or tabs where the header has those. Groups, and labels of the
// form key=value, are separated by spaces, or by commas or semicolons. # begins a comment.
func CSV(path string) (*Inventory, error) {
	var f files
	data, err := f.read(path)
	if err != nil {
		return nil, err
	}
	inv, err := table(path, data)
	if err != nil {
		return nil, err
	}
	inv.Files = f.all()
	return inv, nil
}

func table(file string, data []byte) (*Inventory, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.Comment, r.TrimLeadingSpace = delimiter(data), '#', true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, wrong(hosts.Pos{File: file, Line: 1}, "the file is empty; its first line names the columns: %s", strings.Join(columns, ", "))
	}
	if err != nil {
		return nil, csvError(file, err)
	}
	t := &csvTable{file: file, inv: &Inventory{}, groups: map[string]int{}, seen: map[string]int{}}
	if err := t.header(r, header); err != nil {
		return nil, err
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := r.FieldPos(0)
			t.add(hosts.Pos{File: file, Line: line}, "the first line names %d columns, and this one has %d: write empty ones too", len(header), len(row))
			if len(t.wrong) >= maxProblems {
				break
			}
			continue
		}
		if err != nil {
			return nil, errors.Join(append(t.wrong, csvError(file, err))...)
		}
		line, _ := r.FieldPos(0)
		if t.row(hosts.Pos{File: file, Line: line}, row); len(t.wrong) >= maxProblems {
			break
		}
	}
	if len(t.wrong) > 0 {
		return nil, errors.Join(t.wrong...)
	}
	return t.inv, nil
}

// delimiter looks which one the header uses.
func delimiter(data []byte) rune {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		for _, c := range ",;\t" {
			if bytes.ContainsRune(line, c) {
				return c
			}
		}
		break
	}
	return ','
}

func csvError(file string, err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return wrong(hosts.Pos{File: file, Line: pe.Line}, "not valid CSV: %v", pe.Err)
	}
	return wrong(hosts.Pos{File: file}, "not valid CSV")
}

type csvTable struct {
	file    string
	columns []string
	inv     *Inventory
	groups  map[string]int // name to place in inv.Groups
	seen    map[string]int // name to line
	wrong   []error
}

func (t *csvTable) header(r *csv.Reader, row []string) error {
	for i, name := range row {
		line, _ := r.FieldPos(i)
		pos := hosts.Pos{File: t.file, Line: line}
		name = strings.ToLower(strings.TrimSpace(name))
		if known := otherColumns[name]; known != "" {
			name = known
		}
		switch {
		case !slices.Contains(columns, name):
			return wrong(pos, "unknown column %q: the first line names the columns; known: %s%s", clip(name), strings.Join(columns, ", "), near.Hint(near.Find(name, slices.Values(columns))))
		case slices.Contains(t.columns, name):
			return wrong(pos, "the column %s is there twice", name)
		}
		t.columns = append(t.columns, name)
	}
	if !slices.Contains(t.columns, "name") {
		return wrong(hosts.Pos{File: t.file, Line: 1}, "no column is called name; the first line names the columns: %s", strings.Join(columns, ", "))
	}
	return nil
}

func (t *csvTable) add(pos hosts.Pos, format string, args ...any) {
	t.wrong = append(t.wrong, wrong(pos, format, args...))
}

func (t *csvTable) row(pos hosts.Pos, row []string) {
	h := Host{Pos: pos}
	var groups []string
	for i, cell := range row {
		cell = strings.TrimSpace(cell)
		column := t.columns[i]
		if cell == "" && column != "name" {
			continue
		}
		switch column {
		case "name":
			h.Name = cell
		case "groups":
			groups = unique(listOf(cell))
		case "labels":
			for _, l := range unique(listOf(cell)) {
				key, value, found := strings.Cut(l, "=")
				if err := hosts.CheckLabel(key, value); !found || err != nil {
					t.add(pos, "labels: %q is not key=value", clip(l))
					continue
				}
				if slices.ContainsFunc(h.Fields, func(f Field) bool { return f.Name == "labels."+key }) {
					t.add(pos, "labels: %s is there twice", clip(key))
					continue
				}
				h.Fields = append(h.Fields, Field{Name: "labels." + key, Values: []string{value}, Pos: pos})
			}
		default:
			field := map[string]string{"address": "addr"}[column]
			if field == "" {
				field = column
			}
			if why := unusable(field, column, cell); why != "" {
				t.add(pos, "%s", why)
				continue
			}
			h.Fields = append(h.Fields, Field{Name: field, Values: []string{cell}, Pos: pos})
		}
	}
	if err := hosts.CheckName(h.Name); err != nil {
		t.add(pos, "name: %q %v", clip(h.Name), err)
		return
	}
	if first := t.seen[h.Name]; first > 0 {
		t.add(pos, "host %s is there twice; first on line %d", clip(h.Name), first)
		return
	}
	t.seen[h.Name] = pos.Line
	if len(t.inv.Hosts) >= maxHosts {
		t.add(pos, "more than %d hosts", maxHosts)
		return
	}
	t.inv.Hosts = append(t.inv.Hosts, h)
	for _, g := range groups {
		t.group(g, h)
	}
}

func (t *csvTable) group(name string, h Host) {
	if err := hosts.CheckGroup(name); err != nil {
		t.add(h.Pos, "groups: %q %v", clip(name), err)
		return
	}
	i, known := t.groups[name]
	if !known {
		i = len(t.inv.Groups)
		t.groups[name] = i
		t.inv.Groups = append(t.inv.Groups, Group{Name: name, Pos: h.Pos})
	}
	t.inv.Groups[i].Hosts = append(t.inv.Groups[i].Hosts, Member{h.Name, h.Pos})
}

// listOf splits a cell.
func listOf(cell string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" \t,;\n", r) }), func(s string) bool { return s == "" })
}

// unique drops doubles.
func unique(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

package programs

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.txt
var files embed.FS

// A block is a program or a set as its file has it.
type block struct {
	file string
	at   int    // line of the head
	head string // "program ls dir"
	body string // the lines below
}

// An entry is one name of a block. It is compiled when it is first asked for: a short run asks for few.
type entry struct {
	*block
	of    *tables
	name  string // "git log"
	lines []line // of a subcommand; a program's are split from its block
	up    *node
	once  sync.Once
	node  *node
	err   error
}

// A line of a table: its first word, the rest, and how deep it is indented.
type line struct {
	at, depth int
	key, rest string
}

type tables struct {
	programs map[string]*entry
	kinds    map[string][]string // of names
	sets     map[string]*block
	err      error
}

// index finds the blocks of all files, without reading what is in them.
var index = sync.OnceValue(func() *tables {
	t := newTables()
	list, err := files.ReadDir("tables")
	t.err = err
	for _, f := range list {
		raw, err := files.ReadFile("tables/" + f.Name())
		t.err = errors.Join(t.err, err)
		t.file(f.Name(), string(raw))
	}
	return t
})

func newTables() *tables {
	return &tables{programs: make(map[string]*entry, 2048), kinds: make(map[string][]string, 1024), sets: map[string]*block{}}
}

// file enters the blocks of a file.
func (t *tables) file(name, text string) {
	var last *block
	from := 0
	for pos, at := 0, 1; pos < len(text); at++ {
		l, _, _ := strings.Cut(text[pos:], "\n")
		if l != "" && l[0] != '\t' {
			t.end(last, text[from:pos])
			last = nil
			if l[0] != '#' {
				last = &block{file: name, at: at, head: l}
				t.head(last)
			}
			from = min(pos+len(l)+1, len(text))
		}
		pos += len(l) + 1
	}
	t.end(last, text[from:])
}

// end gives a block its lines.
func (t *tables) end(b *block, body string) {
	if b == nil {
		return
	}
	b.body = body
	if kind, ok := strings.CutPrefix(b.head, "are "); ok {
		for name := range strings.FieldsSeq(body) {
			t.kinds[name] = append(t.kinds[name], kind)
		}
	}
}

// Is reports whether the tables list a name as one of a kind: "shell".
func Is(name, kind string) bool { return slices.Contains(index().kinds[name], kind) }

// head enters the names of a block.
func (t *tables) head(b *block) {
	kind, names, _ := strings.Cut(b.head, " ")
	for name := range strings.FieldsSeq(names) {
		var old *block
		switch kind {
		case "builtin":
			name = "builtin " + name
			fallthrough
		case "program":
			if e := t.programs[name]; e != nil {
				old = e.block
			}
			t.programs[name] = &entry{block: b, of: t, name: name}
		case "set":
			old = t.sets[name]
			t.sets[name] = b
		}
		if old != nil {
			t.err = errors.Join(t.err, fmt.Errorf("%s:%d: %s is in %s:%d already", b.file, b.at, name, old.file, old.at))
		}
	}
	if kind != "program" && kind != "builtin" && kind != "set" && kind != "are" {
		t.err = errors.Join(t.err, fmt.Errorf("%s:%d: a block begins with program, builtin, set or are, not %q", b.file, b.at, kind))
	}
}

// split reads the lines of a block. Empty lines and comments do not count.
func (b *block) split() []line {
	var out []line
	at := b.at
	for l := range strings.Lines(b.body) {
		at++
		l = strings.TrimRight(l, " \n")
		text := strings.TrimLeft(l, "\t")
		if text == "" || text[0] == '#' {
			continue
		}
		k := line{at: at, depth: len(l) - len(text), key: text}
		if text[0] != '-' {
			k.key, k.rest, _ = strings.Cut(text, " ")
		}
		out = append(out, k)
	}
	return out
}

// Names are the names of all programs in the tables, sorted.
func Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(index().programs)), isBuiltin)
}

// Has reports whether the tables say anything of a name that may stand for a command.
func Has(name string) bool {
	t := index()
	return t.programs[name] != nil || t.programs["builtin "+name] != nil ||
		slices.ContainsFunc(t.kinds[name], func(kind string) bool { return kind != "plainvariable" })
}

func isBuiltin(name string) bool { return strings.HasPrefix(name, "builtin ") }

// A Table is what is known of one program.
type Table struct {
	Program string `json:"program"`
	File    string `json:"file"` // of this package
	Line    int    `json:"line"`
	From    string `json:"from"` // the manual that it is known from
	Text    string `json:"text"` // in the grammar that the package describes, with the sets that it uses
}

// Lookup returns what the tables know of a program.
func Lookup(name string) (Table, bool) {
	e := index().programs[name]
	if e == nil {
		return Table{}, false
	}
	t := Table{Program: name, File: "tables/" + e.file, Line: e.at, Text: e.head + "\n" + strings.TrimRight(e.body, "\n") + "\n"}
	var used []string
	sets := func(b *block) {
		for _, l := range b.split() {
			switch {
			case l.key == "from" && t.From == "":
				t.From = l.rest
			case l.key == "use" && !slices.Contains(used, l.rest):
				used = append(used, l.rest)
			}
		}
	}
	sets(e.block)
	for i := 0; i < len(used); i++ {
		if b := index().sets[used[i]]; b != nil {
			sets(b)
			t.Text += "\n" + b.head + "\n" + strings.TrimRight(b.body, "\n") + "\n"
		}
	}
	return t, true
}

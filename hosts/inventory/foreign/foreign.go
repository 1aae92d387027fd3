package foreign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// What a source may be at most.
const (
	maxFile   = 16 << 20 // bytes of one file, and of what a program prints
	maxFiles  = 20_000   // files of one source
	maxTotal  = 64 << 20 // bytes of all of them
	maxHosts  = hosts.MaxExpand
	maxGroups = 50_000
	maxValues = 2_000_000 // values, aliases followed
	maxDepth  = 32        // groups, lists and mappings in each other
	maxNotes  = 1000
)

// Inventory is what a source says.
type Inventory struct {
	Hosts  []Host  // in the order of the source
	Groups []Group // in the order of the source
	Notes  []Note  // what was not converted, in the order of the files
	Files  []File  // every file and directory that was looked at: where one of them changes, the source does
}

// Host is one host of a source.
type Host struct {
	Name   string
	Fields []Field // each at most once
	Pos    hosts.Pos
}

// Field is one field of a host, under the name that it has in Fairlead's inventories. The labels' fields are named
// "labels.KEY".
type Field struct {
	Name      string
	Values    []string // one, but for via and identity
	Inherited bool     // a group said it, not the host
	Refusal   string   // why there is no value, although it decides where or as whom one logs in; "" means that there is
	Pos       hosts.Pos
}

// Group is a group of a source.
type Group struct {
	Name     string
	Hosts    []Member // direct members
	Children []Member // groups inside this one
	Pos      hosts.Pos
}

// Member is a name and the place where it stands.
type Member struct {
	Name string
	Pos  hosts.Pos
}

// Note is something that was not converted, or a program that did not answer.
type Note struct {
	Pos     hosts.Pos
	Msg     string
	Refused bool // hosts refuse logins because of it
	Stale   bool // the program failed, and an older answer is used
	Minor   bool // nothing about hosts is lost
	LeftOut bool // a host is lost
}

// File is a file or directory, there or not, and what [Stamp] said of it before it was read.
type File struct{ Path, Stamp string }

// String returns "file:line: message".
func (n Note) String() string { return n.Pos.String() + ": " + n.Msg }

// notes collects what was not converted, each thing once.
type notes struct {
	list    []Note
	said    map[Note]bool
	omitted int
}

func (n *notes) add(pos hosts.Pos, format string, args ...any) {
	n.put(Note{Pos: pos, Msg: message(format, args...)})
}

// leftOut is add for a host that is not among those of the source, so that "all" does not pick it.
func (n *notes) leftOut(pos hosts.Pos, format string, args ...any) {
	n.put(Note{Pos: pos, Msg: message(format, args...), LeftOut: true})
}

// minor is add for what a person need not look at.
func (n *notes) minor(pos hosts.Pos, format string, args ...any) {
	n.put(Note{Pos: pos, Msg: message(format, args...), Minor: true})
}

func (n *notes) put(note Note) {
	if n.said[note] {
		return
	}
	if len(n.list) >= maxNotes {
		n.omitted++
		return
	}
	if n.said == nil {
		n.said = map[Note]bool{}
	}
	n.said[note] = true
	n.list = append(n.list, note)
}

// all returns the notes in the order of the files.
func (n *notes) all(file string) []Note {
	slices.SortStableFunc(n.list, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Msg, b.Msg))
	})
	if n.omitted > 0 {
		return append(n.list, Note{Pos: hosts.Pos{File: file}, Msg: fmt.Sprintf("%d more things were not converted", n.omitted)})
	}
	return n.list
}

// wrong is a mistake that keeps a source from being read.
func wrong(pos hosts.Pos, format string, args ...any) error {
	return &hosts.ParseError{Pos: pos, Msg: message(format, args...)}
}

func message(format string, args ...any) string {
	return printable.Message(fmt.Sprintf(format, args...))
}

// clip shortens what a message quotes.
func clip(s string) string { return printable.Clip(s, 80) }

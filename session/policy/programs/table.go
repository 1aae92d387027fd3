package programs

import (
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A program is one entry of a table: what a program is and which options it has.
type program struct {
	// name is the bare name; "a|b" lists programs that are alike.
	name string
	// class is what the program is without any option; the zero class is read-only, because most entries are.
	class policy.Class
	// why completes "NAME …" where class is not read-only; the class's own phrase stands in.
	why string
	// opts lists the options, separated by spaces: NAMES[VALUE][!CLASS][^].
	//
	//	-a,--all             no value
	//	-n,--lines=text      needs a value: glued, after "=", or the next word
	//	--color?text         may have one: glued or after "="
	//	-o,--output=write    kinds: text, read (a file read), stat (a file of which only attributes are shown), write
	//	                     (a file written), shell (source that is run), cmd (the name of a program that is run),
	//	                     pair and pairread (two words, the second text or a file read)
	//	-#                   digits: head -20
	//	--set=text!write     classes: secret write unknown danger priv forbid, and "ask": unknown where it is written
	//	                     out, but changing nothing, so that a glob that grows into it does no harm
	//	-e,--regexp=text^    takes the place of the first operand
	opts string
	// args lists the operands: kinds as above and del (removed), rest (a command from here on), each with an optional
	// !CLASS; a trailing "..." repeats the last one. "" allows none.
	args string
	// like names another program of the same table whose opts come first.
	like  string
	style style
	// alone lists words that make the call a read where they are the only one, whatever the class: "--version".
	alone string
	// env lists variables that change what the program does.
	env string
	// sub are the subcommands; options before them are this program's own.
	sub []program
	// check judges what a table cannot say. With raw it reads c.args itself; otherwise after parsing.
	check func(c *call)
	raw   bool
	// calm says that check needs no certain operands.
	calm bool
}

type style uint8

const (
	first    style = 1 << iota // options end at the first operand
	exact                      // long options may not be abbreviated
	dashlong                   // -name is a long option, there are no clusters
	inherit                    // the options of the program hold for its subcommands too, before and after them
	pages                      // shows its output in a pager where somebody watches
)

// families are all tables. A name stands in one of them only.
func families() [][]program {
	return [][]program{
		readers, filters, languages, processes, systemInfo, services, network, remotes, disks, packages, containers,
		orchestrators, gits, databases, archives, editors, interpreters, wrappers, tracers, changers, accounts, power,
		firewalls, builders, secrets, clouds, harmless,
	}
}

// An entry compiles its program when somebody first asks for it: a short run asks for few.
type entry struct {
	program *program
	name    string
	table   []program
	once    sync.Once
	node    *node
}

func (e *entry) get() *node {
	e.once.Do(func() { e.node = compile(e.table, e.program, e.name, e.name, nil) })
	return e.node
}

var index = sync.OnceValue(func() map[string]*entry {
	all := make(map[string]*entry, 1024)
	for _, table := range families() {
		for i := range table {
			for name := range strings.SplitSeq(table[i].name, "|") {
				if all[name] != nil {
					panic("programs: " + name + " stands in two tables")
				}
				all[name] = &entry{program: &table[i], name: name, table: table}
			}
		}
	}
	return all
})

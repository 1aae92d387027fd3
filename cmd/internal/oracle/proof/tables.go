package proof

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Spec is what the generator of commands needs to know of one program or subcommand. [FromTables] is all that knows the
// form of the tables.
type Spec struct {
	Program string   // the first word
	Words   []string // program and subcommand
	Options []Opt
	Alone   []string // words that are tried as the only one
	Coded   bool     // its words are read by code: the options say little, and every letter is tried
}

// Opt is one option of a [Spec].
type Opt struct {
	Names    []string
	Value    bool
	Optional bool
}

// FromTables lists the programs that the judge's tables know, and the builtins of shells.
func FromTables() []Spec {
	var out []Spec
	var add func(r programs.Row)
	add = func(r programs.Row) {
		words := strings.Fields(r.Name)
		s := Spec{Program: words[0], Words: words, Alone: strings.Fields(r.Alone), Coded: r.Read}
		for _, o := range r.Options {
			if o.Class == policy.ReadOnly || o.Class == policy.Unknown || o.Class == "" { // of the others the judge is sure
				s.Options = append(s.Options, Opt{o.Names, o.Value != "", o.Optional})
			}
		}
		out = append(out, s)
		for _, sub := range r.Sub {
			add(sub)
		}
	}
	for _, r := range programs.Rows() {
		add(r)
	}
	for _, name := range builtins {
		if !slices.ContainsFunc(out, func(s Spec) bool { return s.Program == name }) {
			out = append(out, Spec{Program: name, Words: []string{name}, Coded: true})
		}
	}
	return out
}

// builtins are the words that package judge reads itself.
var builtins = strings.Fields(`: true false echo times break continue return caller pwd dirs jobs type whence where help wait hash
	umask ulimit limit alias shopt trap complete enable set export readonly declare typeset history fc printf print test [ kill cd chdir
	read exit logout bye eval source . command builtin exec noglob nocorrect - local unset unalias setopt unsetopt emulate zmodload
	autoload functions integer float let shift getopts mapfile readarray compgen bind pushd popd fg bg disown suspend unhash hist`)

package programs_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// What the tables say of every option of every program and subcommand, in every form in which it can be written. A row has the first
// letters of the classes of [operandForms], the options by class, and a hash over the whole findings.
func TestFindingsAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/findings.tsv")
	var walk func(r programs.Row, chain []string)
	walk = func(r programs.Row, chain []string) {
		if key := strings.Join(chain, " "); f.Due(key) {
			f.Check(key, found(r, chain))
		}
		for _, s := range r.Sub {
			walk(s, append(slices.Clip(chain), s.Name[strings.LastIndexByte(s.Name, ' ')+1:]))
		}
	}
	for _, r := range programs.Rows() {
		walk(r, []string{r.Name})
	}
}

// abroad are words that are not literal, by how they are written.
var abroad = map[string]programs.Arg{
	`"$x"`:   {Source: `"$x"`},
	"$x":     {Split: true, Source: "$x"},
	"*":      {Glob: true, Source: "*"},
	"a*":     {Text: "a", Glob: true, Source: "a*"},
	`-"$x"`:  {Text: "-", Source: `-"$x"`},
	`--a=$x`: {Text: "--a=", Split: true, Source: "--a=$x"},
	`/a"$x"`: {Text: "/a", Source: `/a"$x"`},
}

// operandForms are what may stand where operands stand.
var operandForms = strings.Split(`

f
f g
f g h
--
-- f
-- -x
-
/etc/shadow
a=b
h:f
http://h/p
192.0.2.1
@f
+x
1
ls
ls -l
f -- -x
$x
"$x"
*
a*
-"$x"
--a=$x
/a"$x"
f "$x"
"$x" f
$x $x
--help
--version
-h
-V
--xyzzy
-~
''`, "\n")[1:]

func found(r programs.Row, chain []string) string {
	var classes []policy.Class
	names := map[policy.Class][]string{}
	all := fnv.New32a()
	judge := func(label string, words ...string) policy.Class {
		c := programs.Call{Name: chain[0], Args: literals(chain[1:]...), Direct: len(words)%2 == 0}
		for _, w := range words {
			a, ok := abroad[w]
			if !ok {
				a = programs.Arg{Text: strings.Trim(w, "'"), Literal: true, Source: w}
			}
			c.Args = append(c.Args, a)
		}
		got := programs.Judge(c)
		fmt.Fprintf(all, "%q %s\n", words, printed(got))
		if label != "" {
			if names[got.Class] == nil {
				classes = append(classes, got.Class)
			}
			names[got.Class] = append(names[got.Class], label)
		}
		return got.Class
	}
	var operands strings.Builder // by the first letters of their classes
	for _, s := range operandForms {
		operands.WriteByte(judge("", strings.Fields(s)...)[0])
	}
	for _, c := range []programs.Call{
		{Interactive: true}, {Bounded: true}, {Stdin: "pipe"}, {Stdin: "none"}, {Stdin: "file"}, {Stdin: "heredoc"}, {Shell: "bash"}, {Shell: "zsh"},
	} {
		c.Name = chain[0]
		for _, words := range [][]string{nil, {"f"}, {"-"}} {
			c.Args = append(literals(chain[1:]...), literals(words...)...)
			fmt.Fprintln(all, printed(programs.Judge(c)))
		}
	}
	for _, o := range r.Options {
		for _, name := range o.Names {
			if name == "-#" {
				judge(name, "-12", "f")
				judge("", "-1a", "f")
				continue
			}
			judge(name, name, "v", "f")
			judge("", name)
			judge("", name, "f")
			judge("", name, "$x", "f")
			judge("", name, `"$x"`, "f")
			judge("", "f", name, "v")
			judge("", name, "/etc/shadow", "f", "g")
			judge("", "--", name, "v")
			judge("", name, "v", name, "w")
			if strings.HasPrefix(name, "--") {
				judge("", name+"=v", "f")
				judge("", name+"=", "f")
				judge("", name[:len(name)-1], "v", "f")
			} else {
				judge("", name+"v", "f")
				judge("", name+"x~", "f")
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s; ", operands.String())
	for _, c := range classes {
		fmt.Fprintf(&b, "%s: %s; ", c, strings.Join(names[c], " "))
	}
	return b.String() + strconv.FormatUint(uint64(all.Sum32()), 36)
}

// printed is a finding as text. What few have is left out of the others.
func printed(f programs.Finding) string {
	return strings.NewReplacer(" Texts:[]", "", " Trees:[]", "").Replace(fmt.Sprintf("%+v", f))
}

package programs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// byTable checks lines of "class | words" by a table of its own; "$x" is a quoted variable, $x one that is not, and a
// word with a star a pattern.
func byTable(t *testing.T, table, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		want, words, _ := strings.Cut(strings.TrimSpace(line), " |")
		c := programs.Call{Name: "p"}
		for w := range strings.FieldsSeq(words) {
			a := programs.Arg{Text: w, Literal: true, Source: w}
			if before, _, ok := strings.Cut(w, `"$x"`); ok {
				a.Text, a.Literal = before, false
			} else if before, _, ok := strings.Cut(w, "$x"); ok {
				a.Text, a.Literal, a.Split = before, false, true
			} else if before, _, ok := strings.Cut(w, "*"); ok {
				a.Text, a.Literal, a.Glob = before, false, true
			}
			c.Args = append(c.Args, a)
		}
		got := programs.JudgeIn(table, c)
		assert.Equal(t, policy.Class(want), got.Class, "p %s: %s", words, got.Reason)
	}
}

func TestAProgramWhoseTableHasAMistakeIsUnknown(t *testing.T) {
	byTable(t, "program p\n\tform ANY\n\tclass nice\n", `
		unknown |
		unknown | x
	`)
}

func TestValuesOfOptionsAreTakenAsTheTableSays(t *testing.T) {
	byTable(t, "program p\n\t-a -b=text -c?text -d=write -#\n\t--long=text --lone --opt?text\n\t-e=pair -f=pairread\n\toperands read!danger\n", `
		read-only | -ab x
		read-only | -abx
		read-only | -12a
		read-only | -0
		read-only | -9
		read-only | -109a
		unknown | -12:
		unknown | -+
		unknown | -1+
		read-only | -c
		read-only | -cx
		dangerous | -c x
		write | -d x
		write | -adx
		unknown | -b
		unknown | -aé
		unknown | -:
		unknown | -x
		unknown | -ax
		read-only | --long x
		read-only | --long=x
		unknown | --long
		read-only | --lone
		unknown | --lone=x
		unknown | --lo
		unknown | --lon
		read-only | --op
		read-only | --opt
		dangerous | --opt x
		unknown | --long $x
		unknown | --long *
		dangerous | --long"$x"
		dangerous | --lone="$x"
		dangerous | --none="$x"
		read-only | --long="$x"
		dangerous | -b="$x"
		read-only | -e x y
		unknown | -e x
		unknown | -e x $x
		unknown | -e x *
		read-only | -e x "$x"
		dangerous | -- -x
		dangerous | x y
	`)
	byTable(t, "program p\n\t-a\n\t-1=write\n", "write | -1 x\nunknown | -2\nunknown | -a1")
}

func TestStylesDecideWhatIsAnOption(t *testing.T) {
	byTable(t, "program p\n\tstyle first\n\t-a\n\t-d!danger\n\toperands text...\n", `
		read-only | -a x -d
		dangerous | -d x
		read-only | x y -d z
	`)
	byTable(t, "program p\n\tstyle exact\n\t--long\n", "read-only | --long\nunknown | --lon")
	byTable(t, "program p\n\tstyle dashlong\n\t-long -l=text\n\t-set!danger\n", `
		read-only | -long
		read-only | --long
		unknown | -lon
		read-only | -l x
		dangerous | -set
		dangerous | --set
		unknown | -lx
	`)
	byTable(t, "program p\n\tstyle dashlong exact\n\t-long\n", "read-only | -long\nunknown | --long")
	byTable(t, "program p\n\tstyle assign\n\t-if=read -of=write\n\toperands text\n", `
		read-only | if=a
		write | of=b
		write | of="$x"
		unknown | of$x=b
		unknown | bs=1
		read-only | x
	`)
	byTable(t, "program p\n\tstyle bundle\n\t-a -x!danger -f=read -o?text -C=text\n\toperands text...\n", `
		read-only | af f x
		dangerous | xf f
		dangerous | afx f
		read-only | afC f dir
		unknown | afC f
		unknown | af
		unknown | az
		unknown | aé
		read-only | ao x
		read-only | ao
		read-only | -af f
	`)
	byTable(t, "program p\n\tstyle open\n\t-a\n\toperands read...\n", "read-only | $x\nread-only | *\nunknown | -z")
	byTable(t, "program p\n\t-a\n\t-d!danger\n\tsub s\n\t\t-b\n", "read-only | -a s -b\nunknown | s -a\ndangerous | -d s")
	byTable(t, "program p\n\tstyle inherit\n\t-a\n\t-d!danger\n\tif -a: write b\n\tsub s\n\t\t-b\n\t\tif -a: danger b\n", "dangerous | s -d\ndangerous | s -b -a\ndangerous | -a s\nread-only | s -b")
	byTable(t, "program p\n\t-a\n\tsub s\n\t\t-b -a\n\t\tif -a: danger b\n", "read-only | -a s\ndangerous | s -a")
	byTable(t, "program p\n\t-a\n\tsub s\n\t\t-b\n\t\tif -b: danger b\n", "read-only | -a s\ndangerous | s -b")
	byTable(t, "program p\n\tstyle open\n\t-a\n\toperands read...\n", "read-only | -\"$x\"")
	byTable(t, "program p\n\tclass write\n\tstyle open\n\t-a\n\toperands read...\n", "unknown | -\"$x\"\nwrite | \"$x\"")
	byTable(t, "program p\n\tclass write\n\t-v=text\n\tif -v=x: write b\n", "write | -v \"$x\"")
}

// The command that an operand begins is reported once, with all of its words.
func TestACommandIsReportedOnce(t *testing.T) {
	for _, kind := range []string{"rest", "away"} {
		for _, table := range []string{"", "\tstyle first\n", "\t-x=text^\n"} {
			for words, want := range map[string]string{"a b -c d": "b -c d", "a -- b -c": "b -c", "-- a b": "b", "a b": "b", "a": ""} {
				if strings.Contains(table, "first") && strings.Contains(words, " -- ") {
					continue // "--" is an operand there
				}
				if strings.Contains(table, "-x") {
					words = "-x " + words
					if want = strings.TrimPrefix(strings.TrimPrefix(words, "-x a "), "-- "); strings.HasPrefix(words, "-x --") || words == "-x a" {
						continue
					}
				}
				got := programs.JudgeIn("program p\n"+table+"\toperands text "+kind+"\n", programs.Call{Name: "p", Args: literals(strings.Fields(words)...)})
				if want == "" {
					assert.Empty(t, got.Nested, words)
					continue
				}
				if assert.Len(t, got.Nested, 1, words) {
					assert.Equal(t, literals(strings.Fields(want)...), got.Nested[0].Argv, "%s with %q", words, table)
					assert.Equal(t, kind == "away", got.Nested[0].Remote)
				}
			}
		}
	}
}

func TestOperandsHaveTheKindsThatTheTableLists(t *testing.T) {
	byTable(t, "program p\n\toperands text write\n", "read-only | x\nwrite | x y\nunknown | x y z\nunknown | $x\nunknown | x $x\nunknown | *")
	byTable(t, "program p\n\toperands text...\n", "read-only | x y z\nunknown | ./$x\nread-only | ./\"$x\"")
	byTable(t, "program p\n\t-e=text^\n\toperands text!danger read...\n", "dangerous | x\nread-only | -e x y\nread-only | -ex y z")
	byTable(t, "program p\n\tclass write\n", "write | -z\nwrite | --zzz")
	byTable(t, "program p\n\tclass write\n\t-a\n", "write | -a\nunknown | -z")
	byTable(t, "program p\n\tclass secret\n", "unknown | -z")
}

func TestAnOptionInPlaceOfTheFirstOperand(t *testing.T) {
	byTable(t, "program p\n\t-e=text^\n\toperands text!danger read write\n", "read-only | -e x y\nwrite | -e x y z\ndangerous | x")
	byTable(t, "program p\n\t--long,--lonely\n", "read-only | --lon")
	byTable(t, "program p\n\tclass write\n\t-v=text\n\tif -v=x: write b\n", "write | -v a\"$x\"")
	got := programs.JudgeIn("program p\n\t-x=cmd\n", programs.Call{Name: "p", Args: literals("-x", "reboot")})
	if assert.Len(t, got.Nested, 1) {
		assert.Equal(t, literals("reboot"), got.Nested[0].Argv)
	}
	typed := "program p\n\tif typed: danger b\n"
	assert.Equal(t, policy.ReadOnly, programs.JudgeIn(typed, programs.Call{Name: "p"}).Class)
	assert.Equal(t, policy.Dangerous, programs.JudgeIn(typed, programs.Call{Name: "p", Interactive: true}).Class)
}

func TestConditionsHoldWhereTheyMustAndMayWhereNobodyKnows(t *testing.T) {
	byTable(t, "program p\n\t-a -b -v=text\n\tif -a|-b: danger b\n\toperands text...\n", "dangerous | -a\ndangerous | -b\nread-only | x")
	byTable(t, "program p\n\t-a -b\n\tif !-a|-b: danger b\n", "read-only | -a\nread-only | -b\ndangerous |")
	byTable(t, "program p\n\t-v=text\n\tif -v=on|o?f|x*: danger b\n", `
		dangerous | -v on
		dangerous | -v off
		dangerous | -vxyz
		read-only | -v no
		read-only | -v on1
		unknown | -v $x
		unknown | -v "$x"
		unknown | -v o"$x"
		dangerous | -v xy"$x"
		dangerous | -v x"$x"
		read-only | -v a"$x"
		unknown | -v of"$x"
		unknown | -v off"$x"
		unknown | -v o*
		dangerous | -v xa*
	`)
	byTable(t, "program p\n\t-v=text\n\tif -v!=a|b*: danger b\n", "read-only | -v a\nread-only | -v bc\ndangerous | -v c\nread-only | -v bc\"$x\"\nunknown | -v \"$x\"")
	byTable(t, "program p\n\t-v=text\n\tif -v~a|b: danger b\n", "dangerous | -v x,a\ndangerous | -v b\nread-only | -v ab,c\nunknown | -v c\"$x\"")
	byTable(t, "program p\n\tif 1=go 2!=slow: danger b\n\toperands text...\n", "read-only | go\ndangerous | go fast\nread-only | go slow\nread-only | x fast")
	byTable(t, "program p\n\tif any=x: danger b\n\toperands text...\n", "dangerous | a x\nread-only | a b")
	byTable(t, "program p\n\t-v=text\n\tif word=x: danger b\n\toperands text...\n", "dangerous | -v x\ndangerous | x\nread-only | -v y")
	byTable(t, "program p\n\tif operands>2: danger b\n\toperands text...\n", "read-only | a b\ndangerous | a b c")
	byTable(t, "program p\n\tif operands: danger b\n\toperands text...\n", "read-only |\ndangerous | a")
	byTable(t, "program p\n\tif none: danger b\n\toperands text...\n", "dangerous |\nread-only | a")
}

func TestARuleSaysWhatIsWritten(t *testing.T) {
	for table, want := range map[string]string{
		"program p\n\t-w\n\tif -w: write=operands b\n\toperands read...\n":              "a b",
		"program p\n\t-w\n\tif -w: write=last b\n\toperands read...\n":                  "b",
		"program p\n\t-w\n\t-o=text\n\tif -w: write=-o b\n\toperands read...\n":         "c",
		"program p\n\t-w\n\t-o=read\n\tif -w: write=last b\n\toperands text...\n":       "b",
		"program p\n\t-w\n\t-o=text\n\tif -w: write b\n\toperands read...\n":            "",
		"program p\n\t-w!write\n\t-o=text\n\tif -w: write=last b\n\toperands read...\n": "b",
	} {
		c := programs.Call{Name: "p"}
		for _, w := range []string{"-w", "-o", "c", "a", "b"} {
			if strings.Contains(table, "-o=") || w != "-o" && w != "c" {
				c.Args = append(c.Args, programs.Arg{Text: w, Literal: true, Source: w})
			}
		}
		got := programs.JudgeIn(table, c)
		assert.Equal(t, policy.Write, got.Class, table)
		var written []string
		seen := map[string]int{}
		for _, p := range got.Paths {
			if seen[p.Arg.Text]++; p.Write {
				written = append(written, p.Arg.Text)
			}
		}
		assert.Equal(t, want, strings.Join(written, " "), table)
		assert.Equal(t, strings.Contains(table, "-o=read") || strings.Contains(table, "=-o"), seen["c"] > 0, table)
		for name, n := range seen {
			assert.Equal(t, 1, n, "%s is there twice: %s", name, table)
		}
	}
}

func TestAFormIsAWholeCall(t *testing.T) {
	byTable(t, "program p\n\tclass danger\n\tstyle words\n\tform show|list [-v] NAME... NUMBER\n\tform cat FILE\n\tform any ANY\n\tform arg ARG\n\tform lit WORD\n\tform set-* x\n\tform!write put NAME\n", `
		read-only | show a 1
		read-only | list -v a b 12
		dangerous | show 1
		dangerous | show a b
		dangerous | show a 1 x;
		dangerous | show a 1x
		dangerous | show -a 1
		dangerous | show a;b 1
		dangerous | show a"$x" 1
		read-only | cat f
		read-only | cat ./"$x"
		dangerous | cat "$x"
		dangerous | cat -f
		read-only | any -f
		read-only | any $x
		read-only | arg x"$x"
		dangerous | arg -x
		read-only | lit x;y
		dangerous | lit x"$x"
		dangerous | lit -x
		read-only | set-a x
		dangerous | set-a/../b x
		dangerous | set x
		dangerous | put -x
	`)
	got := programs.JudgeIn("program p\n\tform cat FILE\n\tform x WORD\n", programs.Call{Name: "p", Args: []programs.Arg{{Text: "cat", Literal: true}, {Text: "f", Literal: true}}})
	assert.Len(t, got.Paths, 2, "the words that may be files, the verb among them")
	assert.False(t, got.Paths[1].Write)
	got = programs.JudgeIn("program p\n\tform cat FILE\n\tform x WORD\n", programs.Call{Name: "p", Args: []programs.Arg{{Text: "x", Literal: true}, {Text: "f", Literal: true}}})
	assert.Empty(t, got.Paths)
}

func TestTheReasonIsTheTablesOwnOrSaysTheClass(t *testing.T) {
	judge := func(table string) string { return programs.JudgeIn(table, programs.Call{Name: "p"}).Reason }
	assert.Equal(t, "p pages", judge("program p\n\tclass unknown pages\n"))
	assert.Equal(t, "p stops or removes what others rely on", judge("program p\n\tclass danger\n"))
	assert.Equal(t, "p changes nothing", judge("program p\n\tform x\n"))
	assert.Equal(t, "p first", judge("program p\n\tif none: write first\n\tif none: write second\n"), "of two that are equal, the first")
	assert.Equal(t, "p second", judge("program p\n\tif none: write first\n\tif none: danger second\n"))
}

func TestToInstallIsWorseThanAnythingButWhatIsForbidden(t *testing.T) {
	got := programs.JudgeIn("program p\n\tclass priv\n\tif none: install installs\n", programs.Call{Name: "p"})
	assert.Equal(t, policy.Forbidden, got.Class)
	assert.Equal(t, programs.RulePackageInstall, got.Rule)
}

// A command or source that a program runs is never empty: who judges it would find nothing to object to.
func TestNothingIsRunThatIsEmpty(t *testing.T) {
	lit := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	for _, name := range programs.Names() {
		for _, words := range [][]programs.Arg{nil, {lit("x")}, {lit("--")}, {lit("-c"), lit(`$0`), lit("x")}, {lit("exec"), lit("web")}, {lit("run"), lit("--entrypoint"), lit("x")}} {
			for _, n := range programs.Judge(programs.Call{Name: name, Args: words}).Nested {
				assert.True(t, len(n.Argv) > 0 || len(n.Script) > 0, "%s %v", name, words)
			}
		}
	}
}

// Whatever source is not literal makes its call unknown by itself, without the judgement of what it runs.
func TestSourceThatIsNotLiteralIsUnknown(t *testing.T) {
	lit := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	variable := programs.Arg{Text: "ls ", Source: `"ls $x"`}
	for _, words := range [][]programs.Arg{{lit("sh"), lit("-c"), variable}, {lit("bash"), lit("-c"), variable}} {
		assert.Equal(t, policy.Unknown, programs.Judge(programs.Call{Name: words[0].Text, Args: words[1:]}).Class, words)
	}
}

package programs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestEveryTableIsWithoutMistakes(t *testing.T) {
	for _, err := range programs.Problems() {
		assert.NoError(t, err)
	}
	t.Log(len(programs.Names()), "programs")
}

func TestEveryProgramSaysWhereItIsKnownFrom(t *testing.T) {
	for _, name := range programs.Names() {
		table, ok := programs.Lookup(name)
		assert.True(t, ok, name)
		assert.NotEmpty(t, table.From, "%s (%s:%d) names no manual", name, table.File, table.Line)
		assert.Contains(t, table.Text, "\tfrom "+table.From, name)
		assert.Contains(t, strings.Fields(table.Text), name)
	}
	_, ok := programs.Lookup("frobnicate")
	assert.False(t, ok)
}

func TestRowsListWhatTheTablesKnow(t *testing.T) {
	rows := programs.Rows()
	assert.Len(t, rows, len(programs.Names()))
	for _, r := range rows {
		assert.True(t, slices.IsSortedFunc(r.Sub, func(a, b programs.Row) int { return strings.Compare(a.Name, b.Name) }), "%s: its subcommands", r.Name)
		if r.Name == "zramctl" {
			assert.True(t, r.Read)
		}
		if r.Name == "jstat" {
			assert.Equal(t, "-options", r.Alone)
		}
		if r.Name == "tail" {
			assert.Contains(t, r.Options, programs.Option{Names: []string{"-F"}, Class: policy.Unknown})
		}
	}
}

func TestAMistakeInATableNamesItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"program a\n\t-x=nonsense\n":                        "t.txt:2: -x=nonsense has no kind of value that is known",
		"program a\n\t-x!harmful\n":                         "t.txt:2: harmful is not a class",
		"program a\n\tform!nice x\n":                        "t.txt:2: form!nice is nothing that a table says",
		"program a\n\t-a,b\n":                               "t.txt:2: -a,b is not an option",
		"program a\n\n\tx\n":                                "t.txt:3: x is nothing that a table says",
		"program a\n\tclass nice\n":                         "t.txt:2: nice is not a class",
		"program a\n\tstyle nice\n":                         "t.txt:2: nice is not a style",
		"program a\n\tuse b\n":                              "t.txt:2: b is not a set",
		"program a\n\tcheck b\n":                            "t.txt:2: b is not a check",
		"program a\n\toperands b\n":                         "t.txt:2: b is not a kind of operand",
		"program a\n\tif -x: write b\n":                     "t.txt:2: -x is not an option of this program",
		"program a\n\tif x: write b\n":                      "t.txt:2: x is not a condition",
		"program a\n\tif none write\n":                      "t.txt:2: want if CONDITION…: CLASS WHY",
		"program a\n\tif none: nice x\n":                    "t.txt:2: want if CONDITION…: CLASS WHY",
		"program a\n\tfrom x\n\t\t-b\n":                     "t.txt:2: only sub has lines below it",
		"program a\n\tsub b\n\t\t-x!harmful\n":              "t.txt:3: harmful is not a class",
		"program a\n\tsub b b\n":                            "t.txt:2: b is there twice",
		"program a\n\tfrom x\nprogram b a\n":                "t.txt:3: a is in t.txt:1 already",
		"programs a\n":                                      `t.txt:1: a block begins with program, builtin, set or are, not "programs"`,
		"# nothing\n\nset x\n\t-a\nset x\n\t-a\n":           "t.txt:5: x is in t.txt:3 already",
		"program a\n\tif operands: write=-y b\n\t-x=text\n": "t.txt:2: -y is not an option of this program",
	} {
		assert.ErrorContains(t, programs.Parse("t.txt", text), want, text)
	}
}

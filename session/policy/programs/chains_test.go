package programs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// What an option does that no table lists, nobody can tell: wherever it stands before a subcommand, the call is no read.
func TestNoUnlistedOptionStandsInAChainOfSubcommands(t *testing.T) {
	chains := 0
	var walk func(r programs.Row, chain []string)
	walk = func(r programs.Row, chain []string) {
		for _, s := range r.Sub {
			next := append(slices.Clone(chain), s.Name[strings.LastIndexByte(s.Name, ' ')+1:])
			for at := 1; at <= len(next); at++ {
				for _, strange := range []string{"--xyzzy-plugh", "-~", "--xyzzy-plugh=x", "-~x"} {
					words := slices.Insert(slices.Clone(next), at, strange)
					if at == len(next) && s.Read {
						continue // it reads its words by itself
					}
					chains++
					got := programs.Judge(programs.Call{Name: words[0], Args: literals(words[1:]...)})
					assert.False(t, looks(got.Class), "%s: %s %s", strings.Join(words, " "), got.Class, got.Reason)
				}
			}
			walk(s, next)
		}
	}
	for _, r := range programs.Rows() {
		walk(r, []string{r.Name})
	}
	assert.Greater(t, chains, 2000)
}

func looks(c policy.Class) bool {
	return c == policy.ReadOnly || c == policy.NetworkRead
}

func TestAProgramThatListsNoOptionsKnowsNoneBeforeASubcommand(t *testing.T) {
	byTable(t, "program p\n\tclass write\n\tsub look\n\t\t-a\n\tsub make\n\t\tclass write\n", `
		read-only | look
		read-only | look -a
		read-only | --help look
		unknown | -x look
		unknown | --x look
		unknown | --x=y look
		unknown | -x make
		unknown | -x
		write |
		write | make -x
	`)
}

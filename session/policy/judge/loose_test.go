package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What the shell may split into several words may name files: a line of a file says "-h root /etc/shadow".
func TestWordsThatMaySplitMayNameFiles(t *testing.T) {
	for script, want := range map[string]policy.Class{
		`x=$(head -1 l); grep $x f`:           policy.Unknown,
		`x=$(head -1 l); dpkg -l | grep $x`:   policy.Unknown,
		`x=$(head -1 l); head -n $x f`:        policy.Unknown,
		`x=$(head -1 l); grep -f"$x" f`:       policy.Unknown,
		`x=$(head -1 l); grep --file=$x f`:    policy.Unknown,
		`x=$(head -1 l); last -f$x`:           policy.Unknown,
		`while read -r x; do grep $x f; done`: policy.Unknown,
		`x=$(head -1 l); grep "$x" f`:         policy.ReadOnly,
		`x=$(head -1 l); grep -e "$x" f`:      policy.ReadOnly,
		`x=$(head -1 l); ls $x`:               policy.ReadOnly, // shows no content
		`x=$(head -1 l); echo $x | wc -l`:     policy.ReadOnly,
		`x=a; grep $x f`:                      policy.ReadOnly,
		`for x in a b; do grep $x f; done`:    policy.ReadOnly,
		`find / -name shadow | while read -r f; do x=$(cat "$f"); echo "$x"; done`: policy.SensitiveRead,
		`find / -name shadow | while read -r f; do diff <(cat "$f") x; done`:       policy.SensitiveRead,
		`ls /etc/shadow | while read -r f; do cat <"$f"; done`:                     policy.SensitiveRead,
		`ls /srv/*.gz | while IFS= read -r f; do zcat "$f" | wc -l; done`:          policy.ReadOnly,
	} {
		rep := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, want, rep.Class, "%s: %s", script, rep.Reason)
	}
}

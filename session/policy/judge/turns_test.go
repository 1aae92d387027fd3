package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What a loop does depends on its words, so it is judged with each of them.
func TestLoopsAreJudgedWithEachOfTheirWords(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprint("/d", i))
	}
	list := strings.Join(many, " ")
	for script, want := range map[string]policy.Class{
		`for s in nginx redis; do systemctl is-active $s; done`:                          policy.ReadOnly,
		`for s in nginx redis; do printf "%s: " "$s"; ps -C $s -o pid; done`:             policy.ReadOnly,
		`for s in nginx redis; do journalctl -u $s -n 5 --no-pager; done`:                policy.ReadOnly,
		`for d in /srv/*; do git -C "$d" log -1; done`:                                   policy.ReadOnly,
		`for d in /srv/*/; do cat "$d/VERSION"; done`:                                    policy.ReadOnly,
		`for q in "a b" "c d"; do grep -c "$q" /var/log/syslog; done`:                    policy.ReadOnly,
		`for i in {1..40}; do head -n1 /var/log/x.$i; done`:                              policy.ReadOnly,
		`for d in ` + list + `; do cat $d; done`:                                         policy.ReadOnly,
		`for d in ` + list + `; do cat $d/x; done`:                                       policy.Unknown,
		`for d in ` + list + ` /etc; do cat $d/shadow; done`:                             policy.Unknown,
		`for x in /etc; do cat $x/shadow; done`:                                          policy.SensitiveRead,
		`for x in /a /etc /b; do cat "$x"/sh*; done`:                                     policy.SensitiveRead,
		`for x in /*; do cat "$x/shadow"; done`:                                          policy.SensitiveRead,
		`for x in /etc; do cat < $x/shadow; done`:                                        policy.SensitiveRead,
		`for x in /etc; do grep -r . $x; done`:                                           policy.SensitiveRead,
		`for x in ~/.ssh; do cat $x/*; done`:                                             policy.SensitiveRead,
		`for x in /etc; do for y in a shadow; do cat $x/$y; done; done`:                  policy.SensitiveRead,
		`for x in "/etc/shad?w"; do grep --file="$x" y z; done`:                          policy.SensitiveRead,
		`for x in "a /etc/shadow"; do cat $x; done`:                                      policy.Unknown,
		`for s in nginx -H; do systemctl is-active $s; done`:                             policy.Unknown,
		`for s in a "b -H"; do systemctl is-active $s; done`:                             policy.Unknown,
		`for s in ''; do systemctl is-active $s x; done`:                                 policy.Unknown,
		`for x in cf; do tar $x -t f; done`:                                              policy.Write,
		`for x in "c*"; do tar "$x" -t f; done`:                                          policy.Unknown,
		`for x in e; do ps $x; done`:                                                     policy.SensitiveRead,
		`for x in "e*"; do ps "$x"; done`:                                                policy.Unknown,
		`for x in "o?"; do dd if=/dev/null "$x"; done`:                                   policy.Unknown,
		`for x in a; do x=-oy; sort $x f; done`:                                          policy.Write,
		`for x in f; do sort $x g; x=-oy; done`:                                          policy.Unknown,
		`for d in /srv /; do rm -rf "$d"; done`:                                          policy.Forbidden,
		`for x in etc shadow; do cd /; cat $x; done`:                                     policy.SensitiveRead,
		`for x in ls touch; do $x a; done`:                                               policy.Write,
		`for x in 1 2; do for y in 1 2; do for z in 1 2; do ls $x$y$z; done; done; done`: policy.ReadOnly,
	} {
		rep := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, want, rep.Class, "%.60q: %s %s", script, rep.Rule, rep.Reason)
	}
}

func TestTurnsOfALoopThatAreAlikeAreReportedOnce(t *testing.T) {
	rep := judge.Judge(judge.Request{Script: `for x in a b c; do cat $x; done; for x in a /etc/shadow; do cat $x; done`, Shell: "bash"})
	assert.Len(t, rep.Parts[0].Parts, 1)
	assert.Len(t, rep.Parts[1].Parts, 2)
}

// A name that the script itself sets, always and before it is used, does not rest on what the session set.
func TestNamesThatAScriptSetsBeforeItUsesThem(t *testing.T) {
	for script, rests := range map[string]bool{
		`for f in *; do ls "$f"; done`:               false,
		`for f in $(cat l); do ls "$f"; done`:        false,
		`f=$(cat l); ls "$f"`:                        false,
		`f=/v; ls $f`:                                false,
		`while read -r f; do ls "$f"; done <l`:       false,
		`ls "$f"`:                                    true,
		`ls "$f"; f=/v`:                              true,
		`[ -e x ] && f=/v; ls "$f"`:                  true,
		`read -r f <l; ls "$f"`:                      true, // without l nothing is read
		`echo a | read -r f; ls "$f"`:                true,
		`(f=/v); ls "$f"`:                            true,
		`f=/v ls "$f"`:                               true,
		`f=/v; ls "${f:-x}"`:                         true,
		`for f in a; do :; done; ls "$f"`:            true,
		`f=/v; sh -c 'ls "$f"'`:                      true,
		`while read -r x; do ls "$f"; f=$x; done <l`: true,
		`f=/v & ls "$f"`:                             true,
		`f=/v >x; ls "$f"`:                           true,
	} {
		rep := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		_, got := rep.UsesAny([]string{"f"})
		assert.Equal(t, rests, got, script)
	}
}

package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestWhatIsCertainOfVariables(t *testing.T) {
	for script, want := range map[string]policy.Class{
		`f=/var/log/syslog; tail -n5 "$f"; wc -l $f`:         policy.ReadOnly,
		`d=/var/log; tail "$d/syslog"`:                       policy.ReadOnly,
		`d=/var/log; f="$d/nginx/error.log"; tail -n 3 "$f"`: policy.ReadOnly,
		`f=/v && cat "$f"`:                                   policy.ReadOnly,
		`f=/v || cat "$f"`:                                   policy.ReadOnly,
		`ls && f=/v && cat "$f"`:                             policy.ReadOnly,
		`if ls; then f=/v; cat "$f"; fi`:                     policy.ReadOnly,
		`f=/v; while read -r x; do grep "$x" "$f"; done <l`:  policy.ReadOnly,
		`f=/v; x=$f; cat "$x"`:                               policy.ReadOnly,
		`o=-la; ls $o /srv`:                                  policy.ReadOnly,
		`c=ls; $c /srv`:                                      policy.ReadOnly,
		`svc=nginx; systemctl status $svc --no-pager; journalctl -u "$svc" --no-pager`: policy.ReadOnly,
		`pid=123; cat /proc/$pid/status`:                                               policy.ReadOnly,
		`for f in a*; do cat "$f"; done`:                                               policy.ReadOnly,
		`f=/etc/shadow; cat "$f"`:                                                      policy.SensitiveRead,
		`d=/etc; cat $d/shadow`:                                                        policy.SensitiveRead,
		`f=shadow; cd /etc; cat "$f"`:                                                  policy.SensitiveRead,
		`c=cat; $c /etc/shadow`:                                                        policy.SensitiveRead,
		`pid=123; cat /proc/$pid/environ`:                                              policy.SensitiveRead,
		`n=touch; $n pwned`:                                                            policy.Write,
		`n=-opwned; sort $n f`:                                                         policy.Write,
		`f=-rf; rm $f x`:                                                               policy.Dangerous,
		`d=/; rm -rf $d`:                                                               policy.Forbidden,
		`false && f=/v; cat "$f"`:                                                      policy.Unknown,
		`true || f=/v; cat "$f"`:                                                       policy.Unknown,
		`ls || f=/v && cat "$f"`:                                                       policy.Unknown,
		`if ls; then f=/v; fi; cat "$f"`:                                               policy.Unknown,
		`if ls; then f=/v; else cat "$f"; fi`:                                          policy.Unknown,
		`if ls; then f=/v; elif ls; then cat "$f"; fi`:                                 policy.Unknown,
		`f=/v; if ls; then f=$(cat list); fi; cat "$f"`:                                policy.Unknown,
		`f=/v; while read -r x; do cat "$f"; f=$(cat list); done <l`:                   policy.Unknown,
		`f=/v; while read -r f; do cat "$f"; done <l`:                                  policy.Unknown,
		`f=/v; while read -r f; do :; done <l; cat $f`:                                 policy.Unknown,
		`f=/v; for f in $(cat list); do cat "$f"; done`:                                policy.Unknown,
		`f=/v; for x in 1 2; do cat "$f"; f=$(cat list); done`:                         policy.Unknown,
		`f=/v; for x in 1 2; do cat "$f"; for f in $(cat list); do :; done; done`:      policy.Unknown,
		`f=/v; for x in 1 2; do cat "$f"; read -r "f" <list; done`:                     policy.Unknown,
		`f=/v; for x in 1 2; do cat "$f"; (read -r f <list; cat "$f"); done`:           policy.Unknown,
		`f=/v; echo x | read -r f; cat "$f"`:                                           policy.Unknown,
		`(f=/v); cat "$f"`:                                                             policy.Unknown,
		`f=/v | cat "$f"`:                                                              policy.Unknown,
		`f=/v >x; cat "$f"`:                                                            policy.Unknown,
		`f=/v cat "$f"`:                                                                policy.Unknown,
		`f=/v; case x in a) f=$(cat list);; esac; cat "$f"`:                            policy.Unknown,
		`case x in a) f=/v;; b) cat "$f";; esac`:                                       policy.Unknown,
		`f=/v; g() { f=$(cat list); }; g; cat "$f"`:                                    policy.Unknown,
		`f=/v; cat "$f"$(cat list)`:                                                    policy.Unknown,
		`f=/v; cat ${f%x}`:                                                             policy.Unknown,
		`f=/v; bash -c 'cat "$f"'`:                                                     policy.Unknown,
		`f='a b'; cat $f`:                                                              policy.Unknown,
		`f=~/x; cat "$f"`:                                                              policy.Unknown,
		`f=*; cat $f`:                                                                  policy.Unknown,
		`f=; cat $f/etc/shadow`:                                                        policy.Unknown,
		`f+=/v; cat "$f"`:                                                              policy.Unknown,
		`HOST=a; cat $HOST`:                                                            policy.Unknown,
		`for f in a; do f=$(head -1 list); cat "$f"; done`:                             policy.Unknown,
		`for f in a; do cat "$f"; f=$(head -1 list); done`:                             policy.Unknown,
		`for f in a; do read -r f; cat "$f"; done`:                                     policy.Unknown,
		`for f in a; do echo x | read -r f; cat "$f"; done`:                            policy.Unknown,
		`for f in a; do for f in $(cat list); do cat "$f"; done; done`:                 policy.Unknown,
		`for f in a b; do while read -r f; do cat "$f"; done < list; done`:             policy.Unknown,
		`for f in a b; do cat "$f"; done; cat "$f"`:                                    policy.Unknown,
		`for f in a; do cat "${f/a/\/etc\/shadow}"; done`:                              policy.Unknown,
		`for f in a; do cat ${f:+/etc/shadow}; done`:                                   policy.Unknown,
		`for f in /etc/shadowx; do cat "${f%x}"; done`:                                 policy.Unknown,
		`for f in a; do for x in 1 2; do cat "$f"; done; done`:                         policy.ReadOnly,
		`for f in a; do if test -r "$f"; then cat "$f"; else echo "no $f"; fi; done`:   policy.ReadOnly,
		`for f in *.log; do n=$(wc -l <"$f"); echo "$f $n"; done`:                      policy.ReadOnly,
		`for f in /etc/nginx/conf.d/*.conf; do echo "== ${f##*/}"; head "$f"; done`:    policy.ReadOnly,
		`cat /proc/$(pgrep -o nginx)/limits`:                                           policy.ReadOnly,
		`cat "/proc/$(pgrep -o -f 'java -jar')/limits" 2>/dev/null`:                    policy.ReadOnly,
		`ls -l /proc/$(pidof -s nginx 2>/dev/null)/fd | wc -l`:                         policy.ReadOnly,
		`ps -fp $(pgrep -d, nginx)`:                                                    policy.ReadOnly,
		`ls /run/user/$(id -u)`:                                                        policy.ReadOnly,
		`pid=$(pgrep -o nginx); cat /proc/$pid/status`:                                 policy.ReadOnly,
		`pid="$(pidof -s nginx)"; ls /proc/$pid/fd | wc -l`:                            policy.ReadOnly,
		`pid=$(pgrep -o nginx); cat /proc/$pid/environ`:                                policy.SensitiveRead,
		`cat /proc/$(pgrep -o nginx)/environ`:                                          policy.SensitiveRead,
		`pid=$(pgrep -o x); rm -rf /$pid`:                                              policy.Forbidden,
		`rm -rf /$(pgrep -o x)`:                                                        policy.Forbidden,
		`cat /proc/$(pgrep -o nginx)/../../etc/shadow`:                                 policy.Unknown,
		`cat /proc/$(pgrep nginx)/status`:                                              policy.Unknown,
		`cat /proc/$(pgrep -lo nginx)/status`:                                          policy.Unknown,
		`cat /proc/$(pgrep -o "$x")/status`:                                            policy.Unknown,
		`cat /proc/$(pgrep -o nginx; cat list)/status`:                                 policy.Unknown,
		`cat /proc/$(pidof -s -S / nginx)/status`:                                      policy.Unknown,
		`cat /proc/$(id -u -n)/status`:                                                 policy.Unknown,
		`cat /proc/$(date +%s%F)/status`:                                               policy.Unknown,
		`ps -p $(pgrep -d ' ' nginx)`:                                                  policy.Unknown,
		`ps -p $(pgrep -od, nginx)`:                                                    policy.Unknown,
		`pid=$(pgrep nginx); cat /proc/$pid/status`:                                    policy.Unknown,
		`(set -euo pipefail; ls | wc -l)`:                                              policy.ReadOnly,
		`bash -c 'set -eu; ls'`:                                                        policy.ReadOnly,
		`bash -c 'set -o pipefail; ls | wc -l'`:                                        policy.ReadOnly,
		`bash -c 'export LC_ALL=C TZ=UTC; sort f'`:                                     policy.ReadOnly,
		`(export LC_ALL=C; sort f)`:                                                    policy.ReadOnly,
		`set -e; ls`:                                                                   policy.Unknown,
		`export LC_ALL=C; sort f`:                                                      policy.Unknown,
		`bash -c 'set -o posix; ls'`:                                                   policy.Unknown,
		`bash -c 'set -k; ls'`:                                                         policy.Unknown,
		`bash -c 'set -e a; ls'`:                                                       policy.Unknown,
		`bash -c 'set -eo; ls'`:                                                        policy.Unknown,
		`bash -c 'set -x; ls'`:                                                         policy.Unknown,
		`bash -c 'export LC_ALL=/tmp/x; sort f'`:                                       policy.Unknown,
		`bash -c 'export PATH=/tmp; sort f'`:                                           policy.Unknown,
		`bash -c 'export LC_ALL; sort f'`:                                              policy.Unknown,
		`eval 'set -e'; ls`:                                                            policy.Unknown,
	} {
		got := judge.Judge(judge.Request{Script: script, Shell: "bash", Dir: "/srv"})
		assert.Equal(t, want, got.Class, "%s: %s", script, got.Reason)
	}
	for _, script := range []string{`for f in /etc/shadow/x; do cat $f:h; done`, `f=/etc/shadow/x; cat $f:h`, `f=/etc/shadow/x; cat "$f:h"`, `f=/v; cat $f[1]`} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: script, Shell: "zsh"}).Class, "zsh takes the end of a path: %s", script)
	}
}

func TestAnUnquotedValueRestsOnIFS(t *testing.T) {
	for script, want := range map[string]bool{`f=/v; cat $f`: true, `f=/v; cat "$f"`: false, `f=/v; cat $g`: false} {
		assert.Equal(t, want, slices.Contains(judge.Judge(judge.Request{Script: script, Shell: "bash"}).Uses, "IFS"), script)
	}
}

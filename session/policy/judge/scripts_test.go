package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestScriptsThatOnlyReadAreReads(t *testing.T) {
	verdicts(t, "bash", `
		read-only | export LC_ALL=C; du -s /var/* 2>/dev/null
		read-only | export LANG=C.UTF-8 TZ=UTC; date
		read-only | cd /srv/app || exit 1; ls
		read-only | cd /srv/app || { echo "no such directory" >&2; exit 1; }; ls
		read-only | . /etc/os-release; echo "$PRETTY_NAME"
		read-only | while read -r line; do echo "${line%%=*}"; done < f
		read-only | services=(nginx redis); for s in "${services[@]}"; do systemctl is-active "$s"; done
		read-only | files=(/srv/app/*.log); printf '%s\n' "${files[@]}"; for f in "${files[@]}"; do wc -l "$f"; done
		read-only | declare -a a=(1 2 3); echo "${a[1]}"
		read-only | mapfile -t lines < /etc/passwd; echo "${#lines[@]}"
		read-only | readarray -t pids < <(pgrep nginx); printf '%s\n' "${pids[@]}"
		read-only | i=0; while [ $i -lt 3 ]; do uptime; i=$((i+1)); sleep 1; done
		read-only | i=0; until [ "$i" -ge 3 ]; do uptime; i=$((i + 1)); done
		read-only | i=0; while (( i < 3 )); do uptime; ((i++)); done
		read-only | i=0; while [[ $i -lt 3 ]]; do uptime; ((i+=1)); done
		read-only | for ((i=0; i<3; i++)); do cat /proc/loadavg; sleep 1; done
		sensitive-read | a=(/etc/shadow); for f in "${a[@]}"; do cat "$f"; done
		sensitive-read | a=(shadow); cd /etc; for f in "${a[@]}"; do cat "$f"; done
		sensitive-read | mapfile -t x < /etc/shadow; ls
		write | export LC_ALL=C; touch pwned
		write | for ((i=0; i<3; i++)); do touch pwned; done
	`)
}

func TestScriptsThatOnlyLookLikeReadsAreNone(t *testing.T) {
	for script := range strings.Lines(notOnlyReads) {
		if script = strings.TrimSpace(script); script == "" {
			continue
		}
		for _, shell := range []string{"", "bash", "zsh", "ksh", "mksh"} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.NotEqual(t, policy.ReadOnly, r.Class, "%s in %s: %s", script, shell, r.Reason)
		}
	}
}

// Each of them runs something, sets more than it seems to, shows any file or does not end.
const notOnlyReads = `
declare -a x='($(touch pwned))'
a=(1); declare a='($(touch pwned))'
declare -a a; y='($(touch pwned))'; declare a=$y
declare x=$(cat f); ls
i=5; until [ $i -eq 3 ]; do uptime; i=$((i+1)); done
i=0; until [ i -ge 3 ]; do uptime; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do [ -e f ] && "continue"; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do con''tinue; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do command continue; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do echo ${x:i=0:1}; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do echo $((i=0)); i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do echo $((i--)); i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do i=$((i+1)); for i in 0; do uptime; done; done
i=0; while [ $i -lt 3 ]; do i=$((i+1)); read -r i < f; done
i=0; while [ $i -lt 3 ]; do i=$((i+1)); printf -v i 0; done
i=0; while [ $i -lt 3 ]; do i=$((i+1)); i=0; done
i=0; while [ $i -lt 3 ]; do (i=$((i+1))); done
i=0; while [ $i -lt 3 ]; do i=$((i+1)) & done
i=0; while [ $i -lt 3 ]; do if false; then i=$((i+1)); fi; done
i=0; while [ $i -lt 3 ]; do false && i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do uptime; i=$((i-1)); done
i=0; while [ $i -gt -1 ]; do uptime; i=$((i+1)); done
i=0; while [ $i -lt 3 ]; do uptime; i=$((i+0)); done
i=$(cat f); while [ $i -lt 3 ]; do uptime; i=$((i+1)); done
read -r i < f; while [ $i -lt 3 ]; do uptime; i=$((i+1)); done
while [ $i -lt 3 ]; do uptime; i=$((i+1)); done
for ((i=0; i<3; i--)); do uptime; done
for ((i=0; i<1000; i++)); do ls -R /; done
i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done
export LC_ALL=ja_JP; ls
for ((i=0; i>-1; i++)); do uptime; done
for ((i=0; i<3; j++)); do uptime; done
for ((i=0; i<x; i++)); do uptime; done
for ((i=0; i<3; i++)); do i=0; done
for ((i=0; i<3; i++)); do ((i=0)); done
for ((i=0; i<3; i++)); do ((i-=1)); done
for ((i=0; i<3; i++)); do echo $((i=0)); done
for ((i=0; i<3; i++)); do read i < f; done
for ((;;)); do uptime; done
for ((i=$(touch x); i<3; i++)); do uptime; done
for ((i=0; i<3; i++, x[$(touch y)]=1)); do uptime; done
for ((PATH=0; PATH<3; PATH++)); do uptime; done
a=(x); a[$(touch y)]=1
a=([$(touch y)]=1)
a=($(touch y))
a=(ls); "${a[@]}"
a=(sha*); cd /etc; for f in "${a[@]}"; do cat "$f"; done
a=(/etc/hosts); a+=(/srv/$x); for f in "${a[@]}"; do cat "$f"; done
a=(/etc/hosts); if ls; then a=("$(cat x)"); fi; for f in "${a[@]}"; do cat "$f"; done
a=(/etc/hosts); a=$(cat x); for f in "${a[@]}"; do cat "$f"; done
a=(/etc/hosts); read -r a < x; for f in "${a[@]}"; do cat "$f"; done
a=(/etc/hosts); mapfile -t a < x; for f in "${a[@]}"; do cat "$f"; done
a=(--compress-program=x); for f in "${a[@]}"; do sort $f y; done
a=('-o x'); for f in "${a[@]}"; do sort $f y; done
a=('-ox'); for f in "${a[@]}"; do sort "$f" y; done
a=(-delete); for f in "${a[@]}"; do find . $f; done
a=(-delete); for f in "${a[@]}"; do find . "$f"; done
a=(a b); for f in "${a[@]/a/-delete}"; do find . "$f"; done
a=(a b); for f in "${!a[@]}"; do cat "$f"; done
x=(typeset -x PATH=/tmp); ls
x=(get() { touch pwned; })
path=(/tmp); ls
fpath=(/tmp); ls
mapfile -C 'touch pwned #' -c 1 x < /etc/passwd
mapfile -t -C 'touch pwned #' -c 1 x < /etc/passwd
mapfile -t 'x[$(touch pwned)]' < f
mapfile -t x < /dev/zero; ls
mapfile -t PATH < f; ls
mapfile -t -u 3 x
mapfile -t x < f; "${x[@]}"
mapfile -t x < f; eval "${x[0]}"
mapfile -t x < f; $x
mapfile -t x < f; ((x++))
mapfile -t x < f; echo $((x))
mapfile -t x < f; [[ $x -gt 3 ]]
mapfile -t x < f; find $x
mapfile -t x < f; sort "$x"
mapfile -t x < f; cat "${x[@]}"
read -r -a x < f; cat "${x[0]}"
read -r -a 'x[$(touch y)]' < f
export LC_ALL=zh_CN.GBK; ls
(export LC_ALL=zh_CN.GBK; ls)
LC_ALL=zh_CN.GBK ls
LANG=zh_TW ls
env LC_ALL=ja_JP.SJIS bash -c 'ls'
export PATH=/tmp; ls
export LC_ALL=C PATH=/tmp; ls
export LC_ALL=C
export LC_ALL; ls
export -n LC_ALL=C; ls
export -f ls; ls
export LC_ALL=$(touch x); ls
exit 0
exit $(touch x); ls
exit 'x[$(touch y)]'; ls
exit x; ls
. /tmp/os-release; ls
. /etc/os-release
. /etc/os-release; $ID
. /etc/os-release; eval "$ID"
. /etc/os-release; cat $ID
f=/etc/hosts; . /etc/os-release; cat $f
echo ${x%%=$(touch y)}
echo ${x:-=ls}
echo ${x%%${y:-=ls}}
cat =ls
`

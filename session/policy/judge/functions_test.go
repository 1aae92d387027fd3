package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestFunctionsOfAScriptAreJudgedWhereTheyAreCalled(t *testing.T) {
	for _, script := range []string{
		`hr() { echo "---- $1 ----"; }; hr disk; df -h; hr mem; free -h`,
		"section() {\n  printf '\\n=== %s ===\\n' \"$*\"\n}\nsection uptime\nuptime\nsection disk\ndf -h /\n",
		`check() { systemctl is-active "$1" >/dev/null && echo "$1 up" || echo "$1 down"; }; check nginx; check redis`,
		`check() { systemctl is-active "$1"; }; for s in nginx redis; do check "$s"; done`,
		`show() { [ -f "$1" ] && cat "$1"; }; show /etc/hosts; show /etc/fstab`,
		`fds() { ls /proc/$1/fd | wc -l; }; for p in $(pgrep nginx); do echo "$p $(fds $p)"; done`,
		`grab() { grep -c "$1" /var/log/syslog; return 0; }; grab error | sort; (grab warn)`,
		`inner() { cat "$1"; }; outer() { inner "$2"; cat "$1"; }; outer /etc/hosts /etc/fstab; ls`,
		`bash -c 'hr() { echo "- $1"; }; hr a; df -h'`,
		`show() { find /etc -name "$1"; }; show hosts; LC_ALL=C show passwd; ls`,
	} {
		for _, shell := range []string{"bash", "dash", "sh", "mksh"} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.Equal(t, policy.Allow, agent(r.Class), "%s in %s: %s: %s", script, shell, r.Rule, r.Reason)
			assert.False(t, r.Traceless, script)
			assert.True(t, r.Taints, script)
		}
	}
}

func TestVariablesOfAFunctionAreItsOwn(t *testing.T) {
	for script, want := range map[string]policy.Verdict{
		`check() { local unit="$1"; systemctl is-active "$unit"; }; for s in nginx redis; do check "$s"; done`: policy.Allow,
		`check() { local unit=$1; systemctl is-active "$unit"; }; check nginx; ls`:                             policy.Allow,
		`check() { local n; n=$(wc -l <"$1"); echo $((n+1)); }; check /etc/hosts; ls`:                          policy.Allow,
		`check() { local f=/etc/fstab; cat $f; }; f=/etc/hosts; check; cat $f`:                                 policy.Ask,
		`check() { local unit=$1; systemctl is-active "$unit"; }; check --host=x; ls`:                          policy.Ask,
		`check() { local unit=$1; systemctl is-active "$unit"; }; check "$x"; ls`:                              policy.Ask,
		`check() { local -x unit=$1; ls; }; check nginx; ls`:                                                   policy.Ask,
		`check() { local unit+=$1; ls; }; check nginx; ls`:                                                     policy.Ask,
		`check() { local unit=($1); ls; }; check nginx; ls`:                                                    policy.Ask,
		`check() { local $1; ls; }; check PATH=x; ls`:                                                          policy.Ask,
		`check() { local http_proxy=$1; ls; }; check x; ls`:                                                    policy.Ask,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, want, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
	r := judge.Judge(judge.Request{Script: `check() { local unit=$1; ls; }; check "a PATH=x"; ls`, Shell: "mksh"})
	assert.Equal(t, policy.Ask, agent(r.Class), "without quotes, others than bash declare each word")
}

func TestWordsOfAFunctionAreThoseOfItsCall(t *testing.T) {
	for _, script := range []string{
		`run() { echo "\$ $*"; "$@" 2>&1 | head -20; }; run uptime; run df -h; run free -m`,
		`log() { echo "[$(date +%T)] $*"; }; log start; df -h; log end`,
		`info() { printf '%s: %s\n' "$1" "$2"; }; info kernel "$(uname -r)"; info host "$(hostname)"`,
		`h() { echo "== $1"; }; h disk; df -h`,
		`each() { for s in "$@"; do systemctl is-active "$s"; done; }; each nginx redis; ls`,
		`try() { "$@" 2>/dev/null || echo "failed: $*"; }; try systemctl is-active nginx; try docker ps`,
	} {
		for _, shell := range []string{"bash", "dash"} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.Equal(t, policy.Allow, agent(r.Class), "%s in %s: %s: %s", script, shell, r.Rule, r.Reason)
		}
	}
	for _, script := range []string{
		`run() { "$@"; }; run touch x; ls`,
		`run() { "$@"; }; run eval 'touch x'; ls`,
		`run() { "$@"; }; run "$x"; ls`,
		`run() { "$@"; }; run $x; ls`,
		`run() { "$@"; }; run; ls`,
		`run() { "$@"; }; run run ls; ls`,
		`run() { "$@"; }; run cat /etc/shadow; ls`,
		`run() { "$@" | sh; }; run echo ls; ls`,
		`run() { sh -c "$@"; }; run 'touch x'; ls`,
		`run() { sh -c '"$@"' x ls; }; run touch x; ls`,
		`run() { "$@"; }; run 'touch x'; ls`,
		`run() { "$@"; }; run X=1 ls; ls`,
		`run() { "$@"; }; run find . -delete; ls`,
		`run() { timeout 5 "$@"; }; run touch x; ls`,
		`run() { "$@"; }; run cd /etc; cat shadow`,
		`run() { "$@"; }; run . /tmp/x; ls`,
		`run() { "$@"; }; run exec touch x; ls`,
		`run() { "$@"; }; run export PATH=.; ls`,
		`run() { "$@"; }; run tail -f x; ls`,
		`run() { "$@"; }; i=0; while [ $i -lt 3 ]; do run continue; i=$((i+1)); done`,
		`run() { "$@"; }; c=continue; i=0; while [ $i -lt 3 ]; do run $c; i=$((i+1)); done`,
		`run() { i=0; while [ $i -lt 3 ]; do "$@"; i=$((i+1)); done; }; run continue; ls`,
		`run() { "$@"; }; x=1; for i in 1 2; do echo $((x)); run read x; done < /tmp/evil`,
		`run() { x=1; for i in 1 2; do echo $((x)); "$@"; done < /tmp/evil; }; run read x; ls`,
		`run() { shift; "$@"; }; run ls touch x; ls`,
		`run() { set -- touch x; "$@"; }; run ls; ls`,
		`run() { $@; }; run ls "touch x"; ls`,
		`run() { "$*"; }; run touch x; ls`,
		`run() { "$@"; }; docker ps -q | xargs run; ls`,
		`log() { rm x; }; log; ls`,
		`info() { rm x; }; info; ls`,
		`run() { "$@"; }; other() { run "$@"; }; other touch x; ls`,
		`r() { echo; }; r; ls`,
		`ff() { cat < "$@"; }; ff /etc/shadow; ls`,
		`ff() { echo x > "$@"; }; ff /tmp/y; ls`,
		`ff() { x="$@"; cat $x; }; ff /etc/hosts /etc/shadow; ls`,
		`ff() { declare "$@"; }; ff PATH=.; ls`,
		`ff() { export "$@"; }; ff PATH=.; ls`,
		`ff() { local "$@"; ls; }; ff PATH=.; ls`,
		`ff() { [ -v "$@" ]; }; ff 'a[$(touch x)]'; ls`,
		`ff() { printf -v "$@"; }; ff PATH x; ls`,
		`ff() { printf "$@"; }; ff -v PATH x; ls`,
		`ff() { printf '%d' "$@"; }; ff 'a[$(touch x)]'; ls`,
		`ff() { read "$@"; }; ff PATH; ls`,
		`ff() { a=("$@"); "${a[@]}"; }; ff touch x; ls`,
		`ff() { time "$@"; }; ff touch x; ls`,
		`ff() { ! "$@"; }; ff touch x; ls`,
		`ff() { "$@" & }; ff sleep 1; ls`,
		`ff() { "${@}"; }; ff touch x; ls`,
		`ff() { "${@:2}"; }; ff ls touch x; ls`,
	} {
		for _, shell := range []string{"bash", "dash", "mksh", "zsh", ""} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.NotEqual(t, policy.Allow, agent(r.Class), "%s in %q: %s", script, shell, r.Reason)
		}
	}
	r := judge.Judge(judge.Request{Script: `show() { cat "$@"; }; show /etc/hosts /etc/fstab; ls`, Shell: "bash"})
	var read []string
	for _, p := range r.Reads {
		read = append(read, p.Text)
	}
	assert.Subset(t, read, []string{"/etc/hosts", "/etc/fstab"}, "a sandbox must know them")
}

// What no call of a function can make harmless is told also where only the run says that it is called.
func TestWhatAFunctionMayDoAtWorstCounts(t *testing.T) {
	for script, want := range map[string]policy.Class{
		`boom() { rm -rf /; }; x=boom; $x; ls`:    policy.Forbidden,
		`boom() { rm -rf /; }; ls | xargs boom`:   policy.Forbidden,
		`boom() { sudo ls; }; "$x"; ls`:           policy.Privileged,
		`boom() { reboot; }; ls`:                  policy.Dangerous,
		`quiet() { cat "$1"; }; ls`:               policy.ReadOnly,
		`quiet() { cat "$1"; }; quiet "$x"; ls`:   policy.Unknown,
		`quiet() { touch "$1"; }; quiet x; ls`:    policy.Write,
		`quiet() { cat /etc/shadow; }; quiet; ls`: policy.SensitiveRead,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, want, r.Class, "%s: %s", script, r.Reason)
	}
}

// The shell that has the function ends behind the script: to the next command, the name is what it was.
func TestFunctionsOfAScriptEndWithIt(t *testing.T) {
	r := judge.Judge(judge.Request{Script: `hr() { echo "- $1"; }; hr a; ls`, Shell: "bash"})
	assert.True(t, r.Ends)
	assert.Contains(t, r.Sets, "hr")
	for _, script := range []string{`hr() { echo; }`, `ls; hr() { echo; }`, `hr a`} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Ask, agent(r.Class), script)
	}
	r = judge.Judge(judge.Request{Script: `hr() { echo "- $1"; }; hr a; ls`, Shell: "bash", Interactive: true})
	assert.Equal(t, policy.Ask, agent(r.Class), "typed, it would stay")
}

func TestFunctionsThatMayMeanMoreThanAReadAsk(t *testing.T) {
	for _, script := range []string{
		// What the body does with what it is given.
		`hr() { touch "$1"; }; hr disk; ls`,
		`show() { cat "$1"; }; show /etc/shadow; ls`,
		`show() { cat "$1"; }; show /etc/hosts; show /etc/shadow; ls`,
		`show() { cat "$1"; }; show "$x"; ls`,
		`show() { cat "$1"; }; show /etc/sha*; ls`,
		`show() { cat /etc/"$1"; }; show shadow; ls`,
		`show() { cat "$1"; }; show $x /etc/hosts; ls`,
		`show() { cat "$2"; }; show $x /etc/hosts; ls`,
		`show() { cat "$2"; }; show ? /etc/hosts; ls`,
		`show() { cat $2; }; show a "/etc/hosts /etc/shadow"; ls`,
		`show() { cat "$3"; }; show a $(nproc) /etc/hosts; ls`,
		`show() { cat "$@"; }; show "$x"; ls`,
		`show() { find . "$1"; }; show -delete; ls`,
		`show() { find . $1; }; show "-name x -delete"; ls`,
		`show() { tail "$1" /var/log/syslog; }; show -f; ls`,
		`hr() { "$1"; }; hr reboot; ls`,
		`hr() { eval "$1"; }; hr uptime; ls`,
		`hr() { echo "$1"; }; hr ls | sh; ls`,
		`hr() { echo "$1"; }; hr /etc/shadow | xargs cat; ls`,
		`hr() { echo "$1$2"; }; { hr /etc/ "$x"; hr "$x" y; } | xargs cat; ls`,
		`hr() { echo $(($1)); }; hr "$x"; ls`,
		`hr() { shift; cat "$1"; }; hr /etc/hosts /etc/shadow; ls`,
		`hr() { set -- /etc/shadow; cat "$1"; }; hr /etc/hosts; ls`,
		`inner() { cat "$1"; }; outer() { inner "$2"; cat "$1"; }; outer /etc/shadow /etc/fstab; ls`,
		// What it sets.
		`f=/etc/hosts; swap() { f=/etc/shadow; }; swap; cat $f`,
		`n=1; swap() { n=$(cat /tmp/x); }; for i in 1 2; do echo $((n)); swap; done; ls`,
		`n=1; deep() { n=$(cat /tmp/x); }; swap() { deep; }; for i in 1 2; do echo $((n)); swap; done; ls`,
		`i=0; bump() { i=0; }; while [ $i -lt 3 ]; do bump; i=$((i+1)); done; ls`,
		`hr() { local PATH=/tmp; ls; }; hr; ls`,
		`hr() { local x=$(rm y); }; hr; ls`,
		`hr() { local x=/etc/shadow; cat $x; }; hr; ls`,
		`hr() { local -n x=$1; }; hr PATH; ls`,
		`hr() { declare -g PATH=.; }; hr; ls`,
		`hr() { PATH=.; }; hr; ls`,
		`hr() { alias ls=rm; }; hr; ls`,
		`hr() { trap 'rm x' EXIT; }; hr; ls`,
		`hr() { exec rm x; }; hr; ls`,
		`local x=1; ls`,
		// Loops that it is called in.
		`skip() { continue; }; i=0; while [ $i -lt 3 ]; do skip; i=$((i+1)); done; ls`,
		`skip() { command con'tinue'; }; i=0; while [ $i -lt 3 ]; do skip; i=$((i+1)); done; ls`,
		// Which function it is.
		`hr x; hr() { echo "$1"; }; ls`,
		`hr() { echo "$1"; }; hr() { rm x; }; hr y; ls`,
		`hr() { echo "$1"; }; if true; then hr() { rm x; }; fi; hr y; ls`,
		`hr() { echo "$1"; }; swap() { hr() { rm x; }; }; swap; hr y; ls`,
		`hr() { echo "$1"; }; unset -f hr; hr x; ls`,
		`hr() { echo "$1"; }; export -f hr; bash -c 'hr x'; ls`,
		`hr() { echo "$1"; }; bash -c 'hr x'; ls`,
		`hr() { echo "$1"; }; timeout 5 hr y; ls`,
		`hr() { echo "$1"; }; command hr x; ls`,
		`hr() { echo "$1"; }; ls | xargs hr; ls`,
		`hr() { echo "$1"; }; /usr/bin/hr x; ls`,
		`hr() { echo "$1"; }; h'r' x; ls`,
		`hr() { echo "$1"; }; find . -exec hr {} \;; ls`,
		`if true; then hr() { echo "$1"; }; fi; hr x; ls`,
		`(hr() { echo "$1"; }); hr x; ls`,
		`hr() { echo "$1"; } > /tmp/x; hr x; ls`,
		`hr() { echo "$1"; } & hr x; ls`,
		`hr() ( cd /; hr2() { ls; }; hr2 ); hr; ls`,
		// What else may call it, or mean it.
		`df() { echo "$1"; }; df disk; ls`,
		`echo() { rm x; }; echo; ls`,
		`cd() { ls; }; cd /; ls`,
		`git() { ls; }; git status`,
		`repeat() { ls; }; repeat 3; ls`,
		`precmd() { ls; }; precmd; ls`,
		`command_not_found_handle() { ls; }; foo; ls`,
		`_hr() { ls; }; _hr; ls`,
		`PS1() { ls; }; PS1; ls`,
		// Without an end.
		`hr() { hr; }; hr; ls`,
		`aa() { bb; }; bb() { aa; }; aa; ls`,
		`hr() { tail -f x; }; hr; ls`,
		`rep() { rep | rep & }; rep; ls`,
	} {
		for _, shell := range []string{"bash", "dash", "sh", "mksh", "zsh", ""} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.NotEqual(t, policy.Allow, agent(r.Class), "%s in %q: %s", script, shell, r.Reason)
		}
	}
}

// Functions that call functions, each twice, are looked at no longer than other scripts.
func TestFunctionsWithinFunctionsAreBounded(t *testing.T) {
	script := "aa0() { echo x; }; "
	for _, i := range "123456789" {
		script += "aa" + string(i) + "() { aa" + string(i-1) + "; aa" + string(i-1) + "; aa" + string(i-1) + "; aa" + string(i-1) + "; }; "
	}
	r := judge.Judge(judge.Request{Script: script + "for i in a b; do aa9; done; ls", Shell: "bash"})
	assert.Equal(t, policy.Ask, agent(r.Class))
	assert.True(t, r.Capped)
}

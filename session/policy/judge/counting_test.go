package judge_test

import "testing"

// What a program prints of itself, and what comes of counting, are numbers: to evaluate them runs nothing.
func TestNumbersOfTheScriptItself(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "ksh", "mksh"} {
		verdicts(t, shell, `
			read-only | n=0; n=$((n+1)); echo $n
			read-only | n=$(wc -l <f); echo $((n*2))
			read-only | total=0; for f in *.csv; do n=$(wc -l <"$f"); total=$((total + n)); done; echo "$total"
			read-only | total=0; for f in *.csv; do n=$(wc -l <"$f"); ((total += n)); done; echo "$total"
			read-only | n=0; while read -r x; do ((n++)); done <f; echo $n
			read-only | n=0; for f in *; do [ -d "$f" ] && n=$((n+1)); done; echo "$n"
			read-only | n=0; if ls; then n=5; fi; echo $((n+1))
			read-only | echo $(( $(date +%s) - $(stat -c %Y f) ))
			read-only | for f in /var/log/*.log; do printf '%8d %s\n' "$(wc -l <"$f")" "$f"; done
			read-only | [ $(df --output=pcent / | tail -1 | tr -dc 0-9) -gt 90 ] && echo full
			read-only | [[ $(ls | wc -l) -gt 90 ]] && echo many
			read-only | n=$(ls | wc -l | tr -d ' '); [ $n -gt 5 ] && echo y
			read-only | s=$(stat -c %s f); [ $s -gt 5 ] && echo y
			read-only | for f in ./*.log; do n=$(grep -c ERROR "$f"); [ $n -gt 0 ] && echo "$f"; done
			read-only | m=$(date +%M); echo $((10#$m + 1))
			read-only | tail "/var/log/app-$(date +%F).log"
			read-only | tail -1 /var/log/sysstat/sa$(date -d yesterday +%d)
			read-only | ls /backup/$(date -d '1 day ago' +%Y)
			read-only | n=3; echo ${x:0:n}
			unknown | ((n=1)); echo $((n))
			unknown | ((0 && (n=1))); echo $((n))
			unknown | n=0; ((n=x))
			unknown | n=0; ((n=1, x=2))
			unknown | n=0; ((a[n]=1))
			unknown | n=0; n=$x; echo $((n))
			unknown | read -r x <f; echo $((x+1))
			unknown | n=0; while read -r n; do echo $((n+1)); done <f
			unknown | n=0; while read -r x; do n=$((n+1)); n=$x; done <f
			unknown | n=0; while read -r x; do echo $((n+1)); n=$x; done <f
			unknown | n=0; for f in *; do echo $((n+1)); n=$f; done
			unknown | n=0; for n in *; do echo $((n+1)); done
			unknown | n=0; false && n=$(cat f); echo $((n+1))
			unknown | n=0; if ls; then n=$(cat f); fi; echo $((n+1))
			unknown | n=0; for x in 1 2; do printf -v n %s "$x"; echo $((n)); done
			unknown | IFS=0; ((IFS++))
			unknown | n=0; ((n++)); cat $n
			unknown | n=$(wc -l <f); [ $n -v 'a[$(id)]' ]
			unknown | n=$(wc -l f); echo $((n))
			unknown | n=$(wc -l <f; cat g); echo $((n))
			unknown | n=$(wc -l <f && cat g); echo $((n))
			unknown | n=$(wc -l "$x" <f); echo $((n))
			unknown | n=$(wc -l 2>&1 <f); echo $((n))
			unknown | n=$(cat f | tr -dc a-z); echo $((n))
			unknown | n=$(cat f | tr -d ' '); echo $((n))
			unknown | n=$(grep -cH x <f); echo $((n))
			unknown | n=$(grep -rc x); echo $((n))
			unknown | n=$(grep -c x f g); echo $((n))
			unknown | n=$(grep -c x *.log); echo $((n))
			unknown | for f in *; do n=$(grep -c x "$f"); echo $((n)); done
			unknown | n=$(stat -c %n f); echo $((n))
			unknown | n=$(stat -c %s *); echo $((n))
			unknown | s=$(stat -c %Y f); cat $s
			unknown | n=$(date -d '9999 years ago' +%Y); cat $n
			unknown | n=$(date +%b); echo $((n))
			unknown | n=$(date +%Y/%m); cat $n
			unknown | n=$(date -f x +%Y); cat $n
			unknown | m=$(cat f); echo $((10#$m))
			unknown | printf '%d' "$(cat f)"
			unknown | n=3; echo ${a[n]}
		`)
	}
}

// Regular expressions and scripts look like paths, and name no file.
func TestPatternsAreNoPaths(t *testing.T) {
	verdicts(t, "bash", `
		read-only | grep -rn '/api/.*\.go' src
		read-only | grep -e '/.*' f
		read-only | grep /etc/shadow f
		read-only | rg 'https?://.*\.com' src
		read-only | sed 's/.*key=//' f
		read-only | find . -type f | sed 's/.*\.//' | sort
		read-only | jq -r '.a | sub("/.*"; "")' f
		sensitive-read | grep x /etc/shadow
		sensitive-read | grep -f /etc/shadow f
		sensitive-read | grep -f/etc/shadow f
		sensitive-read | grep -e x /etc/shadow
		sensitive-read | grep "$x" /etc/shadow f
		sensitive-read | grep -A * /etc/shadow f
		sensitive-read | sed 'r/etc/shadow' f
		sensitive-read | rg --files /etc/shadow
		sensitive-read | jq . --rawfile /etc/x /etc/shadow
		sensitive-read | git grep -e x -- /etc/shadow
		sensitive-read | git grep -f /etc/shadow
		unknown | grep /etc/shadow "$x" f
		read-only | cat ~/.ssh/*.pub /etc/*-release /etc/*release /etc/*_version
		sensitive-read | cat ~/.ssh/*
		sensitive-read | cat ~/.ssh/*pub*
		sensitive-read | cat /etc/*release*
		sensitive-read | cat /etc/s*w
		sensitive-read | cat /etc/sudoers.d/*release
		unknown | cat ~/.ssh/$x.pub
	`)
}

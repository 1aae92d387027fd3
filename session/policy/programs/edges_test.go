package programs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// classes checks lines of "class | words" by the tables alone: package judge has eyes of its own for some of it. Words are
// separated by blanks, or by " ¦ " where there is one; a "$x" at the end of a word makes it one that isn't literal.
func classes(t *testing.T, name, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.Trim(lines, "\n\t"), "\n") {
		want, text, _ := strings.Cut(strings.TrimLeft(line, "\t"), " |")
		words := strings.Fields(text)
		if strings.Contains(text, "¦") {
			words = strings.Split(strings.TrimPrefix(text, " "), " ¦ ")
		}
		c := programs.Call{Name: name, Direct: true, Args: literals(words...)}
		for i := range c.Args {
			a := &c.Args[i]
			if before, ok := strings.CutSuffix(a.Text, "$x"); ok {
				a.Text, a.Literal = before, false
			}
		}
		got := programs.Judge(c)
		assert.Equal(t, policy.Class(want), got.Class, "%s %s: %s", name, text, got.Reason)
	}
}

// What changes files says which, so that places which must not change are seen.
func TestProgramsThatChangeFilesNameThem(t *testing.T) {
	tried := map[string]bool{}
	for words, want := range map[string]string{
		"touch a b": "a b", "mkdir -p a": "a", "truncate -s 0 a": "a", "fallocate -l 1G a": "a", "fallocate --punch-hole --length 1 a": "a",
		"chattr -i a": "a", "setfattr -n user.x -v 1 a": "a", "split f a": "a", "split --bytes=1 f a": "a", "csplit -f a f 1": "a", "csplit --prefix=a f 1": "a",
		"tee a": "a", "sed -i p a": "a", "sort -o a f": "a", "gzip a": "a", "mkfifo a": "a", "cp f a": "a", "ln f a": "a", "ssh-keygen -t ed25519 -f a": "a", "dos2unix a": "a",
		"rm a": "a", "rmdir a": "a", "unlink a": "a", "mv a b": "a b", "chmod 644 a": "a", "chown bob a": "a", "chgrp bob a": "a", "gunzip a": "a", "bzip2 a": "a", "bunzip2 a": "a",
		"xz a": "a", "unxz a": "a", "zstd a": "a", "rsync -T a f h:b": "a", "sftp f h:a": "",
	} {
		var got []string
		list := strings.Fields(words)
		tried[list[0]] = true
		for _, p := range programs.Judge(programs.Call{Name: list[0], Args: literals(list[1:]...)}).Paths {
			if p.Write || p.Delete {
				got = append(got, p.Arg.Text)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), words)
	}
	for _, name := range programs.Names() {
		if programs.Is(name, "writer") {
			assert.True(t, tried[name], "%s is called a writer: which files does it name?", name)
		}
	}
	got := programs.Judge(programs.Call{Name: "split", Args: literals("f", "/srv/x")})
	assert.Contains(t, got.Paths, programs.Path{Arg: programs.Arg{Text: "/srv/x", Source: "/srv/x"}, Write: true}, "the names only begin so")
	table(t, `
		forbidden | fallocate -p -o 0 -l 1G /etc/shadow
		forbidden | fallocate -z -l 1G /dev/sda
		write | fallocate -l 1G x
		forbidden | chattr -i /etc/passwd
		write | chattr +i x
		unknown | chattr --frobnicate x
		write | setfattr -n user.note -v 1 x
		forbidden | setfattr -n security.capability -v 0x0100 x
		forbidden | setfattr -x security.selinux x
		dangerous | setfattr -n system.posix_acl_access -v x y
		dangerous | setfattr --restore=f
		unknown | setfattr -n "$X" -v 1 x
		forbidden | split f /etc/cron.d/x
		forbidden | split f /etc/passwd
		write | csplit f 10
		forbidden | csplit -f /etc/cron.d/x f 10
		forbidden | csplit --prefix="/etc/cron.d/$X" f 10
		dangerous | zip -rm a.zip d
		dangerous | zip a.zip d --move
		write | zip -r a.zip d
		forbidden | ssh-keygen -q -f /etc/passwd
	`)
}

// What a letter takes is glued to it or the next word, behind any letters that take nothing.
func TestCopiesRunWhatTheirOptionsName(t *testing.T) {
	table(t, `
		forbidden | rsync -ae 'rm -rf /' a h:b
		forbidden | rsync -e'rm -rf /' a h:b
		forbidden | rsync -avze 'rm -rf /' a h:b
		unknown | rsync -avze 'ssh -p 22' a h:b
		unknown | rsync -av a h:b
		unknown | rsync -e
		dangerous | rsync -aT /etc/cron.d/ a h:b
		dangerous | rsync --del a b
		dangerous | rsync --remove-sent-files a b
		forbidden | rsync --del a/ /etc
		unknown | rsync --delay-updates a b
		forbidden | scp -S 'rm -rf /' a h:b
		forbidden | scp -qS'rm -rf /' a h:b
		forbidden | scp -D 'rm -rf /' a h:b
		forbidden | scp -o 'ProxyCommand=rm -rf /' a h:b
		forbidden | scp -oProxyCommand='rm -rf /' a h:b
		unknown | scp -o Port=22 a h:b
		unknown | scp -P 22 a h:b
		forbidden | scp -P 22 h:b /etc/passwd
		forbidden | sftp -S 'rm -rf /' h
		forbidden | sftp -D 'rm -rf /'
		forbidden | sftp -o 'ProxyCommand=rm -rf /' h
		forbidden | ssh -4o 'ProxyCommand=rm -rf /' h
	`)
	for words, want := range map[string]string{"scp -i k a h:b": "k a", "scp -F k a h:b": "k a", "sftp -b k h:b": "k", "sftp -i k h:b": "k", "scp -P 22 a h:b": "a", "scp -3 a h:b": "a", "rsync -e ssh a h:b": "a"} {
		var got []string
		list := strings.Fields(words)
		for _, p := range programs.Judge(programs.Call{Name: list[0], Args: literals(list[1:]...)}).Paths {
			got = append(got, p.Arg.Text)
		}
		assert.Equal(t, want, strings.Join(got, " "), words)
	}
}

// Some clients take ever other bytes for the end of a host, so only a few are certain.
func TestTheEdgesOfHostsAndURLs(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := label + "." + label + "." + label + "." + label[:61] // 253
	for text, want := range map[string]string{label: label, label + "a": "", long: long, long + "a": "", "a_b": "a_b", "a._b": "", "a.-b": "", "a.9b": "", "a.Zb": "a.zb", "a.zb": "a.zb"} {
		assert.Equal(t, want, programs.Host(text), text)
	}
	for url, want := range map[string]string{
		"http://h/a!~": "h", "http://h/a b": "", "http://h/\x7f": "", "http://h/\x1f": "", "http://h/é": "", "http://h/{a}": "", "http://h/[a": "", "http://h/a]": "", "http://h/a}": "", `http://h/a\`: "",
		"http://h:65535/": "h", "http://h:655350/": "", "http://h:8a/": "", "http://h:": "", "http://[::1]:80": "::1", "http://[::1]x/": "", "http://[::1]:/": "", "h": "h",
	} {
		f := call("curl", true, "-s", url)
		assert.Equal(t, want, f.To[0], url)
		if !strings.ContainsAny(url, "\x7f\x1f") {
			assert.Equal(t, policy.NetworkRead, f.Class, "%s: %s", url, f.Reason)
		}
	}
	for _, url := range []string{"ftp.x", "dict.x", "ldap.x", "imap.x", "smtp.x", "pop3.x", "FTP.x", "[::1]x", "h:", "[::1", "a@b", "ftp://h/", "file://h/"} {
		f := call("curl", true, "-s", url)
		assert.Equal(t, policy.Write, f.Class, "%s: the protocol may be another one", url)
		assert.Empty(t, f.To[0], url)
	}
	assert.NotEmpty(t, call("curl", false).Reason, "without a word")
	assert.Equal(t, policy.Write, call("curl", true, "-s", "-H", "a\x1fb", "h").Class)
	assert.Equal(t, policy.Write, call("curl", true, "-s", "-H", "a\x7fb", "h").Class)
	assert.Equal(t, policy.NetworkRead, call("curl", true, "-s", "-H", "a b~", "h").Class)
	assert.Equal(t, policy.Write, call("wget", false, "--no-hsts", "-qO-", "h").Class)
	assert.Equal(t, policy.Write, call("wget", false, "--no-config", "-qO-", "h").Class)
	classes(t, "dig", "write | +time=10 x\nnetwork-read | +time=5 x\nwrite | +time=x x\nwrite | +other=5 x\nnetwork-read | +tries=1 x\nnetwork-read | +retry=1 x\nnetwork-read | +timeout=1 x\nnetwork-read | ¦ ")
}

// A host that is not wholly certain is none, whatever it begins with; what reaches no host names none.
func TestWhichHostsCallsName(t *testing.T) {
	x := programs.Arg{Text: "192.0.2.1", Source: `192.0.2.1"$X"`}
	for _, words := range []string{"ping -c 1", "curl -s", "dig", "host", "getent hosts", "nc -z"} {
		list := strings.Fields(words)
		for _, to := range programs.Judge(programs.Call{Name: list[0], Args: append(literals(list[1:]...), x), Direct: true}).To {
			assert.Empty(t, to, words)
		}
	}
	for words, want := range map[string][]string{
		"rm web": nil, "kill 1": nil, "make web": nil, "getent": nil, "getent hosts": nil, "getent passwd bob": nil, "getent shadow bob": nil, "getent ahosts a": {"a"}, "getent networks a": {"a"},
		"getent -s dns hosts a": {"a"}, "nc web": {"web", ""}, "telnet": {""},
	} {
		list := strings.Fields(words)
		assert.Equal(t, want, call(list[0], true, list[1:]...).To, words)
	}
	for name, want := range map[string]bool{"frobnicate": false, "ls": false, "rm": false, "curl": true, "resolvectl": true, "getent": true, "dig": true, "git": false} {
		assert.Equal(t, want, programs.Connects(name), name)
	}
	assert.Equal(t, policy.Forbidden, call("nc", true, "-ve", "x", "h").Class)
	assert.Equal(t, policy.Write, call("nc", true, "-w5e", "h").Class, "a value is not a cluster of letters")
}

func TestAwkIsForbiddenTheNetworkByItself(t *testing.T) {
	for _, way := range []string{"/inet/", "/inet4/", "/inet6/"} {
		assert.Equal(t, policy.Forbidden, call("awk", true, `BEGIN { print 1 > "`+way+`tcp/0/h/1" }`).Class, way)
	}
	assert.NotEmpty(t, call("awk", true).Reason, "without a program")
}

// A loop ends only where nothing within it changes what it counts, or counts to.
func TestALoopOfAwkEndsWhereNothingChangesItsCount(t *testing.T) {
	loop := func(head, body string) policy.Class {
		return call("awk", true, "{ for ("+head+") "+body+" }", "f").Class
	}
	for _, body := range []string{
		"print $i", "{ print $i }", "print $i; i = 0", "{ x = i == 2 }", "x = i", "{ print i \"}\"; x = 2 }", "{ split($i, a) }", "{ print i, n }", "{ x = y[i] }", "{ ii = 1; i2 = 1 }", "print n;", "{ x = i }",
		"{ $i = 1 }", "{ x = $1 }", "if (i > 1) { print i }",
	} {
		assert.Equal(t, policy.ReadOnly, loop("i = 1; i <= n; i++", body), body)
	}
	for _, body := range []string{
		"{ x = 1; i = 0 }", "{ x = \"\\\"}\"; i = 0 }", "{ x = \"}\"; i = 0 }", "{ x = /}/; i = 0 }", "{ x = /\\}/; i = 0 }", "{ { x = 1 } i = 0 }", "{ sub(/x/, \"1\", i) }", "{ gsub(\"x\", \"1\", i) }", "{ split(\"x\", i) }",
		"{ match(\"s\", \"x\", i) }", "{ match(\"s\", \"x\", n) }", "{ sub(\"a\", \"b\", n) }", "{ getline i }", "{ getline n }", "{ for (i in a) x = 1 }", "{ i ++ }", "{ ++ i }", "{ -- i }", "{ --n }", "{ i -- }", "{ i += 0 }", "{ i -= 1 }", "{ i *= 1 }",
		"{ i /= 2 }", "{ i %= 2 }", "{ i ^= 1 }", "{ i **= 1 }", "{ i[1] = 2 }", "if (1) i = 0", "for (;;) x = 1", "do i = 0", "{ n = i + 1 }", "print \";\", i = 0", "if (x) { y = 1 } else i = 0", "while (x) i = 0", "print /;/ i = 0", "print \"\\n\" \";\" i = 0",
	} {
		assert.Equal(t, policy.Unknown, loop("i = 1; i <= n; i++", body), body)
	}
	for _, body := range []string{"$(NF+2) = 1", "$(NF+2)++", "$(NF+2)--", "++$(NF+2)", "-- $(NF+2)", "++$n", "$n = 1", "$0 = x", "$n++", "sub(/a/, \"b c\")", "gsub (/a/, \"b\", $n)", "NF++", "NF = 9", "++NF"} {
		assert.Equal(t, policy.Unknown, loop("i = 1; i <= NF; i++", body), body)
	}
	for _, body := range []string{"$i = 1", "$i++", "x = $(NF)", "x = $n", "sub(/a/, \"b\", $i)", "x[NF] = 1", "print"} {
		assert.Equal(t, policy.ReadOnly, loop("i = 1; i <= NF; i++", body), body)
	}
	assert.Equal(t, policy.Unknown, loop("i = 1; i <= $1; i++", "$i = 9"), "what it counts to may be that field")
	for _, head := range []string{
		"i = 1; i < 5; i++", "i = 5; i > 1; i--", "i=1;i<9;++i", "i=9;i>=1;--i", "i = NF - 1; i >= 1; i--", "i = 1; i <= length(y); i++", "i = 1; i <= 9999999; i++", "i = 1; i <= n && x; i++", "i = -3; i < 3; i++", "k in a",
	} {
		assert.Equal(t, policy.ReadOnly, loop(head, "x = 1"), head)
	}
	for _, head := range []string{
		"i = ; i < 5; i++", "i = 1; i < ; i++", "i = 1; i <= 99999999; i++", "i = 1; i <= 1e9; i++", "i = 1; i < 5; i--", "i = 1; i > 5; i++", "i = 1; i < 5; j++", "i = 1; i < 5;", "; i < 5; i++", "i = 1;; i++", "i = 1; j < 5; i++",
		"i = 1; i == 5; i++", "i = 1; i < 5 || 1; i++", "i = 1; i < 5 ? 1 : 1; i++", "i = 1; i < n++; i++", "i = 1; i < --n; i++", "i = n++; i < 5; i++", "a[1] = 1; a[1] < 5; i++", "i < 5; i < 5; i++", "i = 1; i < x[1]; i++", "i = 1; i < 5 && i = 1; i++",
		"i = 1; i < n && n++; i++", "i = 1; i < 5; i += 1", "i = \"a\"; i < 5; i++", "= 1; < 5; ++",
	} {
		assert.Equal(t, policy.Unknown, loop(head, "x = 1"), head)
	}
	own := "function g(x) { i = 0; return x } "
	assert.Equal(t, policy.Unknown, call("awk", true, own+"{ for (i = 1; i <= NF; i++) g(1) }").Class, "a function changes it")
	assert.Equal(t, policy.ReadOnly, call("awk", true, own+"{ for (i = 1; i <= NF; i++) x = 1 }").Class)
}

// No byte of a word is beyond what an option may be.
func TestBytesThatAreNoLettersOfOptions(t *testing.T) {
	for _, style := range []string{"", "\tstyle dashlong\n", "\tstyle bundle\n"} {
		for _, w := range []string{"-\x80", "-\xff", "\x80", "\xff", "-a\x80", "--\x80"} {
			got := programs.JudgeIn("program p\n"+style+"\t-a\n", programs.Call{Name: "p", Args: literals(w)})
			assert.Equal(t, policy.Unknown, got.Class, "%q with %q", w, style)
		}
	}
	byTable(t, "program p\n\tclass recode\n", "unknown | -z\nread-only |")
	byTable(t, "program p\n\tstyle inherit\n\t--all!danger -l!danger --long!danger\n\tsub s\n\t\t--all -l\n", "read-only | s --all\nread-only | s -l\ndangerous | s --long\ndangerous | --all s")
}

func TestWhatIsWrittenIsTheLastOperandOfAnyNumber(t *testing.T) {
	for words, want := range map[string]string{"": "", "a": "a", "a b": "b", "a b c": "c", "a b a": "a"} {
		got := ""
		for _, p := range programs.JudgeIn("program p\n\tif !-x: write=last b\n\t-x\n\toperands text...\n", programs.Call{Name: "p", Args: literals(strings.Fields(words)...)}).Paths {
			if p.Write {
				got += p.Arg.Text
			}
		}
		assert.Equal(t, want, got, words)
	}
}

func TestOctalEscapesOfTr(t *testing.T) {
	recodes := func(set string) bool {
		return programs.Judge(programs.Call{Name: "tr", Args: literals(set, "x")}).Recodes
	}
	for _, set := range []string{`\0011`, `\071`, `\141`, `\8`, `\0012`, `\200`, `a\n`, `\na`, `\w`, `\377`, `\` + `055`, "\x80", "-"} {
		assert.True(t, recodes(set), set)
	}
	for _, set := range []string{`\1`, `\01`, `\007`, `\7`, `\012`, `\a\b\f\n\r\t\v`, `\\`, `,`, `\054`, "~\x7f", "[:punct:]", "[:blank:]", "[:cntrl:]", "\\"} {
		assert.False(t, recodes(set), set)
	}
}

// The interval and the count together say how long it takes, however they are given.
func TestIntervalsByOption(t *testing.T) {
	table(t, `
		unknown | top -b -n 2 -d "$X"
		unknown | top -b -n 2 -d x
		unknown | top -b -n "$X" -d 1
		read-only | top -h
		read-only | free -c 100
		unknown | free -c 121
		unknown | free -s x -c 1
		unknown | free -s "$X" -c 1
		unknown | free -s 1 -c x
		read-only | free
		unknown | free -s 1
		read-only | iostat sda
		unknown | iostat sda 1
		read-only | iostat sda 1 5
		unknown | iostat "$X" 1 5
		unknown | iostat sda 60 3
		unknown | vmstat 1
		read-only | vmstat
	`)
}

func TestFormatsThatTheConfigurationMayDefine(t *testing.T) {
	table(t, `
		unknown | git show --format=mine
		unknown | git stash list --format=mine
		unknown | git reflog --format=mine
		unknown | git reflog show --format=mine
		unknown | git shortlog --format=mine
		unknown | git rev-list --format=mine HEAD
		read-only | git show --format=%h
		read-only | git log --format=short -n 5 --since=mine
		read-only | git branch --format=mine
		read-only | git tag --format=mine
	`)
}

func TestWhereFindStartsAndWhatItRemoves(t *testing.T) {
	got := programs.Judge(programs.Call{Name: "find", Args: literals("a", "b", "-name", "x")})
	assert.Equal(t, []programs.Path{{Arg: literals("a")[0], Stat: true}, {Arg: literals("b")[0], Stat: true}}, got.Paths)
	table(t, `
		read-only | find "/srv/$X" -name y
		unknown | find "$X" -name y
		read-only | find -H -P -E -X -x -s . -name y
		unknown | find -Olots . -name y
	`)
	for _, name := range strings.Fields("rm rmdir unlink shred mv chmod chown chgrp truncate srm /usr/bin/rm") {
		found := call("find", true, "/srv", "-exec", name, "{}", ";")
		removed := 0
		for _, p := range found.Paths {
			if p.Delete {
				removed++
			}
		}
		assert.Equal(t, 1, removed, name)
	}
	require.Len(t, call("find", true, "/srv", "-exec", "cat", "{}", ";").Paths, 1)
	require.Len(t, call("find", true, "/srv", "-name", "x", "-exec", "rm", "{}", ";").Paths, 1)
}

func TestSmallWordsOfManyLanguages(t *testing.T) {
	table(t, `
		read-only | git log --pretty=format:x
		read-only | git log --pretty=tformat:x
		read-only | git log --pretty=%h
		read-only | git log --pretty=reference
		unknown | git log --pretty=xformat:x
		unknown | nc "h$X" 80
		privileged | sudo 9=x rm -rf /
		privileged | sudo 0=x rm -rf /
		forbidden | sudo A9=x rm -rf /
		forbidden | sudo z=x rm -rf /
		read-only | ps -o
		read-only | ps o
		unknown | sed ',5p' f
		read-only | sed ':a;n;ba' f
		read-only | sed ':a;N;ba' f
		unknown | sed ':a;p;ba' f
		read-only | sed ':a;N;$!ba' f
	`)
	for script, want := range map[string]string{"s/a/b/wx": "x", "s/a/b/gw x": "x", "wx": "x", "W x": "x", "s/a/b/w x y": "x y"} {
		assert.Contains(t, call("sed", true, script, "f").Paths, programs.Path{Arg: literals(want)[0], Write: true}, script)
	}
	for words, want := range map[string]int{"rsync a b": 0, "rsync --delete a b": 1, "scp a b": 0} {
		list, got := strings.Fields(words), 0
		for _, p := range call(list[0], true, list[1:]...).Paths {
			if p.Delete {
				got++
				assert.Equal(t, "b", p.Arg.Text)
			}
		}
		assert.Equal(t, want, got, words)
	}
}

// Whatever a script ends in, there is an answer.
func TestScriptsThatEndTooSoon(t *testing.T) {
	for name, scripts := range map[string][]string{
		"sed": {`s/[^]x[:alpha:]\/]/\n&/gw f`, `\,a[[=b=]],,$!{y/a\/b/c\nd/;:x;N;bx}`, "1~2,+3a\\\ntext\\\nmore", "s|[[|]|x|e"},
		"awk": {`function f(x) { return "a\"b" x } BEGIN { for (i = 1; i <= NF; i++) { $i++; print f($1) > "/dev/stderr" } } /[^]x[:alpha:]]/ { x = y / 2; print 1e5 | "c" }`},
		"jq":  {`"a\(.b | "c\(env)")" as $x | {k: ..d} # x`, "[range(1; 5)] | recurse(.a)"},
	} {
		for _, script := range scripts {
			for n := range len(script) + 1 {
				assert.NotEmpty(t, call(name, true, script[:n], "f").Reason, "%s %q", name, script[:n])
			}
		}
	}
	byTable(t, "program p\n\t-x=prefix -y=del -z=write\n\toperands prefix\n", "write | -x a\nwrite | -y a\nwrite | -z a\nwrite | a")
	byTable(t, "program p\n\t-x=shell -y=cmd\n", "unknown | -x a\nunknown | -y a")
	for _, name := range programs.Names() {
		table, _ := programs.Lookup(name)
		for line := range strings.Lines(table.Text) {
			if set, ok := strings.CutPrefix(strings.TrimSpace(line), "use "); ok {
				assert.Contains(t, table.Text, "\nset "+set+"\n", name)
			}
		}
	}
}

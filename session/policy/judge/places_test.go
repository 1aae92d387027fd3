package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestCatastrophicPathsAreRecognisedHoweverTheyAreSpelt(t *testing.T) {
	for _, p := range []string{"/", "//", "/.", "/..", "/*", "/.*", "/*/", "/etc", "/etc/", "/etc/*", "/e*", "/usr/../etc", "/home/ada", "/home/*",
		"~", "~/", "~/*", "~/.*", "~bob", "../../..", "../../../*", "/etc/passwd"} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p}).Class, p)
	}
	for _, p := range []string{"", ".", "*", "..", "/tmp", "/tmp/*", "/srv/app", "/home/ada/x", "~/x", "../x", "../../../x", "etc", "/var/log/nginx"} {
		assert.NotEqual(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p}).Class, p)
	}
}

func TestWritingSomeFilesIsWorseThanWriting(t *testing.T) {
	for p, want := range map[string]policy.Class{
		"/dev/sda": policy.Forbidden, "/dev/../dev/nvme0n1p1": policy.Forbidden, "/dev/mem": policy.Forbidden,
		"~/.ssh/authorized_keys": policy.Forbidden, "/home/a/.ssh/config": policy.Forbidden, "/etc/sudoers.d/x": policy.Forbidden,
		"/etc/passwd": policy.Forbidden, "/etc//passwd": policy.Forbidden, "/etc/profile": policy.Forbidden, "~/.zshenv": policy.Forbidden,
		"/etc/cron.d/x": policy.Forbidden, "/etc/systemd/system/x.service": policy.Dangerous, "/proc/sysrq-trigger": policy.Forbidden,
		"/proc/sys/net/ipv4/ip_forward": policy.Dangerous, "/usr/bin/ls": policy.Dangerous, "/srv/app/profile": policy.Write, "x": policy.Write,
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: "touch " + p}).Class, p)
	}
}

func TestReadingADiskShowsSecrets(t *testing.T) {
	for _, s := range []string{"xxd -l 512 /dev/sda", "strings /dev/mem"} {
		assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: s}).Class, s)
	}
}

// What hier(7) and the manuals of the systems call theirs: it goes with the host.
func TestNoSystemDirectoryIsRemoved(t *testing.T) {
	for _, p := range []string{
		"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local", "/usr/local/bin", "/var/lib", "/var/lib/dpkg", "/var/lib/rpm", "/var/spool", "/var/run",
		"/etc/ssh", "/etc/pam.d", "/etc/systemd", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/fstab", "/boot/efi", "/boot/grub",
		"/lib/modules", "/usr/lib/modules", "/Users", "/System", "/Library", "/Applications", "/private", "/private/etc", "/private/var", "/Users/ada",
		"/{etc,usr}", "/[a-z]*", "/?tc", "/etc/{*,.*}", "../../../..", "../../../.*",
	} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p, Shell: "dash"}).Class, p)
	}
	for _, p := range []string{"/opt/a*", "/srv/{a,b}", "../../x", "../../../x*", "/tmp/*", "~/a*", "/homes/ada"} {
		assert.NotEqual(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p, Shell: "dash"}).Class, p)
	}
}

func TestFilesThatLetPeopleInAreForbidden(t *testing.T) {
	touch := func(name string) judge.Report {
		return judge.Judge(judge.Request{Script: "touch " + name, Shell: "dash", Dir: "/srv"})
	}
	forbidden := map[string][]string{
		"forbidden/keys": {"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/doas.conf",
			"/etc/securetty", "/etc/subuid", "/etc/subgid", "/etc/hosts.equiv", "/etc/sudoers.d/x", "/etc/pam.d/x", "/etc/polkit-1/rules.d/x", "/etc/ssh/sshd_config",
			"/etc/ssh/sshd_config.d/x", "/etc/doas.d/x", "/home/a/.ssh/x", "/home/a/.ssh2/x", ".ssh/x", ".rhosts", ".shosts"},
		"forbidden/start-files": {"/etc/bash.bashrc", "/etc/bashrc", "/etc/profile", "/etc/zshenv", "/etc/zshrc", "/etc/zprofile", "/etc/environment",
			"/etc/profile.d/x", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc",
			".mkshrc", ".shrc", ".ashrc", ".inputrc", "/etc/.profile"},
		"forbidden/schedule": {"/etc/cron.daily/x", "/var/spool/cron/x", "/etc/init.d/x", "/etc/udev/rules.d/x"},
		"forbidden/raw-disk": {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper",
			"/dev/mem", "/dev/kmem", "/dev/port", "/dev/root", "/dev/sdb1", "/dev/disk/by-id/x"},
	}
	for rule, names := range forbidden {
		for _, name := range names {
			r := touch(name)
			assert.Equal(t, policy.Forbidden, r.Class, name)
			assert.Equal(t, rule, r.Rule, name)
		}
	}
	for name, want := range map[string]policy.Class{
		"/home/a/.config/systemd/user/x": policy.Dangerous, "/usr/lib/systemd/system/x": policy.Dangerous, "/boot/x": policy.Dangerous,
		"/etc/motd": policy.Dangerous, "/usr/sbin/x": policy.Dangerous, "/bin/x": policy.Dangerous, "/sbin/x": policy.Dangerous, "/sys/class/x": policy.Dangerous,
		"/proc/sys/vm/swappiness": policy.Dangerous, "/srv/etc/passwd": policy.Write, "/srv/core_pattern": policy.Write, "/mem": policy.Write, "/dev/tty": policy.Write,
		"mem": policy.Write, "sda": policy.Write,
	} {
		assert.Equal(t, want, touch(name).Class, name)
	}
	assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "touch mem"}).Class, "where it stands is not known")
	assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: `head -c"$N" /dev/zero`}).Class)
	for _, name := range []string{"/dev/zero", "/dev/tty", "/dev/watchdog", "/proc/kmsg", "/sys/kernel/debug/tracing/trace_pipe"} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "cat " + name}).Class, name)
	}
	for _, name := range []string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/proc/cpuinfo", "/sys/kernel/x", "/srv/trace_pipe", "/srv/dev/x"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "cat " + name}).Class, name)
	}
}

// A system that is mounted, that of a container, a backup of it, and what lies below /usr/local hold the same files at the same places.
func TestSecretsOfAnotherSystemAreSecrets(t *testing.T) {
	class := func(script, dir string) policy.Class {
		return judge.Judge(judge.Request{Script: script, Shell: "dash", Dir: dir}).Class
	}
	for _, p := range []string{"/mnt/etc/shadow", "/var/lib/lxc/c/rootfs/etc/shadow", "/.snapshots/1/snapshot/etc/gshadow", "/backup/web1/etc/openvpn/auth",
		"/usr/local/etc/wireguard/wg0.conf", "/usr/local/etc/sudoers", "/opt/homebrew/etc/openvpn/a.conf", "/mnt/var/lib/etcd/member/x", "/mnt/boot/grub/user.cfg",
		"/mnt/*/etc/shadow", "/mnt/etc/sh*", "~/old/etc/ppp/chap-secrets"} {
		assert.Equal(t, policy.SensitiveRead, class("cat "+p, "/"), p)
	}
	assert.Equal(t, policy.SensitiveRead, class("cat etc/shadow", "/mnt"))
	for n := range 12 { // not every one is looked for
		assert.Equal(t, policy.SensitiveRead, class("cat /a"+strings.Repeat("/etc/var", n)+"/etc/shadow", "/"), n)
	}
	assert.Equal(t, policy.ReadOnly, class("cat /a/etc/var/etc/var/hosts", "/"))
	assert.Equal(t, policy.SensitiveRead, class("grep -r x .", "/mnt/etc/openvpn"))
	for _, p := range []string{"/mnt/etc/hosts", "/usr/local/etc/nginx/nginx.conf", "/srv/app/etc/app.conf", "/srv/var/log/x", "/mnt/etc/os-release", "etc/x"} {
		assert.Equal(t, policy.ReadOnly, class("cat "+p, "/"), p)
	}
}

func TestAPlainNameIsNoFileOfTheKernel(t *testing.T) {
	for name, want := range map[string]policy.Class{"data": policy.ReadOnly, "revision": policy.ReadOnly, "crc/data": policy.SensitiveRead, "trace_pipe": policy.ReadOnly, "tracing/trace_pipe": policy.SensitiveRead,
		"shadow": policy.SensitiveRead} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: "cat " + name, Shell: "dash"}).Class, name)
	}
	assert.NotEqual(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "cat trace_pipe", Shell: "dash", Dir: "/sys/kernel/tracing"}).Class)
}

// What editors, package managers and people put aside of a file holds what the file holds.
func TestCopiesOfSecretsAreSecrets(t *testing.T) {
	class := func(p string) policy.Class {
		return judge.Judge(judge.Request{Script: "cat " + p, Shell: "dash", Dir: "/srv"}).Class
	}
	for _, p := range []string{"'.env~'", "..env.swp", ".wp-config.php.swo", "wp-config.php.bak", "wp-config.php.bak2", "wp-config.php-old", "wp-config.php_20240131",
		"server.key.2024-01-31", "/etc/redis/redis.conf.dpkg-old", "/etc/sudoers.rpmsave", "/etc/ipsec.secrets.ucf-dist", "'#master.key#'", "'.#master.key'",
		"database.yml.orig.1", "id_ed25519.old", "/etc/gshadow.bak", "'~/.pgpass~'"} {
		assert.Equal(t, policy.SensitiveRead, class(p), p)
	}
	for _, s := range []string{"find / -name wp-config.php.bak -exec cat {} +", "find /srv -name '.env~' | xargs cat", "grep -r x --include=master.key.old /srv",
		"find /mnt -name shadow -exec cat {} +"} {
		assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: s, Shell: "dash"}).Class, s)
	}
	for _, p := range []string{"nginx.conf.bak", "'x~'", "/var/log/syslog.1", "app.log-20240131", ".x.swp", "'#x#'", "key.pub.old", "old", "bak", ".bak", "'~'", "1", "'##'"} {
		assert.Equal(t, policy.ReadOnly, class(p), p)
	}
}

func TestMailIsPrivate(t *testing.T) {
	for _, p := range []string{"/var/mail/root", "/var/spool/mail/kim", "/home/kim/Maildir/new/1", "/home/kim/mbox", "/var/spool/postfix/deferred/A/A1", "/var/spool/exim4/input/x-D"} {
		assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: "tail " + p, Shell: "dash"}).Class, p)
	}
	for _, s := range []string{"ls -l /var/mail", "ls /var/spool/postfix/deferred", "tail /var/log/mail.log", "mailq"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: s, Shell: "dash"}).Class, s)
	}
}

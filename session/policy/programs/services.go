package programs

// services look after services, timers and logs. Options as in systemd 255.
var services = []program{
	{name: "systemctl", style: inherit | pages, env: "SYSTEMD_* PAGER LESS LESSOPEN LESSCLOSE DBUS_*", opts: `
		-t,--type=text --state=text -p,--property=text -P=text -a,--all -r,--recursive --reverse --with-dependencies
		-l,--full --value --show-types -q,--quiet --no-warn --no-pager --no-legend --legend=text --plain --failed -n,--lines=text
		-o,--output=text --after --before --user --system --global --timestamp=text --firmware-setup!danger
		--no-ask-password --no-reload --no-block --no-wall --wait!ask --now -f,--force --job-mode=text -s,--signal=text
		--kill-whom=text -i --check-inhibitors=text --runtime --dry-run --preset-mode=text --what=text --mkdir --marked
		--message=text --read-only --drop-in=text --when=text -H,--host=text!unknown -M,--machine=text!unknown --root=text!unknown
		--image=text!unknown -C,--capsule=text!unknown`,
		sub: []program{
			{name: "list-units|list-automounts|list-paths|list-sockets|list-timers|list-dependencies|list-unit-files|list-machines|list-jobs|is-active|is-failed|is-enabled|is-system-running|get-default|status|show|cat|help|whoami", args: "text..."},
			{name: "show-environment", class: secret, args: "text..."},
			{name: "start|reload|enable|reenable|preset|unmask|link|daemon-reload|reset-failed|import-environment|set-environment|unset-environment|add-wants|add-requires|set-property|log-level|log-target|service-log-level|service-log-target|clean|freeze|thaw|bind|mount-image|cancel|reload-or-restart|try-reload-or-restart|preset-all|revert", class: write, args: "text..."},
			{name: "edit", class: unknown, args: "text..."},
			{name: "stop|restart|try-restart|kill|disable|mask|isolate|set-default|daemon-reexec|default|rescue|emergency|halt|poweroff|reboot|soft-reboot|kexec|exit|switch-root|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|sleep", class: danger, args: "text..."},
		}},
	{name: "journalctl", style: pages, args: "text...", env: "SYSTEMD_* PAGER LESS LESSOPEN LESSCLOSE", opts: `
		--system --user -M,--machine=text!unknown -m,--merge -D,--directory=read -i,--file=read --root=read!ask --image=read!unknown
		--namespace=text -S,--since=text -U,--until=text -c,--cursor=text --after-cursor=text --show-cursor --cursor-file=write
		-b -# --boot?text --list-boots -u,--unit=text --user-unit=text -t,--identifier=text -T,--exclude-identifier=text
		-p,--priority=text --facility=text -g,--grep=text --case-sensitive?text -k,--dmesg -o,--output=text
		--output-fields=text -n,--lines?text -r,--reverse --show-cursor -f,--follow!ask --no-tail --utc -x,--catalog --no-hostname --no-full
		-l,--full -a,--all -q,--quiet --no-pager -e,--pager-end --truncate-newline -N,--fields -F,--field=text
		--disk-usage --header --list-catalog --dump-catalog --list-namespaces --list-invocations --invocation=text -I
		--verify --verify-key=text!ask --interval=text --vacuum-size=text!danger --vacuum-files=text!danger
		--vacuum-time=text!danger --rotate!write --flush!write --sync!write --relinquish-var!write --smart-relinquish-var!write
		--update-catalog!write --setup-keys!write --force --synchronize-on-exit=text`},
	{name: "loginctl", style: inherit | pages, env: "SYSTEMD_*", opts: `
		--no-pager --no-legend --no-ask-password -p,--property=text -P=text -a,--all --value -l,--full --kill-whom=text
		-s,--signal=text -n,--lines=text -o,--output=text -j --json=text -H,--host=text!unknown -M,--machine=text!unknown`,
		sub: []program{
			{name: "list-sessions|session-status|show-session|list-users|user-status|show-user|list-seats|seat-status|show-seat", args: "text..."},
			{name: "activate|lock-session|unlock-session|lock-sessions|unlock-sessions|enable-linger|disable-linger|attach|flush-devices", class: write, args: "text..."},
			{name: "terminate-session|kill-session|terminate-user|kill-user|terminate-seat", class: danger, args: "text..."},
		}},
	{name: "machinectl", style: inherit | pages, opts: `--no-pager --no-legend -l,--full -a,--all -p,--property=text --value -o=text -n=text --max-addresses=text`,
		sub: []program{{name: "list|status|show|list-images|image-status|show-image", args: "text..."}}},
	{name: "systemd-analyze", style: inherit | pages, opts: `
		--no-pager --system --user --global --order --require --from-pattern=text --to-pattern=text --fuzz=text --man=text
		--json=text --iterations=text -q,--quiet --offline=text --threshold=text -H,--host=text!unknown -M,--machine=text!unknown
		--root=read!unknown --image=read!unknown --generators=text!unknown`,
		sub: []program{{name: "time|blame|critical-chain|plot|dot|dump|unit-paths|exit-status|capability|unit-files|syscall-filter|filesystems|calendar|timestamp|timespan|security|cat-config|verify", args: "text..."}}},
	{name: "systemd-cgls", style: pages, args: "text...", opts: `--no-pager -a,--all -u,--unit?text --user-unit?text -k -l,--full -x,--xattr=text -c,--cgroup-id=text`},
	{name: "systemd-cgtop", args: "text", opts: `-b,--batch -n,--iterations=text -p,--order=text -c -t -m -i -d,--delay=text -r,--raw -P -k -1 --depth=text --cpu?text --recursive=text`, check: top},
	{name: "systemd-path", args: "text...", opts: `--suffix=text --no-pager`},
	{name: "systemd-delta|systemd-escape|systemd-id128", args: "text...", style: pages, opts: `--no-pager --diff=text -t,--type=text --suffix=text -p,--path -u,--unescape --template=text`},
	{name: "coredumpctl", style: inherit | pages, opts: `--no-pager --no-legend -n=text -1 -S,--since=text -U,--until=text -r,--reverse -F,--field=text -q,--quiet --all --json=text`,
		sub: []program{
			{name: "list|info", args: "text..."},
			{name: "dump", class: secret, why: "shows a program's memory, which may hold secrets", args: "text...", opts: `-o,--output=write`},
			{name: "debug|gdb", class: unknown, args: "text..."},
		}},
	{name: "busctl", style: inherit | pages, opts: `--no-pager --no-legend --system --user -l,--full --list --unique --acquired --activatable -q,--quiet -j --json=text --address=text!unknown -H=text!unknown -M=text!unknown`,
		sub: []program{{name: "list|status|tree|introspect|get-property", args: "text..."}}},
	{name: "systemd-run|systemd-nspawn|systemd-inhibit|systemd-cat", class: unknown, why: "runs a command in a way that changes what it means", raw: true, check: guess},
	{name: "systemd-ask-password|systemd-creds|portablectl|systemd-tmpfiles|systemd-sysusers", class: unknown, args: "text..."},
	{name: "systemd-notify|systemd-mount|systemd-umount", class: unknown, args: "text..."},
	{name: "service|rc-service|invoke-rc.d", raw: true, check: service},
	{name: "rc-status", args: "text...", opts: `-a,--all -c,--crashed -l,--list -m,--manual -r,--runlevel -s,--servicelist -u,--unused -C,--nocolor -S,--supervised`},
	{name: "chkconfig", raw: true, check: listOnly("--list")},
	{name: "rc-update", raw: true, check: listOnly("show -v")},
	{name: "update-rc.d", class: write, args: "text..."},
	{name: "initctl", args: "text...", check: verbs("list status version show-config")},
	{name: "sv|svstat|s6-svstat", args: "text...", check: verbs("status")},
	{name: "supervisorctl", args: "text...", style: exact, opts: `-c,--configuration=read!ask -s=text!write -u=text!ask -p=text!ask -i!ask`, check: verbs("status pid version avail tail")},
	{name: "monit", args: "text...", check: verbs("status summary report")},
	{name: "pm2|forever|circusctl", class: unknown, why: "starts its own daemon", args: "text...", alone: "--version"},
	{name: "crontab", args: "write!forbid", opts: `-l -u=text -s -e!unknown -r!danger -i -n=text!unknown -T=read!ask -c!write -V`, check: func(c *call) {
		if !c.has("-l") {
			if len(c.ops) == 0 && !c.has("-e") && !c.has("-r") && !c.has("-T") && !c.has("-V") {
				c.say(forbid, "plants what it reads, to run later unasked")
			}
			c.say(write, "without -l changes what runs later")
		}
	}},
	{name: "atq", opts: `-q=text -V`},
	{name: "atrm", class: danger, args: "text..."},
	{name: "at|batch", class: unknown, why: "runs commands later", args: "text...", alone: "-l -V"},
	{name: "anacron", class: unknown, args: "text..."},
	{name: "logrotate", class: write, args: "read...", opts: `-d,--debug -v,--verbose -f,--force -s,--state=write -m,--mail=cmd -l,--log=write`},
	{name: "nginx|openresty", class: write, why: "starts or signals the server; even a test creates missing logs", alone: "-v -V -h -?", args: "text...", opts: `-t -T -q -v -V -h -s=text!danger -c=read -g=text!unknown -p=text!unknown -e=write`},
	{name: "apachectl|apache2ctl|httpd|apache2", class: write, why: "starts or signals the server", alone: "-v -V -l -L -M -S -t configtest", args: "text..."},
	{name: "sshd", class: write, why: "starts a server", alone: "-t -T -V -G", args: "text..."},
	{name: "haproxy|named|unbound|dnsmasq|squid|php-fpm|postfix|exim|exim4|dovecot|slapd|keepalived|rsyslogd|snmpd", class: write, why: "starts or controls a server", alone: "-v -vv -V --version -bV", args: "text..."},
	{name: "named-checkconf|named-checkzone|unbound-checkconf", args: "text...", opts: `-h -v -p -z -x -t=text!unknown -j`},
	{name: "postconf", args: "text...", opts: `-n -d -h -v -e!write -X!write -# -M -F -P -m -a -A -l`, check: func(c *call) {
		for _, a := range c.ops {
			if !a.certain() || hasEqual(a.Text) {
				c.say(write, "changes the configuration")
			}
		}
	}},
	{name: "postqueue|mailq|exiqgrep|qshape", class: read, args: "text...", opts: `-p -j -f!write -i=text!write -s=text!write -b -r=text -z -x -c`},
	{name: "postsuper|postdrop|newaliases|postmap|postalias", class: write, args: "text..."},
	{name: "fail2ban-client", args: "text...", check: verbs("status ping version banned get"), opts: `-V -q -v --version --str2sec=text`},
	{name: "varnishadm|varnishlog|varnishstat|rndc|unbound-control|doveadm", class: unknown, args: "text..."},
	{name: "certbot", class: unknown, args: "text...", alone: "--version"},
}

// service runs a service's own script with what it is told; "status" is for looking.
func service(c *call) {
	n := len(c.args)
	switch {
	case n == 1 && c.args[0].certain() && listed("--status-all --version --help -h --list -l", c.args[0].Text):
	case n == 2 && c.args[1].certain() && c.args[1].Text == "status" && !c.args[0].dash():
	case n == 2 && c.args[1].certain() && listed("stop restart force-reload", c.args[1].Text):
		c.say(danger, "stops or restarts a service")
	default:
		c.say(write, "changes a service")
	}
}

// listOnly makes a check for programs that look where every word is one of these.
func listOnly(words string) func(*call) {
	return func(c *call) {
		for i, a := range c.args {
			if !a.certain() || !listed(words, a.Text) && (i == 0 || a.dash()) {
				c.say(write, "does more than list")
			}
		}
	}
}

func hasEqual(s string) bool {
	for i := range len(s) {
		if s[i] == '=' {
			return true
		}
	}
	return false
}

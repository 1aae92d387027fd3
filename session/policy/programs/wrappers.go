package programs

import "strings"

// wrappers run another command; how they are called says where that command begins.
var wrappers = []program{
	{name: "nice", args: "rest", opts: `-n,--adjustment=text -#`},
	{name: "ionice", args: "rest", opts: `-c,--class=text -n,--classdata=text -t,--ignore -p,--pid=text!write -P,--pgid=text!write -u,--uid=text!write -V`},
	{name: "timeout|gtimeout", args: "text rest", style: first, opts: `-k,--kill-after=text -s,--signal=text -v,--verbose -p,--preserve-status -f,--foreground`, check: func(c *call) {
		if len(c.ops) > 0 && !c.ops[0].certain() {
			c.say(unknown, "has a duration that isn't literal")
		}
	}},
	{name: "stdbuf", args: "rest", opts: `-i,--input=text -o,--output=text -e,--error=text`},
	{name: "nohup", class: write, why: "may write nohup.out, and lets a command outlive the session", args: "rest"},
	{name: "setsid|daemonize|start-stop-daemon|disown|dtach|abduco", class: write, why: "lets a command outlive the session", args: "rest", style: exact, opts: `-c,--ctty -f,--fork -w,--wait -V`},
	{name: "time|gtime", args: "rest", opts: `-p,--portability -v,--verbose -f,--format=text -o,--output=write -a,--append -q,--quiet -V`},
	{name: "env|genv", args: "text...", style: first, check: env, env: "", opts: `
		-i,--ignore-environment -0,--null -u,--unset=text -C,--chdir=read -S,--split-string=text!unknown -v,--debug -a,--argv0=text!unknown
		--block-signal?text --default-signal?text --ignore-signal?text --list-signal-handling -P=text!unknown -L=text!priv -U=text!priv`},
	{name: "printenv", class: secret, why: "shows the environment, which may hold secrets", args: "text...", opts: `-0,--null`},
	{name: "xargs|gxargs", args: "rest", check: xargs, opts: `
		-0,--null -a,--arg-file=read -d,--delimiter=text -E=text -e,--eof?text -I=text -i,--replace?text -L=text -l,--max-lines?text
		-n,--max-args=text -o,--open-tty!unknown -P,--max-procs=text -p,--interactive!unknown --process-slot-var=text!unknown -r,--no-run-if-empty -s,--max-chars=text
		--show-limits -t,--verbose -x,--exit`},
	{name: "parallel|rush|sem|parallel.moreutils", class: unknown, why: "runs commands that it puts together itself", raw: true, check: guess, alone: "--version"},
	{name: "watch", class: unknown, why: "never ends", args: "rest", opts: `
		-b,--beep -c,--color -C,--no-color -d,--differences?text -e,--errexit -g,--chgexit -n,--interval=text -p,--precise -q,--equexit=text -r,--no-rerun
		-s,--shotsdir=text!write -t,--no-title -w,--no-wrap -x,--exec -v`, check: watch, alone: "-v --version"},
	{name: "script|scriptreplay|scriptlive", class: write, why: "writes what it sees, and runs a command or a shell", args: "write", style: exact, check: func(c *call) {
		if !c.has("-c") {
			c.say(unknown, "starts a shell")
		}
	}, opts: `
		-a,--append -c,--command=shell -E,--echo=text -e,--return -f,--flush --force -I,--log-in=write -O,--log-out=write -B,--log-io=write -T,--log-timing=write
		-t,--timing?text!write -m,--logging-format=text -o,--output-limit=text -q,--quiet -V`},
	{name: "flock", class: write, why: "makes a lock file", style: first, args: "write rest", check: flock, opts: `
		-s,--shared -x,-e,--exclusive -u,--unlock -n,--nb,--nonblock -w,--timeout=text -o,--close -F,--no-fork -E,--conflict-exit-code=text --verbose -V -c,--command=shell`},
	{name: "taskset", args: "text...", style: first, check: taskset, opts: `-a,--all-tasks -p,--pid -c,--cpu-list -V`},
	{name: "chrt", args: "text...", style: first, check: taskset, opts: `-a -b -d -f -i -o -r -e -R -T=text -P=text -D=text -m,--max -p,--pid -v -V`},
	{name: "chroot|unshare|nsenter|setarch|linux32|linux64|i386|x86_64|firejail|bwrap|fakeroot|fakechroot|proot|proxychains|proxychains4|torsocks|torify|tsocks|eatmydata|catchsegv|choom|uclampset|cgexec|dbus-run-session|dbus-launch|xvfb-run|caffeinate|softlimit|envdir|chpst|with-contenv|retry|ts|chronic|ifne|pee|mispipe|vidir|entr|inotifywait|inotifywatch|incrond|gdbus|nocache|run-parts|runcon|newrole|cpulimit|trickle|rlwrap|socksify|sshuttle|openvt|aa-exec|libtool",
		class: unknown, why: "runs a command in a way that changes what it means", raw: true, check: guess, alone: "--version -V"},
	{name: "tmux|screen|byobu|zellij|tmate|dvtm", class: unknown, why: "runs commands in terminals of its own", raw: true, check: guess, alone: "-V --version"},
	{name: "busybox|toybox", raw: true, check: busybox, alone: "--help --list"},
	{name: "sudo", class: priv, args: "rest", style: first, check: become, opts: `
		-A,--askpass -b,--background -B,--bell -C,--close-from=text -D,--chdir=text -E --preserve-env?text -e,--edit -g,--group=text -H,--set-home
		-h?text --host=text -i,--login -K,--remove-timestamp -k,--reset-timestamp -l,--list -n,--non-interactive -P,--preserve-groups -p,--prompt=text
		-R,--chroot=text -r,--role=text -S,--stdin -s,--shell -T,--command-timeout=text -t,--type=text -U,--other-user=text -u,--user=text -V -v,--validate -N`},
	{name: "doas", class: priv, args: "rest", style: first, check: become, opts: `-C=text -L -n -s -u=text -a=text`},
	{name: "pkexec|run0", class: priv, args: "rest", style: first, check: become, opts: `--user=text -u=text --keep-cwd --disable-internal-agent -g=text -D=text --setenv=text --unit=text --property=text --description=text --slice=text --nice=text --chdir=text -i -p=text --background=text --pty --pipe --via-shell --empower`},
	{name: "gosu|su-exec|setuidgid|s6-setuidgid", class: priv, args: "text rest", style: first},
	{name: "su|runuser", class: priv, args: "text...", opts: `-c,--command=shell --session-command=shell -l,--login -f,--fast -g,--group=text -G,--supp-group=text -m,-p,--preserve-environment -P,--pty -s,--shell=text -u,--user=text -w,--whitelist-environment=text -V -h -T,--no-pty`, check: func(c *call) {
		if c.has("-u") {
			c.nest(c.ops)
		}
	}},
	{name: "sg|newgrp|setpriv|capsh|sudoedit|sudoreplay|ksu|calife|userv|priv|sudo-rs|su-rs", class: priv, raw: true, check: guess},
}

// guess reports every tail of the call that may be a command, so that what is forbidden is seen wherever it stands.
func guess(c *call) {
	n := 0
	for i, a := range c.args {
		if a.certain() && !strings.HasPrefix(a.Text, "-") && n < 4 {
			n++
			c.nest(c.args[i:])
			if strings.Contains(a.Text, " ") {
				c.script("sh", a)
			}
		}
	}
}

// inert are variables that change nothing but how things look.
func inert(a Arg) bool {
	name, val, ok := strings.Cut(a.Text, "=")
	if !ok {
		return false
	}
	switch name {
	case "TZ", "LANG", "NO_COLOR", "COLUMNS", "LINES", "CLICOLOR", "FORCE_COLOR":
		return true
	case "PAGER", "GIT_PAGER", "SYSTEMD_PAGER", "MANPAGER":
		return a.certain() && (val == "" || val == "cat")
	case "DEBIAN_FRONTEND":
		return a.certain() && val == "noninteractive"
	case "TERM":
		return a.certain() && strings.Trim(val, identifier+"-.+") == ""
	}
	return strings.HasPrefix(name, "LC_") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// assignment says that a word is NAME=value.
func assignment(a Arg) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return ok && name != "" && (name[0] < '0' || name[0] > '9') && strings.Trim(name, identifier) == ""
}

func env(c *call) {
	ops := c.ops
	if split, ok := c.val("-S"); ok {
		words := make([]Arg, 0, 8)
		for s := range strings.FieldsSeq(split.Text) {
			words = append(words, word(strings.Trim(s, `"'`)))
		}
		ops = append(words, ops...)
		for len(ops) > 0 && strings.HasPrefix(ops[0].Text, "-") {
			ops = ops[1:]
		}
	}
	for len(ops) > 0 && (assignment(ops[0]) || ops[0].certain() && ops[0].Text == "-") {
		if !inert(ops[0]) && ops[0].Text != "-" {
			c.say(unknown, "sets a variable that may change what the command does")
		}
		ops = ops[1:]
	}
	if a, ok := c.val("-u"); ok && !a.certain() {
		c.say(unknown, "unsets a variable that isn't literal")
	}
	if len(ops) == 0 {
		c.say(secret, "without a command shows the environment, which may hold secrets")
		return
	}
	c.nest(ops)
}

// xargs adds what it reads to the command; with -I it puts it in.
func xargs(c *call) {
	if len(c.find.Nested) == 0 {
		return // echo
	}
	replace := ""
	if a, ok := c.val("-I"); ok {
		replace = a.Text
	} else if c.has("-i") {
		replace = "{}"
		if a, ok := c.val("-i"); ok {
			replace = a.Text
		}
	}
	argv := append(make([]Arg, 0, len(c.ops)+1), c.ops...)
	if replace == "" {
		argv = append(argv, Arg{Split: true, Source: "input of xargs"})
	} else {
		for i, a := range argv {
			if before, _, ok := strings.Cut(a.Text, replace); ok {
				argv[i] = unseen(before, a.Source)
			}
		}
	}
	c.find.Nested[0].Argv = argv
}

// watch passes its operands to sh -c, unless -x.
func watch(c *call) {
	if len(c.ops) == 0 || c.has("-x") {
		return
	}
	c.find.Nested = c.find.Nested[:0]
	c.script("sh", c.ops...)
}

func flock(c *call) {
	// flock FILE -c 'source' stands after the operands.
	if len(c.ops) > 2 && c.ops[1].certain() && (c.ops[1].Text == "-c" || c.ops[1].Text == "--command") {
		c.find.Nested = c.find.Nested[:0]
		c.script("sh", c.ops[2])
	}
}

// taskset and chrt: with -p they ask or change a process, else they run a command.
func taskset(c *call) {
	if c.has("-m") {
		return
	}
	if c.has("-p") {
		if len(c.ops) > 1 {
			c.say(write, "changes how a process runs")
		}
		return
	}
	if len(c.ops) > 1 {
		c.nest(c.ops[1:])
		return
	}
	c.say(unknown, "has no command")
}

// busybox's first word is the program.
func busybox(c *call) {
	if len(c.args) == 0 || c.args[0].certain() && listed("--help --list --list-full", c.args[0].Text) {
		return
	}
	if c.args[0].dash() {
		c.say(unknown, "has an option that no table lists")
	}
	c.nest(c.args)
}

// become: what comes before the command may set variables.
func become(c *call) {
	ops := c.ops
	for len(ops) > 0 && assignment(ops[0]) {
		ops = ops[1:]
	}
	if len(c.find.Nested) > 0 {
		c.find.Nested = c.find.Nested[:0]
	}
	c.nest(ops)
}

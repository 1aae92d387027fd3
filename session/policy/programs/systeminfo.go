package programs

import "strings"

// systemInfo tells what the machine is and does.
var systemInfo = []program{
	{name: "uname", args: "", opts: `
		-a,--all -s,--kernel-name -n,--nodename -r,--kernel-release -v,--kernel-version -m,--machine -p,--processor
		-i,--hardware-platform -o,--operating-system`},
	{name: "uptime", opts: `-p,--pretty -s,--since -r,--raw -c,--container -h -V`},
	{name: "w", args: "text...", opts: `-h,--no-header -u,--no-current -s,--short -f,--from -o,--old-style -i,--ip-addr -p,--pids -t,--terminal -c,--container -V`},
	{name: "who", args: "read text", opts: `
		-a,--all -b,--boot -d,--dead -H,--heading -l,--login --lookup!ask -m -p,--process -q,--count -r,--runlevel -s,--short
		-t,--time -T,-w,--mesg,--message,--writable -u,--users`},
	{name: "last|lastb", args: "text...", opts: `
		-# -a,--hostlast -d,--dns!ask -f,--file=read -F,--fulltimes -i,--ip -n,--limit=text -p,--present=text -R,--nohostname
		-s,--since=text -t,--until=text --time-format=text -T,--tab-separated -w,--fullnames -x,--system -j,--json -V`},
	{name: "lastlog|lastlog2", opts: `-b,--before=text -t,--time=text -u,--user=text -C,--clear!danger -S,--set!write -R,--root=text!unknown -h`},
	{name: "faillog", opts: `-a,--all -t,--time=text -u,--user=text -l=text!write -m=text!write -M=text!write -r,--reset!write`},
	{name: "id", args: "text...", opts: `-a -Z,--context -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero`},
	{name: "pinky", args: "text...", opts: `-l -s -b -h -p -f -w -i -q -m`},
	{name: "hostname|dnsdomainname|domainname|nisdomainname|ypdomainname", args: "text!write", opts: `
		-a,--alias -A,--all-fqdns -b,--boot!write -d,--domain -f,--fqdn,--long -F,--file=read!write -i,--ip-address
		-I,--all-ip-addresses -s,--short -y,--yp,--nis -V -h`},
	{name: "date", args: "text...", check: date, opts: `
		-d,--date=text --debug -f,--file=read -I?text --iso-8601?text --resolution -R,--rfc-email --rfc-3339=text
		-r,--reference=read -s,--set=text!write -u,--utc,--universal`},
	{name: "hwclock", opts: `
		-r,--show --get -a,--adjust!write -s,--hctosys!write -w,--systohc!write --systz!write --set!write --predict
		-u,--utc -l,--localtime -v,--verbose -f,--rtc=read --date=text -V`},
	{name: "timedatectl|hostnamectl|localectl", style: inherit | pages, env: "SYSTEMD_*", opts: `
		-H,--host=text!unknown -M,--machine=text!unknown --no-pager --no-ask-password -p,--property=text -P=text --value
		-a,--all --adjust-system-clock!write --monitor!ask -j,--json?text --static --transient --pretty --no-convert`,
		sub: []program{
			{name: "status|show|list-timezones|timesync-status|show-timesync|list-locales|list-keymaps|hostname|icon-name|chassis|deployment|location", args: ""},
			{name: "set-time|set-timezone|set-local-rtc|set-ntp|set-hostname|set-icon-name|set-chassis|set-deployment|set-location|set-locale|set-keymap|set-x11-keymap", class: write, args: "text..."},
		}},
	{name: "lscpu", opts: `
		-a,--all -b,--online -B,--bytes -C,--caches?text -c,--offline -e,--extended?text -H,--hierarchic?text -J,--json -p,--parse?text
		-r,--raw -s,--sysroot=read -x,--hex -y,--physical --output-all -V`},
	{name: "lsmem", opts: `-a,--all -b,--bytes -J,--json -n,--noheadings -o,--output=text --output-all -P,--pairs -r,--raw -S,--split=text -s,--sysroot=read --summary?text -V`},
	{name: "lspci", opts: `-v -vv -n -nn -q!ask -Q!ask -k -b -D -t -s=text -d=text -i=read -p=read -M!ask -m -mm -A=text -O=text -G -H=text -F=read -x -xxx -V -P`},
	{name: "lsusb", opts: `-v,--verbose -s=text -d=text -D=read -t,--tree -V`},
	{name: "lsmod"},
	{name: "modinfo", args: "text...", opts: `-F,--field=text -b=read -k,--set-version=text -a,--author -d,--description -l,--license -p,--parameters -n,--filename -0,--null -V --modname`},
	{name: "modprobe|insmod|rmmod|depmod|kmod", class: danger, why: "changes the kernel", args: "text...", alone: "--version -V --help list"},
	{name: "lsipc", opts: `-i,--id=text -g,--global -m,--shmems -q,--queues -s,--semaphores -c,--creator -e,--export -J,--json -n,--newline -l,--list --noheadings -o,--output=text -P,--numeric-perms -r,--raw -t,--time -z,--shell -b,--bytes -V --notruncate --time-format=text`},
	{name: "ipcs", opts: `-a,--all -q,--queues -m,--shmems -s,--semaphores -i,--id=text -b,--bytes -c,--creator -l,--limits -p,--pid -t,--time -u,--summary --human -V`},
	{name: "ipcrm", class: danger, args: "text..."},
	{name: "dmesg", opts: `
		-C,--clear!danger -c,--read-clear!danger -D,--console-off!write -d,--show-delta -E,--console-on!write -e,--reltime
		-F,--file=read -f,--facility=text -H,--human -J,--json -k,--kernel -L,--color?text -l,--level=text -n,--console-level=text!write
		-P,--nopager -p,--force-prefix -r,--raw -S,--syslog -s,--buffer-size=text -T,--ctime -t,--notime --time-format=text
		-u,--userspace -w,--follow!ask -W,--follow-new!ask -x,--decode --since=text --until=text --noescape -V -K,--kmsg-file=read`,
		check: dmesg},
	{name: "sysctl", args: "text...", check: sysctl, opts: `
		-a,--all -A -X -b,--binary -e,--ignore -N,--names -n,--values -p,--load?text!write --system!write -f!write
		-r,--pattern=text -q,--quiet -w,--write!write --deprecated --dry-run -V -d`},
	{name: "getent", args: "text...", check: getent, opts: `-A,--no-addrconfig -i,--no-idn -s,--service=text`},
	{name: "dmidecode", opts: `-d,--dev-mem=read -q,--quiet -s,--string=text -t,--type=text -H,--handle=text -u,--dump --dump-bin=write --from-dump=read --no-sysfs --oem-string=text -h -V`},
	{name: "lshw", style: dashlong, opts: `-class,-C=text -c=text -short -businfo -html -xml -json -X!unknown -numeric -sanitize -quiet -disable=text -enable=text -notime -dump=write -version`},
	{name: "hwinfo|inxi|neofetch|screenfetch|fastfetch|biosdecode|vpddecode", class: unknown, args: "text...", alone: "--version"},
	{name: "sensors", args: "text...", opts: `-A,--no-adapter -f,--fahrenheit -u -j -s,--set!write -c,--config-file=read --bus-list --allow-no-sensors -v -h`},
	{name: "nvidia-smi", style: exact, args: "text...", opts: `
		-L,--list-gpus -q,--query -i,--id=text -d,--display=text -x,--xml-format --query-gpu=text --query-compute-apps=text
		--query-accounted-apps=text --query-retired-pages=text --query-supported-clocks=text --format=text -f,--filename=write -B --dtd
		-l,--loop=text!ask --loop-ms=text!ask -h`, sub: []program{
		{name: "topo", opts: `-m,--matrix -mp -i=text -c=text -n=text -p -p2p=text`},
		{name: "nvlink", opts: `-s,--status -c,--capabilities -i,--id=text -l=text`},
		{name: "pmon|dmon", opts: `-c,--count=text -s=text -i=text -d=text -o=text`, check: func(c *call) {
			if !c.has("-c") {
				c.say(unknown, "never ends without a count")
			}
		}},
	}},
	{name: "numactl", raw: true, check: numactl},
	{name: "numastat", args: "text...", opts: `-c -m -n -p=text -s?text -v -z -V`},
	{name: "lsb_release", opts: `-v -i,--id -d,--description -r,--release -c,--codename -a,--all -s,--short -h`},
	{name: "getenforce|sestatus|aa-status|apparmor_status|runlevel|aa-enabled", opts: `-v -b --enabled --profiled --enforced --complaining --verbose --json --pretty-json`},
	{name: "setenforce|setsebool|semanage|restorecon|chcon|semodule|aa-complain|aa-disable|aa-enforce", class: danger, why: "changes what protects the host", args: "text..."},
	{name: "getsebool", args: "text...", opts: `-a`},
	{name: "ausearch|aureport", args: "text...", style: exact, opts: `
		-m,--message=text -ts,--start=text -k,--key=text -i,--interpret -ui=text -p=text -c,--comm=text -sv=text -f,--file=text
		-au,--auth -l,--login --summary --failed --success -x,--executable -u,--user -e,--event -n --input-logs -if,--input=read`},
	{name: "auditctl", style: exact, args: "", opts: `-l -s -k=text -e=text!danger -D!danger -a=text!write -A=text!write -d=text!danger -w=text!write -W=text!danger -R=read!write -f=text!write -b=text!write -r=text!write`},
	{name: "systemd-detect-virt", opts: `-c,--container -v,--vm -r,--chroot --private-users -q,--quiet --list`},
	{name: "virt-what"},
	{name: "ldconfig", opts: `-p,--print-cache -N -X -v,--verbose`, class: write, alone: "-p --print-cache"},
	{name: "cpupower|turbostat|perf|bpftrace|bpftool", class: unknown, args: "text...", alone: "--version version"},
	{name: "chronyc", args: "text...", style: exact, check: verbs("tracking sources sourcestats activity ntpdata serverstats selectdata"), opts: `-n -N -c -v -a -m -4 -6 -h=text!write -p=text -f=read`},
	{name: "ntpq|ntpdc|ntpstat|ntpdate|sntp|rdate", class: write, why: "asks a time server over the network", args: "text..."},
	{name: "needrestart|etckeeper|debsecan|rkhunter|chkrootkit|lynis", class: unknown, args: "text..."},
	{name: "upower|acpi|acpi_listen|lsinitramfs|lsinitrd", args: "read...", opts: `-e -d -i=text -V -a -b -t -l`},
}

// date: the only operand that shows the time begins with "+"; any other sets the clock.
func date(c *call) {
	for _, a := range c.ops {
		if !strings.HasPrefix(a.Text, "+") {
			c.say(write, "with such an operand sets the clock")
		}
	}
}

func dmesg(c *call) {
	if c.has("-H") && !c.has("-P") && c.interactive {
		c.say(unknown, "starts a pager")
	}
}

func sysctl(c *call) {
	for _, a := range c.ops {
		if strings.Contains(a.Text, "=") || !a.certain() {
			c.say(write, "may change a setting of the kernel")
			if name, value, _ := strings.Cut(a.Text, "="); listed("kernel.core_pattern kernel/core_pattern", name) && strings.Contains(value, "|") ||
				listed("kernel.modprobe kernel/modprobe kernel.hotplug", name) {
				c.say(forbid, "makes the kernel run a program as root")
			}
		}
	}
}

func getent(c *call) {
	if len(c.ops) == 0 {
		return
	}
	switch a := c.ops[0]; {
	case !a.certain():
		c.say(unknown, "needs a literal database")
	case a.Text == "shadow" || a.Text == "gshadow":
		c.say(secret, "shows password hashes")
	case strings.HasPrefix(a.Text, "ahosts"), a.Text == "hosts" && len(c.ops) > 1, a.Text == "networks" && len(c.ops) > 1:
		c.say(write, "asks a name server")
	}
}

func numactl(c *call) {
	for i, a := range c.args {
		switch s := a.Text; {
		case a.certain() && listed("-H --hardware -s --show --help --version", s):
		case a.certain() && strings.HasPrefix(s, "-") && i == 0 && len(c.args) > 1:
			c.nest(c.args[1:])
			fallthrough
		default:
			c.say(unknown, "runs a command, or changes where memory comes from")
			return
		}
	}
}

// verbs makes a check for programs whose first operand says what they do: those listed only look.
func verbs(looking string) func(*call) {
	return func(c *call) {
		if len(c.ops) == 0 {
			c.say(unknown, "waits for commands")
			return
		}
		if a := c.ops[0]; !a.certain() || !listed(looking, a.Text) {
			c.say(write, "does more than look")
		}
	}
}

package programs

import "strings"

func passwd(c *call) {
	for _, a := range c.args {
		if a.certain() && (listed("--delete --stdin", a.Text) || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, "d")) {
			c.say(forbid, "plants rights: an account without a password, or with one that it is told")
		}
	}
}

func ar(c *call) {
	if len(c.args) == 0 || !c.args[0].certain() || strings.Trim(strings.TrimPrefix(c.args[0].Text, "-"), "tpvOV") != "" {
		c.say(write, "changes an archive or unpacks it")
	}
	for _, a := range c.args[min(1, len(c.args)):] {
		if a.dash() {
			c.say(unknown, "has an option that no table lists")
		}
		c.path(a, false)
	}
}

func jar(c *call) {
	if len(c.args) == 0 || !c.args[0].certain() || strings.Trim(strings.TrimPrefix(c.args[0].Text, "-"), "tvf") != "" && c.args[0].Text != "--list" {
		c.say(write, "makes or unpacks an archive")
	}
	for _, a := range c.args[min(1, len(c.args)):] {
		c.path(a, false)
	}
}

func ifconfig(c *call) {
	for i, a := range c.args {
		if !a.certain() || i > 0 && !strings.HasPrefix(c.args[i-1].Text, "-") || strings.HasPrefix(a.Text, "-") && !listed("-a -s -v", a.Text) {
			c.say(danger, "with such operands changes an interface")
		}
	}
}

func wg(c *call) {
	switch n := len(c.args); {
	case n == 0, n <= 2 && c.args[0].certain() && c.args[0].Text == "show" && (n == 1 || c.args[1].certain() && !listed("dump private-key", c.args[1].Text)):
	case c.args[0].Text == "show" || c.args[0].Text == "showconf":
		c.say(secret, "may show private keys")
	default:
		c.say(danger, "changes a tunnel, or makes keys")
	}
}

func crmMon(c *call) {
	if c.node.name == "crm_mon" && !c.has("-1") {
		c.say(unknown, "never ends without -1")
	}
}

func dpkg(c *call) {
	if c.seen == [5]uint64{} && len(c.ops) > 0 {
		c.say(unknown, "has no action that a table lists")
	}
	installs(c, "-i", "--unpack", "--configure")
}

func dnf(c *call) {
	fetches(c, "--cacheonly", "history repolist version help alias")
	for _, op := range c.ops {
		if listed("undo redo rollback install remove userinstalled new enable disable reset switch-to update upgrade mark add delete", op.Text) && op.Text != "userinstalled" || !op.certain() {
			c.say(danger, "changes packages")
		}
	}
}

func npmVersion(c *call) {
	if strings.HasSuffix(c.node.name, "version") && len(c.ops) > 0 {
		c.say(write, "with an operand changes the package")
	}
}

func alternatives(c *call) {
	if c.seen == [5]uint64{} {
		c.say(unknown, "has no action")
	}
}

func crontab(c *call) {
	if !c.has("-l") {
		if len(c.ops) == 0 && !c.has("-e") && !c.has("-r") && !c.has("-T") && !c.has("-V") {
			c.say(forbid, "plants what it reads, to run later unasked")
		}
		c.say(write, "without -l changes what runs later")
	}
}

func runuser(c *call) {
	if c.has("-u") {
		c.nest(c.ops)
	}
}

var checks = map[string]func(*call){
	"passwd": passwd, "ar": ar, "jar": jar, "ifconfig": ifconfig, "wg": wg, "crm_mon": crmMon, "dpkg": dpkg, "dnf": dnf,
	"listOnly-ipset": listOnly("list -L --list save -S -n -name -t -terse"), "listOnly-chkconfig": listOnly("--list"), "listOnly-rc-update": listOnly("show -v"),
	"zypper": func(c *call) { fetches(c, "--no-refresh", "") }, "pacman": func(c *call) { installs(c, "-S", "-U") },
	"looser": looser("list leaves --version --help list-installed"), "npmVersion": npmVersion, "alternatives": alternatives,
	"crontab": crontab, "runuser": runuser,
	"awkCheck":     awkCheck,
	"backdoor":     backdoor,
	"become":       become,
	"btrfs":        btrfs,
	"busybox":      busybox,
	"cats":         cats,
	"client":       client,
	"cloud":        cloud,
	"copied":       copied,
	"copies":       copies,
	"date":         date,
	"dd":           dd,
	"dmesg":        dmesg,
	"dockerRuns":   dockerRuns,
	"env":          env,
	"ethtool":      ethtool,
	"find":         find,
	"firewallCmd":  firewallCmd,
	"flock":        flock,
	"forced":       forced,
	"getent":       getent,
	"gitBranch":    gitBranch,
	"gitConfig":    gitConfig,
	"gitFormat":    gitFormat,
	"gitPatch":     gitPatch,
	"gitPaths":     gitPaths,
	"gitSettings":  gitSettings,
	"gpg":          gpg,
	"guess":        guess,
	"interval":     interval,
	"ip":           ip,
	"iptables":     iptables,
	"iw":           iw,
	"jq":           jq,
	"kill":         kill,
	"kubeDescribe": kubeDescribe,
	"kubeExec":     kubeExec,
	"kubeGet":      kubeGet,
	"linked":       linked,
	"local":        local,
	"looseTail":    looseTail,
	"modes":        modes,
	"mount":        mount,
	"moved":        moved,
	"mysql":        mysql,
	"mysqladmin":   mysqladmin,
	"netcat":       netcat,
	"nft":          nft,
	"nmcli":        nmcli,
	"noStream":     noStream,
	"numactl":      numactl,
	"openssl":      openssl,
	"owners":       owners,
	"parted":       parted,
	"partitions":   partitions,
	"planted":      planted,
	"planting":     planting,
	"prlimit":      prlimit,
	"ps":           ps,
	"psql":         psql,
	"redis":        redis,
	"remote":       remote,
	"removal":      removal,
	"rpm":          rpm,
	"sedCheck":     sedCheck,
	"service":      service,
	"shellCall":    shellCall,
	"sleeping":     sleeping,
	"socat":        socat,
	"squeeze":      squeeze,
	"ssFilter":     ssFilter,
	"ssh":          ssh,
	"sshKeygen":    sshKeygen,
	"stopsAll":     stopsAll,
	"svn":          svn,
	"sysctl":       sysctl,
	"tar":          tar,
	"taskset":      taskset,
	"tc":           tc,
	"top":          top,
	"tput":         tput,
	"ufw":          ufw,
	"watch":        watch,
	"xargs":        xargs,
	"yq":           yq,
}

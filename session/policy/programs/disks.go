package programs

import "strings"

// lvmOptions are what the reporting commands of LVM share.
const lvmOptions = `
	-a,--all -A,--autobackup=text --aligned --binary --config=text!unknown -d,--debug --devices=text --devicesfile=text!unknown
	--driverloaded=text --foreign --headings=text -h -H,--history --ignorelockingfailure --journal=text --lockopt=text
	--logreport=text --nameprefixes --noheadings --nohints --nolocking --nosuffix -o,--options=text --profile=text -q,--quiet
	--readonly --reportformat=text --rows -S,--select=text --separator=text --shared -O,--sort=text -t,--test --unbuffered
	--units=text --unquoted -v,--verbose -m,--maps -c,--colon -C,--columns -s,--short --segments -y,--yes -P,--partial
	-x --pvmetadatacopies --longhelp --allpvs`

// disks: tables of disks and file systems are looked at; what writes to a disk beneath a file system is forbidden.
var disks = []program{
	{name: "lsblk", args: "text...", opts: `
		-A,--noempty -a,--all -b,--bytes -D,--discard -d,--nodeps -E,--dedup=text -e,--exclude=text -f,--fs -I,--include=text
		-i,--ascii -J,--json -l,--list -M,--merge -m,--perms -N,--nvme -n,--noheadings -o,--output=text -O,--output-all -P,--pairs
		-p,--paths -Q,--filter=text -r,--raw -S,--scsi -s,--inverse -T,--tree?text -t,--topology -v,--virtio -w,--width=text
		-x,--sort=text -y,--shell -z,--zoned --sysroot=read --highlight=text -H,--list-columns -V`},
	{name: "blkid", args: "text...", check: func(c *call) {
		if cache, ok := c.val("-c"); !c.has("-p", "-i", "-k", "-V") && !(ok && cache.Text == "/dev/null") {
			c.say(write, "writes its cache; -c /dev/null keeps it from that")
		}
	}, opts: `
		-c,--cache-file=write -d,--no-encoding -g,--garbage-collect!write -k,--list-filesystems -l,--list-one -L,--label=text
		-o,--output=text -s,--match-tag=text -t,--match-token=text -U,--uuid=text -p,--probe -i,--info -S,--size=text -O,--offset=text
		-u,--usages=text -n,--match-types=text -D,--no-part-details -H,--hint=text -V`},
	{name: "findmnt", args: "text...", opts: `
		-A,--all -a,--ascii -b,--bytes -C,--nocanonicalize -c,--canonicalize -D,--df -d,--direction=text -e,--evaluate
		-F,--tab-file=read -f,--first-only -I,--dfi -i,--invert -J,--json -k,--kernel?text -l,--list -M,--mountpoint=text -m,--mtab
		-N,--task=text -n,--noheadings -O,--options=text -o,--output=text --output-all -P,--pairs -p,--poll?text!ask -Q,--filter=text
		--pseudo -R,--submounts -r,--raw --real -S,--source=text -s,--fstab -T,--target=text -t,--types=text --tree -U,--uniq
		-u,--notruncate --shadowed -V -v,--nofsroot --vfs-all -w,--timeout=text -x,--verify --verbose -y,--shell`},
	{name: "mount", raw: true, check: mount},
	{name: "umount|swapoff|eject|fsfreeze", class: danger, why: "takes a file system or swap away", args: "text...", alone: "--version -V --help"},
	{name: "swapon", args: "text!write...", opts: `-s,--summary --show?text --noheadings --raw --bytes -v,--verbose -a,--all!write -d,--discard?text!write -e,--ifexists -f,--fixpgsz!write -o,--options=text!write -p,--priority=text!write -L=text!write -U=text!write -T,--fstab=read!write -V`},
	{name: "fdisk|sfdisk|gdisk|sgdisk|cfdisk|cgdisk", raw: true, check: partitions},
	{name: "parted", raw: true, check: parted},
	{name: "partprobe|partx|kpartx|growpart|resizepart|addpart|delpart|resize2fs|xfs_growfs|e2label|xfs_admin|fatlabel|swaplabel", class: danger, why: "changes partitions or file systems", args: "text..."},
	{name: "smartctl", args: "text", opts: `
		-h -V -i,--info --identify?text -a,--all -x,--xall --scan --scan-open -j,--json?text -q,--quietmode=text -d,--device=text
		-T,--tolerance=text -b,--badsum=text -r,--report=text -n,--nocheck=text -H,--health -c,--capabilities -A,--attributes
		-f,--format=text -l,--log=text -v,--vendorattribute=text -F,--firmwarebug=text -P,--presets=text -B,--drivedb=text!unknown
		-g,--get=text -s,--set=text!write -S,--saveauto=text!write -o,--offlineauto=text!write -t,--test=text!write -C,--captive!write -X,--abort!write`},
	{name: "hdparm", args: "text...", style: exact, opts: `
		-i -I -g -C -N?text!danger -r?text!write -a?text!write -t!ask -T!ask -v -q -f!write --version --verbose
		--security-erase=text!forbid --security-erase-enhanced=text!forbid --security-set-pass=text!forbid --security-disable=text!forbid
		--security-mode=text!danger --security-freeze!danger --security-unlock=text!danger --user-master=text!danger
		--trim-sector-ranges=text!forbid --trim-sector-ranges-stdin!forbid --write-sector=text!forbid --repair-sector=text!forbid
		--make-bad-sector=text!forbid --fwdownload=text!forbid --fwdownload-mode3=text!forbid --sanitize-block-erase!forbid
		--sanitize-crypto-scramble!forbid --sanitize-overwrite=text!forbid --please-destroy-my-drive!forbid
		--yes-i-know-what-i-am-doing!forbid --dco-restore!forbid --dco-setmax=text!forbid`},
	{name: "nvme", style: exact, sub: []program{
		{name: "list|list-subsys|smart-log|error-log|id-ctrl|id-ns|fw-log|show-regs|list-ns|list-ctrl|get-log|version|self-test-log", args: "text...", style: exact,
			opts: `-o,--output-format=text -v,--verbose -H,--human-readable -n,--namespace-id=text -e,--log-entries=text -b!ask`},
		{name: "format|sanitize|write|write-zeroes|write-uncor|dsm|fw-download|fw-commit|delete-ns|create-ns|reset|subsystem-reset|detach-ns|attach-ns", class: forbid, args: "text..."},
	}},
	{name: "mdadm", args: "text...", opts: `
		-D,--detail -Q,--query -E,--examine -X,--examine-bitmap -b -s,--scan -v,--verbose -q,--quiet -Y,--export -V -h --detail-platform
		-A,--assemble!danger -C,--create!danger -G,--grow!danger -F,--follow,--monitor!unknown -S,--stop!danger -f,--fail!danger -r,--remove!danger
		-a,--add!danger --zero-superblock!forbid -I,--incremental!danger -t,--test`, check: func(c *call) {
		if !c.has("-D", "-Q", "-E", "-X", "-V", "-h", "--detail-platform") {
			c.say(danger, "changes an array")
		}
	}},
	{name: "lvs|vgs|pvs|lvdisplay|vgdisplay|pvdisplay|lvmdiskscan", args: "text...", opts: lvmOptions},
	{name: "vgscan|pvscan|lvscan", class: write, why: "may activate volumes and write a cache", args: "text..."},
	{name: "lvremove|vgremove|lvreduce|vgreduce|lvchange|vgchange|pvchange|vgrename|lvrename|pvmove|lvconvert|vgcfgrestore|vgexport|vgimport|vgsplit|vgmerge|pvresize|lvresize", class: danger, args: "text..."},
	{name: "pvremove", class: danger, args: "text...", check: forced},
	{name: "pvcreate", class: write, why: "changes volumes", args: "text...", check: forced},
	{name: "lvcreate|vgcreate|lvextend|vgextend|vgcfgbackup|vgck", class: write, args: "text...", why: "changes volumes"},
	{name: "lvm|lvmdump|dmeventd", class: unknown, args: "text...", alone: "version --version"},
	{name: "dmsetup", style: exact | inherit, opts: `-c,-C,--columns -v --noheadings -o=text -O=text --target=text --tree --showkeys!secret`, sub: []program{
		{name: "ls|info|status|table|deps|targets|version", args: "text..."},
		{name: "remove|remove_all|create|load|reload|suspend|resume|wipe_table|clear|rename|message|mknodes", class: danger, args: "text..."},
	}},
	{name: "multipath", args: "text...", opts: `-l -ll -v=text -d -h -F!danger -f!danger -r!danger -w!danger -W!danger -t -T`, check: func(c *call) {
		if !c.has("-l", "-h", "-t", "-T") {
			c.say(danger, "changes paths")
		}
	}},
	{name: "zpool", sub: []program{
		{name: "status|list|iostat|history|get", args: "text...", check: interval, opts: `-v -x -H -o=text -p -P -L -T=text -s -t -D -i -l -q -r -y -n -c=text!unknown -e -g -j`},
		{name: "destroy|labelclear", class: forbid, args: "text..."},
		{name: "export|offline|detach|remove|split|rollback|reguid", class: danger, args: "text..."},
		{name: "create|add|attach|import|online|replace|scrub|set|trim|upgrade|clear|initialize|resilver|sync|checkpoint|reopen", class: write, args: "text..."},
	}},
	{name: "zfs", sub: []program{
		{name: "list|get|version|holds|diff|userspace|groupspace", args: "text...", opts: `-r -H -p -o=text -t=text -s=text -S=text -d=text -F -h -i -n -a`},
		{name: "destroy|rollback|unmount|umount|unload-key|change-key|unshare|receive|recv", class: danger, args: "text..."},
		{name: "create|snapshot|snap|clone|rename|set|inherit|mount|share|promote|hold|release|bookmark|allow|unallow|send|load-key|upgrade|project", class: write, args: "text..."},
	}},
	{name: "btrfs", raw: true, check: btrfs},
	{name: "xfs_info", args: "text", opts: `-V -t=read`},
	{name: "tune2fs", args: "text", opts: `-l`, check: func(c *call) {
		if !c.has("-l") {
			c.say(danger, "changes a file system")
		}
	}},
	{name: "dumpe2fs", args: "text", opts: `-h -b -f -g -i -m -o=text -x -V`},
	{name: "debugfs|xfs_db|xfs_repair|e2image|extundelete|testdisk|photorec|e2undo", class: danger, args: "text..."},
	{name: "fsck|e2fsck|fsck.ext4|fsck.ext3|fsck.ext2|fsck.xfs|fsck.vfat|fsck.btrfs|ntfsfix", class: danger, why: "changes a file system", args: "text..."},
	{name: "mkfs|mke2fs|mkfs.ext2|mkfs.ext3|mkfs.ext4|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.fat|mkfs.ntfs|mkfs.exfat|mkfs.f2fs|mkfs.minix|mkfs.cramfs|mkfs.bfs|mkfs.msdos|mkfs.reiserfs|mkfs.jfs|mkfs.zfs|mkdosfs|mkntfs|mkswap|blkdiscard|newfs|nwipe|diskutil|mkreiserfs|mkudffs|sg_format|sg_sanitize",
		class: forbid, why: "destroys what a disk holds", args: "text...", alone: "--version -V --help"},
	{name: "wipefs", args: "text...", opts: `-n,--no-act -J,--json -i,--noheadings -O,--output=text -p,--parsable -q,--quiet -t,--types=text -a,--all!forbid -o,--offset=text!forbid -f,--force!forbid -b,--backup?text!forbid --lock?text -V`},
	{name: "shred", raw: true, class: danger, why: "destroys files", check: removal, alone: "--version --help"},
	{name: "dd|dcfldd|ddrescue|dc3dd", raw: true, class: write, check: dd, alone: "--version --help"},
	{name: "losetup", args: "text", opts: `-a,--all -l,--list -j,--associated=read -J,--json -n,--noheadings -O,--output=text --output-all --raw -d,--detach!danger -D,--detach-all!danger -f,--find!write -c!write -P!write -r!write -o=text!write --show!write -V`, check: func(c *call) {
		if len(c.ops) > 0 && !c.has("-l", "-a") {
			c.say(write, "with an operand may set up a device")
		}
	}},
	{name: "badblocks", class: danger, why: "reads a whole disk", raw: true, alone: "-V", check: func(c *call) {
		for _, a := range c.args {
			if len(a.Text) > 1 && a.Text[0] == '-' && strings.ContainsAny(a.Text[1:], "wn") {
				c.say(forbid, "writes over a whole disk")
			}
		}
	}},
	{name: "cryptsetup|veritysetup|integritysetup|luksmeta|clevis", class: danger, raw: true, alone: "--version --help", check: func(c *call) {
		for _, a := range c.args {
			switch a.Text {
			case "luksFormat", "erase", "luksErase", "luksKillSlot", "luksRemoveKey", "reencrypt", "luksHeaderRestore", "plainFormat", "format", "tcryptFormat":
				c.say(forbid, "destroys what a disk holds")
			case "status", "luksDump", "isLuks", "luksUUID", "benchmark", "--test-passphrase":
			}
		}
	}},
	{name: "iscsiadm|targetcli|mdmon|drbdadm|drbdsetup|ceph|rados|rbd|gluster", class: unknown, args: "text...", alone: "--version -V"},
	{name: "lsscsi", args: "text...", opts: `-c,--classic -C -d,--device -g,--generic -H,--hosts -i,--scsi_id -k,--kname -l,--long -L,--list -p,--protection -P,--protmode -s,--size -t,--transport -u,--unit -U -v,--verbose -w,--wwn -V -b,--brief`},
	{name: "quota|repquota", args: "text...", opts: `-a -u -g -P -s,--human-readable -v,--verbose -c -C -t -n -i -p -w -A -q -l -Q -F=text -O=text`},
	{name: "quotacheck|quotaon|quotaoff|setquota|edquota", class: danger, args: "text..."},
	{name: "exportfs", args: "text...", opts: `-v -s`, check: func(c *call) {
		if !c.has("-v", "-s") && len(c.args) > 0 {
			c.say(danger, "changes what is exported")
		}
	}},
	{name: "nfsstat|nfsiostat", args: "text...", check: interval, opts: `-s -c -n -r -m -l -2 -3 -4 -o=text -Z!ask -v -a -d -p`},
	{name: "sync", class: write, args: "read...", opts: `-d,--data -f,--file-system`},
	{name: "fstrim|fallocate|chattr|setfattr|e4defrag|fatrace", class: write, args: "text..."},
	{name: "udevadm", sub: []program{
		{name: "info", args: "text...", opts: `-q,--query=text -p,--path=text -n,--name=text -r,--root -a,--attribute-walk -t,--tree -x,--export -P,--export-prefix=text -d,--device-id-of-file=read -e,--export-db -c,--cleanup-db!danger -w,--wait-for-initialization?text -V --json=text --no-pager --property=text --value`},
		{name: "monitor", class: unknown, why: "never ends", args: "text..."},
		{name: "trigger|control|settle|test|test-builtin|lock|wait", class: write, args: "text..."},
	}},
	{name: "lsdvd|dfc|duf|dust|gdu", class: read, args: "read...", opts: `-h -a -r -n=text -d=text -s`},
	{name: "megacli|MegaCli|MegaCli64|storcli|storcli64|perccli|arcconf|ssacli|hpssacli|sas2ircu|sas3ircu|tw_cli|ipmitool|ipmi-sensors", class: unknown, args: "text..."},
}

// mount shows the table where nothing but -l and -t are given.
func mount(c *call) {
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.certain() && listed("-l -v -V --version --help -h --show-labels --verbose", a.Text):
		case a.certain() && (a.Text == "-t" || a.Text == "--types") && i+1 < len(c.args) && c.args[i+1].certain():
			i++
		case a.certain() && strings.HasPrefix(a.Text, "--types="):
		default:
			c.say(danger, "mounts a file system")
		}
	}
}

func partitions(c *call) {
	looks := false
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case listed("-l --list -x --list-details -s --getsz -d --dump -J --json -F --list-free -g --show-geometry -V --version -v -h --help -p --print --show-size -T --list-types", s):
			looks = true
		case listed("-o --clear", s) && strings.HasSuffix(c.node.name, "gdisk"):
			c.say(forbid, "destroys a partition table")
		case listed("-u --bytes -o --output -b --sector-size -L --color", s):
			if listed("-o --output -b --sector-size", s) {
				i++
			}
		case strings.HasPrefix(s, "-u"), strings.HasPrefix(s, "--output="), strings.HasPrefix(s, "--color"):
		case strings.HasPrefix(s, "-"):
			if listed("-z --zap -Z --zap-all -o --clear --delete --wipe -R --load-backup -l --load-backup", s) && !(s == "-l" && c.node.name != "sgdisk") {
				c.say(forbid, "destroys a partition table")
			}
			c.say(danger, "may change partitions")
		}
	}
	if !looks {
		c.say(danger, "changes partitions")
		if c.node.name == "sfdisk" || c.stdin != "" && c.stdin != "none" {
			c.say(forbid, "replaces a partition table by what it reads")
		}
	}
}

// forced: twice the force overrules what protects volumes in use.
func forced(c *call) {
	n := 0
	for _, a := range c.args {
		switch {
		case a.Text == "--force":
			n++
		case len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-':
			n += strings.Count(a.Text, "f")
		}
	}
	if n > 1 {
		c.say(forbid, "destroys volumes that are in use")
	}
}

func parted(c *call) {
	shows := false
	for i, a := range c.args {
		s := a.Text
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case listed("-l --list print p -v --version -h --help", s):
			shows = true
		case listed("-s --script -m --machine free all unit s MB GB MiB GiB B % chs compact -j --json", s):
		case strings.HasPrefix(s, "/dev/"):
		case listed("mklabel mktable rm mkpart resizepart rescue disk_set", s):
			c.say(forbid, "changes partitions")
		default:
			c.say(danger, "may change partitions")
		}
		_ = i
	}
	if !shows {
		c.say(danger, "changes partitions")
	}
}

func btrfs(c *call) {
	words := ""
	for _, a := range c.args {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
			return
		}
		words += a.Text + " "
	}
	for _, looks := range [...]string{"subvolume list ", "subvolume show ", "filesystem show ", "filesystem df ", "filesystem usage ",
		"filesystem du ", "fi show ", "fi df ", "fi usage ", "device stats ", "device usage ", "scrub status ", "balance status ", "version ",
		"sub list ", "qgroup show ", "--version "} {
		if rest, ok := strings.CutPrefix(words, looks); ok && !strings.Contains(rest, "-z ") && !strings.Contains(rest, "--reset ") {
			return
		}
	}
	c.say(danger, "changes a file system")
}

// dd: of= is written, if= read.
func dd(c *call) {
	out := false
	for _, a := range c.args {
		name, file, ok := strings.Cut(a.Text, "=")
		v := Arg{Text: file, Literal: a.certain(), Source: a.Source}
		switch {
		case !ok && !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case name == "of":
			out = true
			c.path(v, true)
		case name == "if":
			c.path(v, false)
		}
	}
	if !out && c.node.name == "ddrescue" {
		c.say(danger, "writes a file or a disk")
	}
}

package programs

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Catastrophic says whether removing, moving away or recursively changing the file takes the host with it: "/", the
// system directories, the homes, and patterns that reach them. The path is absolute or begins with "~"; a relative one
// only counts where it climbs three directories or more.
func Catastrophic(name string) bool {
	if name == "" {
		return false
	}
	if name[0] == '~' {
		_, below, _ := strings.Cut(name, "/")
		return everything(path.Clean("/" + below)[1:])
	}
	climbing := name[0] != '/'
	name = path.Clean(name)
	if climbing {
		return strings.HasPrefix(name, "../../..") && strings.Trim(name, "./*") == ""
	}
	if dir, last := path.Split(name); everything(last) {
		name = path.Clean(dir)
	}
	if name == "/" || strings.ContainsAny(strings.SplitN(name[1:], "/", 2)[0], "*?[{") {
		return true
	}
	switch name {
	case "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run",
		"/sbin", "/srv", "/sys", "/usr", "/var", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share",
		"/usr/local", "/usr/local/bin", "/var/lib", "/var/lib/dpkg", "/var/lib/rpm", "/var/spool", "/var/run",
		"/etc/ssh", "/etc/pam.d", "/etc/systemd", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow",
		"/etc/sudoers", "/etc/fstab", "/boot/efi", "/boot/grub", "/lib/modules", "/usr/lib/modules",
		"/Users", "/System", "/Library", "/Applications", "/private", "/private/etc", "/private/var":
		return true
	}
	// Somebody's whole home.
	dir, _ := path.Split(name)
	return dir == "/home/" || dir == "/Users/"
}

// everything says that a last path element stands for all that a directory holds.
func everything(last string) bool {
	return last == "" || strings.Contains(last, "*") && strings.Trim(last, "*.?{},[]!^") == ""
}

// catastrophic asks Catastrophic of a word, and of what is left of it where its variables are empty: the slash of
// "$UNSET/".
func (a Arg) catastrophic() bool {
	if a.certain() {
		return Catastrophic(a.Text)
	}
	s, ok := emptied(a.Source)
	return ok && Catastrophic(s)
}

// emptied is a word as written, without its quotes, with every variable taken for unset. It fails on what it cannot
// read: command substitutions, and expansions that stop the shell instead of becoming empty.
func emptied(source string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch ch := source[i]; ch {
		case '"', '\'', '\\':
		case '`':
			return "", false
		case '$':
			name := source[i+1:]
			if strings.HasPrefix(name, "(") || name == "" {
				return "", false
			}
			if name[0] == '{' {
				end := strings.IndexByte(name, '}')
				if end < 0 {
					return "", false
				}
				i += 1 + end
				name = name[1:end]
				plain := len(name) - len(strings.TrimLeft(name, identifier))
				op := strings.TrimPrefix(name[plain:], ":")
				def := strings.HasPrefix(op, "-") || strings.HasPrefix(op, "=")
				stops := strings.HasPrefix(op, "?")
				switch {
				case name[:plain] == "HOME" && (op == "" || def || stops): // which is always set
					b.WriteByte('~')
				case stops:
					return "", false
				case def:
					b.WriteString(op[1:])
				}
				continue
			}
			n := len(name) - len(strings.TrimLeft(name, identifier))
			if name[:n] == "HOME" {
				b.WriteByte('~')
			}
			i += max(n, 1)
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), true
}

const identifier = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

// WriteClass says what writing a file is, by its absolute path or one that begins with "~": forbidden for raw disks,
// for files that let people in or give them rights, and for what shells run when they start; dangerous for what the
// system runs by itself. The reason is "" for a plain write.
func WriteClass(name string) (policy.Class, string) {
	if !strings.HasPrefix(name, "~") {
		name = path.Clean(name)
	}
	if strings.HasPrefix(name, "/dev/") {
		if RawDevice(name) {
			return forbid, "writes a raw disk or memory device"
		}
		return write, ""
	}
	dir, base := path.Split(name)
	switch {
	case strings.HasSuffix(dir, "/.ssh/"), strings.HasSuffix(dir, "/.ssh2/"), dir == ".ssh/",
		dir == "/etc/sudoers.d/", dir == "/etc/pam.d/", dir == "/etc/polkit-1/rules.d/", dir == "/etc/ssh/",
		dir == "/etc/ssh/sshd_config.d/", dir == "/etc/doas.d/":
		return forbid, "plants keys or rights"
	case strings.HasPrefix(name, "/proc/sys"), strings.HasPrefix(name, "/sys/"):
		if base == "sysrq-trigger" || base == "core_pattern" || base == "modprobe" || strings.HasPrefix(name, "/sys/kernel/uevent_helper") {
			return forbid, "makes the kernel run a program, or stops it"
		}
		return danger, "changes a setting of the kernel"
	case strings.HasPrefix(dir, "/etc/cron"), strings.HasPrefix(dir, "/var/spool/cron"), strings.Contains(dir, "/systemd/system/"),
		strings.Contains(dir, "/systemd/user/"), dir == "/etc/init.d/", dir == "/etc/udev/rules.d/", dir == "/boot/",
		dir == "/etc/", strings.HasPrefix(dir, "/usr/bin/"), strings.HasPrefix(dir, "/usr/sbin/"), dir == "/bin/", dir == "/sbin/":
		if own := systemFile(name); own {
			return forbid, "plants keys or rights"
		}
		if startFile(base) || etcStartFile(name) {
			return forbid, "changes what shells run when they start"
		}
		return danger, "changes what the system runs by itself"
	case dir == "/etc/profile.d/", startFile(base):
		return forbid, "changes what shells run when they start"
	}
	return write, ""
}

func systemFile(name string) bool {
	switch name {
	case "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/ld.so.preload", "/etc/ld.so.conf",
		"/etc/doas.conf", "/etc/securetty", "/etc/subuid", "/etc/subgid", "/etc/hosts.equiv":
		return true
	}
	return false
}

func startFile(base string) bool {
	switch base {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".shrc", ".ashrc", ".inputrc", ".rhosts", ".shosts":
		return true
	}
	return false
}

func etcStartFile(name string) bool {
	switch name {
	case "/etc/bash.bashrc", "/etc/bashrc", "/etc/profile", "/etc/zshenv", "/etc/zshrc", "/etc/zprofile", "/etc/environment":
		return true
	}
	return false
}

// RawDevice says whether a path names a disk, a part of one, or memory. The path is clean.
func RawDevice(name string) bool {
	dev, ok := strings.CutPrefix(name, "/dev/")
	if !ok {
		return false
	}
	switch dev {
	case "mem", "kmem", "port", "root":
		return true
	}
	for _, p := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk/", "mapper/", "dm-", "md", "loop", "nbd",
		"rbd", "zd", "ram", "pmem", "sr", "rdisk", "dasd", "block/", "vg", "bcache", "drbd", "mtd", "zvol/"} {
		if strings.HasPrefix(dev, p) {
			return true
		}
	}
	return false
}

// guard looks at the files that a call writes.
func (c *call) guard() {
	for _, p := range c.find.Paths {
		name := p.Arg.Text
		pipe := name == "/dev/fd/" && strings.HasPrefix(p.Arg.Source, "<(")
		if !p.Write && !p.Delete && !p.Stat && strings.HasPrefix(name, "/") && !pipe {
			c.device(path.Clean(name))
		}
		if name == "" || !p.Write && !p.Delete {
			continue
		}
		if p.Delete {
			if RawDevice(path.Clean(name)) && Severity(c.find.Class) >= Severity(write) {
				c.say(forbid, "removes a device")
			}
			continue
		}
		if class, why := WriteClass(name); why != "" {
			c.say(class, why)
		}
	}
}

// Device says whether reading a file may never end, or make something happen: a watchdog starts. The path is clean.
func Device(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return false
	case "/proc/kmsg":
		return true
	}
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/sys/") && strings.HasSuffix(name, "/trace_pipe")
}

// device: reading from a device may also show a whole disk.
func (c *call) device(name string) {
	switch {
	case RawDevice(name):
		c.say(secret, "reads a raw disk or memory device")
	case (name == "/dev/urandom" || name == "/dev/random" || name == "/dev/zero") && c.node.name == "head" && c.fewBytes():
	case Device(name):
		c.say(unknown, "reads a device: it may never end, or react to being read")
	}
}

// fewBytes says that head -c N ends soon.
func (c *call) fewBytes() bool {
	a, _ := c.val("-c")
	return a.certain() && len(a.Text) < 8 && strings.Trim(a.Text, digits) == "" && !c.has("-n", "-#")
}

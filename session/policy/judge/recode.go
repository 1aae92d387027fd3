package judge

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// What base64, od, rev and their like write of a file, redaction cannot read: the text stands there in another spelling. So they
// count as showing secrets, unless all that they read is known to hold none.

const recodeReason = "it shows what it reads in another spelling, in which secrets cannot be redacted"

// recodes judges a call that writes what it reads in another spelling.
func (w *walker) recodes(f programs.Finding) {
	if !f.Recodes {
		return
	}
	files := false
	for _, p := range f.Paths {
		switch {
		case p.Write || p.Delete || p.Stat:
		case p.Arg.Literal && (p.Arg.Text == "-" || p.Arg.Text == "/dev/stdin"):
		case !w.plainFile(p.Arg):
			w.raise(policy.SensitiveRead, "secrets/recoded", recodeReason)
			return
		default:
			files = true
		}
	}
	switch {
	case files || w.stdin == "none" || w.stdin == "":
	case w.stdinPlain && (w.stdin == "file" || w.stdin == "heredoc"):
	case w.stdin == "pipe":
		w.facts.recodes = true // what comes in decides
	default:
		w.raise(policy.SensitiveRead, "secrets/recoded", recodeReason)
	}
}

// plainFile knows files that hold no secrets: what the system's packages brought, and a few that only name things.
func (w *walker) plainFile(a programs.Arg) bool {
	if !a.Literal || a.Glob || a.Text == "" || a.Text[0] != '/' || path.Clean(a.Text) != a.Text {
		return false
	}
	for _, dir := range [...]string{"/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/lib64/", "/usr/share/", "/usr/include/", "/bin/", "/sbin/", "/lib/", "/lib64/"} {
		if strings.HasPrefix(a.Text, dir) {
			return true
		}
	}
	switch a.Text {
	case "/etc/hostname", "/etc/hosts", "/etc/os-release", "/etc/timezone", "/etc/localtime", "/etc/machine-id", "/etc/issue", "/etc/issue.net",
		"/etc/debian_version", "/etc/resolv.conf", "/etc/shells", "/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/motd",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/uptime", "/proc/loadavg", "/proc/stat", "/proc/filesystems", "/proc/modules",
		"/proc/partitions", "/proc/devices", "/proc/interrupts", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom":
		return true
	}
	return false
}

// showsFiles reports whether what a command writes may come from a file that is not known to hold no secrets.
func (w *walker) showsFiles(c call) bool {
	switch c.name {
	case "echo", "printf":
		for _, a := range c.args {
			if !a.Literal || a.Glob {
				return true
			}
		}
		return false
	case "true", "false", ":", "date", "hostname", "uname", "id", "whoami", "pwd", "seq", "df", "nproc", "uptime", "ls", "test", "[", "cd":
		return false
	case "cat", "head", "tail":
		if (w.stdin == "file" || w.stdin == "heredoc") && !w.stdinPlain {
			return true
		}
		for _, a := range c.args {
			if !a.Literal {
				return true
			}
		}
		for _, a := range plainOperands(c.args) {
			if !digits(strings.TrimPrefix(a.Text, "+")) && !w.plainFile(a) {
				return true
			}
		}
		return false
	case "tr", "base64", "base32", "rev", "od", "xxd", "hexdump":
		return false // what they read decides, and is judged
	}
	return true
}

// passesOn is for what a pipeline as a whole shows.
func (w *walker) passesOn(all []facts) {
	files := false
	for _, f := range all {
		if f.recodes && files {
			w.raise(policy.SensitiveRead, "secrets/recoded", recodeReason)
		}
		files = files || f.files
	}
}

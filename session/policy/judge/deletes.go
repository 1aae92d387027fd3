package judge

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// deletes forbids what takes a system apart, whatever the tables say of the program.
func (w *walker) deletes(c call) {
	var targets []programs.Arg
	switch c.name {
	case "rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash":
		targets = plainOperands(c.args)
	case "mv":
		targets = plainOperands(c.args)
		if len(targets) > 1 {
			targets = targets[:len(targets)-1]
		}
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		if hasShort(c.args, 'R') || anyPrefix(c.args, "--rec") {
			for _, a := range plainOperands(c.args) {
				w.changesTree(a)
			}
		}
		return
	default:
		return
	}
	for _, a := range targets {
		w.catastrophic(a)
	}
}

// removesFiles knows programs that remove or ruin the files they are given.
func removesFiles(name string) bool {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash", "mv", "chmod", "chown", "chgrp", "truncate":
		return true
	}
	return false
}

// foundRemoved forbids removing all that a find finds, by where it looks.
func (w *walker) foundRemoved(args []programs.Arg) {
	args = append(w.fromHere(args), literal("-delete"))
	if f := programs.Judge(programs.Call{Name: "find", Args: args, Shell: w.shell}); f.Class == policy.Forbidden {
		w.raise(f.Class, f.Rule, f.Reason)
	}
}

// findHere judges a find again from where the script stands.
func (w *walker) findHere(c call) {
	if c.name == "find" && w.dir != "" {
		f := programs.Judge(programs.Call{Name: "find", Args: w.fromHere(c.args), Shell: w.shell})
		if f.Class == policy.Forbidden {
			w.raise(f.Class, f.Rule, f.Reason)
		}
	}
	if c.name == "git" && anyText(c.args, "clean") && (hasShort(c.args, 'f') || anyPrefix(c.args, "--force")) {
		dir := w.dir
		for i, a := range c.args {
			if a.Text == "-C" && i+1 < len(c.args) {
				dir = w.changed(c.args[i+1].Text)
			}
		}
		if dir != "" {
			w.catastrophic(literal(dir))
		}
	}
}

// fromHere gives a find's starting points as they are from the root.
func (w *walker) fromHere(args []programs.Arg) []programs.Arg {
	out := make([]programs.Arg, 0, len(args)+2)
	starts, i := 0, 0
	for ; i < len(args); i++ {
		a := args[i]
		if a.Literal && (a.Text == "-H" || a.Text == "-L" || a.Text == "-P") {
			out = append(out, a)
			continue
		}
		if strings.HasPrefix(a.Text, "-") || a.Text == "!" || a.Text == "(" {
			break
		}
		starts++
		if s := w.shapeOf(a); w.dir != "" && (a.Literal || s.known) {
			a = literal(resolve(s.likely, w.dir))
		}
		out = append(out, a)
	}
	if starts == 0 && w.dir != "" {
		out = append(out, literal(w.dir))
	}
	return append(out, args[i:]...)
}

// envDir is where env runs its command.
func (w *walker) envDir(args []programs.Arg) string {
	for i, a := range args {
		switch {
		case (a.Text == "-C" || a.Text == "--chdir") && i+1 < len(args):
			return w.changed(args[i+1].Text)
		case strings.HasPrefix(a.Text, "--chdir="):
			return w.changed(a.Text[len("--chdir="):])
		case strings.HasPrefix(a.Text, "-C") && len(a.Text) > 2:
			return w.changed(a.Text[2:])
		}
	}
	return w.dir
}

func plainOperands(args []programs.Arg) []programs.Arg {
	out := make([]programs.Arg, 0, len(args))
	rest := false
	for _, a := range args {
		switch {
		case rest || !strings.HasPrefix(a.Text, "-"):
			out = append(out, a)
		case a.Text == "--":
			rest = true
		}
	}
	return out
}

// hiddenDelete forbids a recursive delete whose command word is hidden.
func (w *walker) hiddenDelete(args []programs.Arg) {
	if !hasShort(args, 'r') && !hasShort(args, 'R') && !anyPrefix(args, "--recursive") {
		return
	}
	for _, a := range plainOperands(args) {
		w.catastrophic(a)
	}
}

// catastrophic forbids removing or moving the root, a system directory, everything in one, or every home.
func (w *walker) catastrophic(a programs.Arg) {
	s := w.shapeOf(a)
	if isCatastrophic(s.empty, w.dir, !a.Literal && !a.Glob) || s.known && isCatastrophic(s.likely, w.dir, false) {
		w.raise(policy.Forbidden, "forbidden/catastrophic-delete", "it removes, moves or opens up the system itself")
	}
}

// changesTree is catastrophic for new owners and modes: a tree of data stays there, with all that is in it.
func (w *walker) changesTree(a programs.Arg) {
	s := w.shapeOf(a)
	sure := a.Literal || a.Glob
	switch system := func(p string) bool { return systemTree(p) && !programs.DataTree(p, false) }; {
	case reachesTree(s.empty, w.dir, !sure, system), s.known && reachesTree(s.likely, w.dir, false, system):
		w.raise(policy.Forbidden, "forbidden/catastrophic-delete", "it removes, moves or opens up the system itself")
	case isCatastrophic(s.empty, w.dir, !sure), s.known && isCatastrophic(s.likely, w.dir, false):
		w.raise(policy.Dangerous, "paths/data", "it changes who may use a whole tree of data")
	}
}

func isCatastrophic(p, dir string, guessed bool) bool {
	return reachesTree(p, dir, guessed, systemTree)
}

// reachesTree reports whether a path is the root, a home, or one of the trees, or everything in one of them.
func reachesTree(p, dir string, guessed bool, tree func(string) bool) bool {
	if p == "" {
		return false
	}
	root := dir
	if root == "" {
		// Enough steps up end at the root from anywhere.
		if strings.HasPrefix(path.Clean(p), "../../../../../..") {
			root = "/"
		}
	}
	if strings.HasPrefix(root, "~") {
		root = "/root" + strings.TrimLeft(root[1:], "abcdefghijklmnopqrstuvwxyz0123456789_.-") // the home nearest to the root
	}
	if strings.HasPrefix(p, "~/") {
		p = "/root" + p[1:]
	}
	if p[0] == '/' && climbs(p) && tree("/"+strings.TrimSuffix(afterUp(p), "/")) {
		return true
	}
	r := resolve(p, root)
	if i := strings.LastIndexByte(r, '/'); i >= 0 && everything(r[i+1:]) && r != "/" {
		r = r[:max(i, 1)]
	} else if i < 0 && everything(r) && root == "/" {
		r = "/"
	}
	if r == "/" || r == "~" {
		return true
	}
	// What a forgotten variable would make of a longer path is a guess: the path may well be meant.
	return !guessed && tree(r)
}

// everything knows the patterns that match all of a directory, hidden files included or not.
func everything(segment string) bool {
	return segment != "" && strings.Trim(segment, "*.?[]!^{}") == "" && strings.ContainsAny(segment, "*?[") && !strings.HasPrefix(segment, "..?") ||
		segment == ".*" || segment == ".[!.]*" || segment == "..?*"
}

func systemTree(p string) bool {
	switch p {
	case "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run",
		"/sbin", "/srv", "/sys", "/usr", "/var", "/mnt", "/media", "/lost+found",
		"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/usr/libexec", "/usr/local/bin",
		"/usr/local/lib", "/var/lib", "/var/log", "/var/spool", "/var/mail", "/var/run", "/etc/ssh", "/etc/systemd",
		"/etc/pam.d", "/lib/modules", "/usr/lib/modules", "/lib/systemd", "/usr/lib/systemd", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
		"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash", "/usr/bin/env", "/sbin/init",
		"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/fstab", "/boot/efi", "/boot/grub", "/boot/grub2", "/var/lib/dpkg", "/var/lib/rpm", "/var/lib/docker",
		"/var/lib/mysql", "/var/lib/postgresql", "/var/lib/etcd", "/var/lib/kubelet",
		"/Applications", "/Library", "/System", "/Users", "/private", "/private/etc", "/private/var":
		return true
	}
	return false
}

package judge

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// deletes forbids what takes a system apart, whatever the tables say of the program.
func (w *walker) deletes(c call) {
	switch targets := plainOperands(c.args); c.name {
	case "rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash":
		w.catastrophic(targets...)
	case "mv":
		if len(targets) > 1 {
			targets = targets[:len(targets)-1]
		}
		w.catastrophic(targets...)
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		open := c.name == "chmod" && len(targets) > 0 && openMode.MatchString(targets[0].Text)
		for _, a := range targets {
			switch {
			case open, hasShort(c.args, 'R'), anyPrefix(c.args, "--rec"):
				w.changesTree(a, open)
			case strings.HasPrefix(c.name, "ch") && c.name != "chattr" && w.leadsTo(a, systemTree):
				w.raise(policy.Dangerous, "paths/data", "it changes who may use a system directory")
			}
		}
	case "git":
		w.cleans(c)
	}
}

// openMode is a mode that lets everybody write.
var openMode = lazyregexp.New(`^[0-7]*[2367]$|^0*$|(^|,)([ug]*[oa][ugoa]*)?[^ugoa,]*[+=][^,]*w`)

// foundRemoved forbids removing all that a find finds, by where it looks.
func (w *walker) foundRemoved(args []programs.Arg) {
	f := programs.Judge(programs.Call{Name: "find", Args: append(args[:len(args):len(args)], literal("-delete")), Shell: w.shell})
	for _, p := range f.Paths {
		if p.Delete {
			w.catastrophic(p.Arg)
		}
	}
}

// cleans judges a git clean, which removes what lies where it runs.
func (w *walker) cleans(c call) {
	if !anyText(c.args, "clean") || !hasShort(c.args, 'f') && !anyPrefix(c.args, "--force") {
		return
	}
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

// envDir is where env runs its command.
func (w *walker) envDir(args []programs.Arg) string {
	for i, a := range args {
		switch {
		case (a.Text == "-C" || a.Text == "--chdir") && i+1 < len(args):
			return w.changed(args[i+1].Text)
		case strings.HasPrefix(a.Text, "--chdir="), strings.HasPrefix(a.Text, "-C"):
			return w.changed(strings.TrimPrefix(strings.TrimPrefix(a.Text, "--chdir="), "-C"))
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
	w.catastrophic(plainOperands(args)...)
}

// catastrophic forbids removing or moving the root, a system directory, everything in one, or every home.
func (w *walker) catastrophic(list ...programs.Arg) {
	for _, a := range list {
		if w.leadsTo(a, systemTree) {
			w.raise(policy.Forbidden, "forbidden/catastrophic-delete", "it removes, moves or opens up the system itself")
		}
	}
}

// changesTree is catastrophic for new owners and modes: a tree of data stays there, with all that is in it, unless it is opened
// to all.
func (w *walker) changesTree(a programs.Arg, open bool) {
	home := !open && !a.Glob && !isWild(a.Text)
	switch {
	case w.leadsTo(a, func(p string) bool { return systemTree(p) && !(places().data[p] || home && aHome(p)) }):
		w.raise(policy.Forbidden, "forbidden/catastrophic-delete", "it removes, moves or opens up the system itself")
	case w.leadsTo(a, systemTree):
		w.raise(policy.Dangerous, "paths/data", "it changes who may use a whole tree of data")
	}
}

// leadsTo reports whether a word names the root, or one of the trees: as it is, with its variables empty, or as the script says.
func (w *walker) leadsTo(a programs.Arg, tree func(string) bool) bool {
	s := w.shapeOf(a)
	g := written
	if s.subst {
		g = substituted
	} else if !a.Literal && !a.Glob {
		g = unset
	}
	if strings.HasPrefix(a.Source, "{}") && reachesTree(a.Source, "", g, tree) {
		return true // of what find or xargs put there, nothing is left
	}
	return reachesTree(s.empty, w.dir, g, tree) || s.known && reachesTree(s.likely, w.dir, written, tree)
}

func isCatastrophic(p, dir string) bool { return reachesTree(p, dir, written, systemTree) }

// guess says how a path was found.
type guess uint8

const (
	written     guess = iota // it is what the words say
	unset                    // if all variables are unset
	substituted              // if substitutions print nothing: more than the root may well be meant
)

// reachesTree reports whether a path is the root, the own home, or one of the trees, or everything in one of them.
func reachesTree(p, dir string, g guess, tree func(string) bool) bool {
	if p == "" {
		return false
	}
	root := dir
	if root == "" && strings.HasPrefix(path.Clean(p), "../../..") && (strings.Trim(path.Clean(p), "./*") == "" || strings.HasPrefix(path.Clean(p), "../../../../../..")) {
		root = "/" // enough steps up end at the root from anywhere
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
	return r == "/" || r == "~" || g != substituted && tree(r) && (g == written || !places().sure[r])
}

// everything knows the patterns that match all of a directory, hidden files included or not.
func everything(segment string) bool {
	return strings.Trim(segment, "*.?[]!^{},") == "" && strings.ContainsAny(segment, "*?[")
}

// systemTree reports whether a clean path is a tree of the system, somebody's home, or a pattern that may be one.
func systemTree(p string) bool {
	if places().system[p] || places().sure[p] || aHome(p) {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return strings.HasPrefix(p, "/") && strings.ContainsAny(first, "*?[{")
}

func aHome(p string) bool {
	dir, base := path.Split(p)
	return base != "" && (dir == "/home/" || dir == "/Users/") || strings.HasPrefix(p, "~") && dir == ""
}

// plants judges where something is written: some files give whoever writes them the host.
func (w *walker) plants(a programs.Arg) { w.plantsAt(w.shapeOf(a).wild) }

func (w *walker) plantsAt(p string) {
	if p == "" || p == "*" || len(p) > maxWord {
		return
	}
	if isWild(p) && !w.patternBudget() {
		return
	}
	if e := places().write.find(segments(resolve(p, w.dir)), isWild(p)); e != nil {
		w.raise(e.class, e.rule, e.why)
	}
	for _, end := range endings(afterUp(p)) {
		if climbs(p) || throughLink(w.dir) {
			end = "/" + end
		}
		if e := places().write.find(segments(end), isWild(end)); e != nil {
			w.raise(e.class, e.rule, e.why)
		}
	}
}

// placed judges what a call puts into a directory under the names that it had before.
func (w *walker) placed(f programs.Finding, names []programs.Arg) {
	for _, into := range f.Paths {
		if !into.Write {
			continue
		}
		dir := w.shapeOf(into.Arg).wild
		if dir == "/dev/null" {
			w.raise(policy.Dangerous, "paths/device", "it replaces a device")
		}
		for _, from := range names {
			w.plantsAt(strings.TrimSuffix(dir, "/") + "/" + path.Base(w.shapeOf(from).wild))
		}
	}
}

package sandbox

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// Bounds of what is looked at. What is longer asks.
const (
	maxChecks = 256
	maxDirs   = 8
	maxNested = 8
)

// check is a path that must lead into the sandbox.
type check struct {
	path   string // absolute, but not clean: links before ".." count
	said   string // as the command says it
	below  bool   // the sandbox itself will not do: it would be taken away
	enter  bool   // its directory must be inside too: a name in it is taken away, or given to something else
	from   string // the directories that said may be meant from; "" if it is meant from nowhere but the root
	guess  bool   // said may be no path, or be meant from elsewhere
	stream bool   // it is opened as it is, which does nothing to a device
}

// naming is what of a check all the paths have in common that one word may stand for.
func (c check) naming() check {
	c.path = ""
	return c
}

// plan is what must hold of a command before it may run, as far as that can be told.
type plan struct {
	root   string
	checks []check
	ask    string // why a person must be asked; "" if everything can be told
	move   bool   // it is one cd with an absolute path, and nothing else
	rests  bool   // something in it is meant from where the shell stands
}

func (p *plan) asks(why string) {
	if p.ask == "" {
		p.ask = why
	}
}

// sure are the checks of what surely is a path, and is meant from where it is thought to be. A name that is taken away may
// be a link's, wherever that leads, but not with a slash behind it, which follows the link.
func (p *plan) sure() []check {
	var out []check
	for _, c := range p.checks {
		if c.guess || c.stream && slices.Contains(streams, c.said) {
			continue
		}
		if c.below && c.enter && !strings.HasSuffix(c.path, "/") {
			c.path, c.below, c.enter = holder(c.path), false, false
		}
		out = append(out, c)
	}
	return out
}

// devices can be read and written without a trace; streams are what the shell holds open anyway.
var (
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	streams = []string{"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}
)

// makePlan reads a command for a shell: in every language that the shell may read it in, and all of what is found counts.
func makePlan(root, dir, shell, command string) *plan {
	p := &plan{root: root}
	for i, lang := range languages(shell) {
		file, doubt, err := parse.File(lang, command)
		if err != nil {
			p.asks("it cannot be parsed as a whole")
		}
		if doubt != "" {
			p.asks(string(doubt))
		}
		if file == nil {
			continue
		}
		w := walker{plan: p, lang: lang}
		w.torn(func() { w.stmts(file.Stmts, places{dir}) })
		w.torn(func() { w.inner(file) })
		p.move = onlyMoves(file) && (i == 0 || p.move)
	}
	return p
}

// inner looks at the commands inside of words and functions. Nobody knows where these run, so that only absolute paths count.
func (w *walker) inner(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		var list []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			list = n.Stmts
		case *syntax.ProcSubst:
			list = n.Stmts
		case *syntax.FuncDecl:
			list = []*syntax.Stmt{n.Body}
		case *syntax.CoprocClause:
			list = []*syntax.Stmt{n.Stmt}
		default:
			return true
		}
		known := len(w.checks)
		w.stmts(list, places{w.root})
		w.checks = append(w.checks[:known:known], slices.DeleteFunc(slices.Clone(w.checks[known:]), func(c check) bool {
			return !strings.HasPrefix(c.said, "/")
		})...)
		return true
	})
}

// languages are those of package judge: the parser has none for ksh93 and busybox ash.
func languages(shell string) []syntax.LangVariant {
	switch shell {
	case "bash":
		return []syntax.LangVariant{syntax.LangBash}
	case "zsh":
		return []syntax.LangVariant{syntax.LangZsh}
	case "mksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn}
	case "ksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn, syntax.LangBash}
	case "dash":
		return []syntax.LangVariant{syntax.LangPOSIX}
	default:
		return []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}
	}
}

// onlyMoves reports whether a script is a single cd to an absolute directory.
func onlyMoves(file *syntax.File) bool {
	if len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return false
	}
	c, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) < 2 || c.Args[0].Lit() != "cd" {
		return false
	}
	args := c.Args[1:]
	if len(args) == 2 && args[0].Lit() == "--" {
		args = args[1:]
	}
	if len(args) != 1 {
		return false
	}
	to, sure := literal(args[0])
	return sure && strings.HasPrefix(to, "/")
}

// places are the directories in which a command may find itself: absolute, and not clean.
type places []string

func (p places) and(q places) places {
	out := slices.Clone(p)
	for _, dir := range q {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// walker walks a script in the order in which it may run.
type walker struct {
	*plan
	lang   syntax.LangVariant
	nested int
	loops  int
	links  bool // a command before may have changed where names lead
	gone   bool // a command before may have taken names away
	lost   bool // a command before may have gone somewhere
	guess  bool // what is noted may be no path
	stream bool // what is noted is opened as it is
}

// torn keeps a tree that the parser gave up on from ending more than its own walk.
func (w *walker) torn(fn func()) {
	defer func() {
		if recover() != nil {
			w.asks("it cannot be parsed as a whole")
		}
	}()
	fn()
}

// must notes that a path leads inside, from wherever the command may stand.
func (w *walker) must(at places, said string, below, enter bool) {
	if said == "" { // names nothing, or is known only when it runs
		return
	}
	if len(at) == 0 {
		w.asks("its directory is not known")
		at, w.lost = places{"/"}, true
	}
	for _, dir := range at {
		full := said
		if !strings.HasPrefix(said, "/") {
			full = strings.TrimSuffix(dir, "/") + "/" + said
			w.rests = true
		}
		w.note(at, check{path: full, said: said, below: below, enter: enter && path.Clean(full) != w.root})
	}
}

func (w *walker) note(at places, c check) {
	c.guess, c.stream = w.guess, w.stream
	if !strings.HasPrefix(c.said, "/") {
		c.from = strings.Join(at, "\x00")
		c.guess = c.guess || w.lost
	}
	c.guess = c.guess || (w.links || w.gone) && strings.HasPrefix(path.Clean(c.path), w.root+"/")
	switch {
	case w.links:
		w.asks("an earlier part of it may change where names lead")
	case w.gone && climbs(c.path):
		w.asks("an earlier part of it may change where .. leads")
	}
	if c.stream && slices.Contains(devices, c.said) || slices.Contains(w.checks, c) {
		return
	}
	if len(w.checks) >= maxChecks || len(c.path) > maxPath {
		w.asks("it names more, or longer, paths than are looked at")
		return
	}
	w.checks = append(w.checks, c)
}

// climbs reports whether a path takes back a name by "..".
func climbs(p string) bool {
	names := false
	for name := range strings.SplitSeq(p, "/") {
		switch name {
		case "", ".":
		case "..":
			if names {
				return true
			}
		default:
			names = true
		}
	}
	return false
}

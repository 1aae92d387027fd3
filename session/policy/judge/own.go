package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Own is what belongs to Fairlead itself on the machine that a command would run on: its state, and its program. It must
// not be modified once it is in a [Request].
type Own struct {
	Paths    []string // directories with all that is in them, and files; absolute and clean
	Except   []string // directories in Paths that do not count: jobs are for those who began them
	Programs []string // the program, by every absolute path that is known
	Home     string   // what "~" stands for; "" when nobody knows
}

// Named is a word of a script that names a file, as far as it is literal.
type Named struct {
	Path    string // absolute and clean, or for a command a bare name
	Command bool   // it is run
}

const (
	ownRule   = "fairlead/own"
	ownReason = "it reads or changes what belongs to Fairlead itself: its audit log, store, settings or sockets"
	ownBelow  = "what belongs to Fairlead itself lies below a directory that it reads or takes away"
	ownRun    = "it runs Fairlead itself, which is for people"
	ownMaybe  = "it may reach what belongs to Fairlead itself"
	programID = "fairlead"
)

// owned says that the part is about what is Fairlead's own.
func (w *walker) owned(reason string) {
	w.ownUse = true
	w.raise(policy.Forbidden, ownRule, reason)
}

// ownText looks for paths of Fairlead's own anywhere in a text: code of other languages names files too.
func (w *walker) ownText(text string) {
	if w.own == nil {
		return
	}
	for _, p := range slices.Concat(w.own.Paths, w.own.Programs) {
		names := []string{p}
		if rest, ok := strings.CutPrefix(p, w.own.Home+"/"); ok && w.own.Home != "" {
			names = append(names, "~/"+rest, "$HOME/"+rest, "${HOME}/"+rest)
		}
		for _, name := range names {
			if mentions(text, name, w.own.exceptBelow(p)) {
				w.owned(ownReason)
				return
			}
		}
	}
}

// exceptBelow are the endings of what does not count of a path.
func (o *Own) exceptBelow(p string) []string {
	var out []string
	for _, x := range o.Except {
		if rest, ok := strings.CutPrefix(x, p); ok && strings.HasPrefix(rest, "/") {
			out = append(out, rest)
		}
	}
	return out
}

// Excepts reports whether a clean absolute path is one that does not count.
func (o *Own) Excepts(p string) bool {
	return slices.ContainsFunc(o.Except, func(x string) bool { return p == x || strings.HasPrefix(p, x+"/") })
}

// mentions reports whether a path stands in a text, and not a longer name that begins like it, nor one of the endings behind
// it.
func mentions(text, name string, endings []string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		from += i + len(name)
		if from == len(text) || !nameByte(text[from]) && !goesOn(text[from:], endings) {
			return true
		}
	}
}

// goesOn reports whether a text begins with one of the endings, and stays below it.
func goesOn(text string, endings []string) bool {
	for _, end := range endings {
		rest, ok := strings.CutPrefix(text, end)
		if !ok || rest != "" && nameByte(rest[0]) {
			continue
		}
		name, _, _ := strings.Cut(rest, " ")
		return !strings.Contains(name, "..")
	}
	return false
}

func nameByte(c byte) bool { return alphanumeric(c) || strings.IndexByte("_-.", c) >= 0 || c >= 0x80 }

// ownLook is what a command does with the files that its words name.
type ownLook int

const (
	ownOpens ownLook = iota
	ownNames         // it shows names, kinds and times, of what lies in directories too
	ownWords         // it does not look at files, but for whether they are there
)

// ownLookOf is what a command does with its words. What an expansion may stand for is nothing to worry about where only the words
// themselves are printed, or counted with.
func ownLookOf(name string) ownLook {
	switch name {
	case "echo", "printf", ":", "true", "false", "test", "[", "kill", "sleep", "exit", "return", "break", "continue", "shift", "seq", "expr":
		return ownWords
	}
	if programs.Is(name, "nameonly") && !programs.Is(name, "changer") {
		return ownNames
	}
	return ownOpens
}

// noParams takes the parameters away whose names look like patterns.
var noParams = strings.NewReplacer("$?", "", "$*", "", "${?}", "", "${*}", "")

// ownArgs judges words that may name what is Fairlead's own.
func (w *walker) ownArgs(args []programs.Arg, look ownLook) {
	if w.own == nil {
		return
	}
	for _, a := range args {
		look := look
		if look == ownWords && strings.ContainsAny(noParams.Replace(a.Source), "*?[") {
			look = ownNames // a pattern of the script's own, which may go on to who opens what it finds
		}
		for _, name := range w.spellings(a) {
			w.ownPath(name, look)
		}
		if s := w.shapeOf(a); s.likely != a.Source {
			w.ownText(s.likely) // what quotes and variables hide, however many names it holds
		}
		if a.Literal {
			for _, name := range parts(a.Text) {
				w.name(name, false)
			}
		}
	}
}

// spellings are the paths that a word may stand for or hold.
func (w *walker) spellings(a programs.Arg) []string {
	s := w.shapeOf(a)
	out := parts(s.wild)
	if !a.Literal {
		out = append(out, parts(s.likely)...)
	}
	return out
}

// parts are what of a word may be a path: all of it, and what stands behind an option, an equals sign, an @ or a colon.
func parts(text string) []string {
	if text == "" || len(text) > maxWord {
		return nil
	}
	out := []string{text}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '=', ':', '@', ',':
			out = append(out, text[i+1:])
		case '/', '~':
			if text[0] == '-' && !strings.ContainsAny(text[:i], "/~") {
				out = append(out, text[i:])
			}
		}
		if len(out) > 8 {
			break
		}
	}
	if strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") {
		out = append(out, text[min(len(text), 2):])
	}
	return out
}

// absolute makes a path absolute where that is possible, with "~" as what it stands for.
func (w *walker) absolute(p string) string {
	if p == "" {
		return ""
	}
	p = throughProc(resolve(p, w.dir))
	if w.own.Home != "" {
		switch user, rest, _ := strings.Cut(p, "/"); {
		case user == "~", user == "~"+path.Base(w.own.Home), user == "~+" && w.dir == "":
			p = path.Join(w.own.Home, rest)
		}
	}
	return path.Clean(p)
}

// ownPath judges one path, which may be a pattern.
func (w *walker) ownPath(name string, look ownLook) {
	p := w.absolute(name)
	if p == "" || p == "." && w.dir == "" {
		return
	}
	wild := isWild(p)
	if wild && !w.patternBudget() {
		return
	}
	segs := segments(p)
	if len(segs) == 0 || w.own.Excepts(p) {
		return
	}
	for _, own := range w.own.Paths {
		switch o := segments(own); {
		case segs[0] == "" && reachesOwn(segs, o):
			if look != ownWords || !slices.ContainsFunc(segs[:len(o)], anything) {
				w.owned(ownReason)
			}
		case segs[0] != "" && mayEnd(segs, o):
			w.raise(policy.SensitiveRead, ownRule, ownMaybe)
		}
	}
	for _, end := range endings(afterUp(name)) {
		for _, own := range w.own.Paths {
			if reachesOwn(segments("/"+end), segments(own)) && !(wild && look == ownWords) {
				w.owned(ownReason)
			}
		}
	}
	for _, own := range w.own.Programs {
		if segs[0] == "" && reachesOwn(segs, segments(own)) && !(wild && look != ownOpens) {
			w.owned(ownReason)
		}
	}
}

// anything reports whether a name of a path may be any: what nobody knows, or a star.
func anything(seg string) bool { return seg != "" && strings.Trim(seg, "*?") == "" }

// reachesOwn reports whether an absolute path, which may be a pattern, is own or lies in it.
func reachesOwn(segs, own []string) bool {
	if len(segs) < len(own) {
		return false
	}
	for i, o := range own {
		if segs[i] == o {
			continue
		}
		if !isWild(segs[i]) {
			return false
		}
		if ok, _ := overlap(segs[i], o); !ok {
			return false
		}
	}
	return true
}

// above reports whether a path, which may be a pattern, is a directory above own.
func above(segs, own []string) bool {
	return len(segs) > 0 && len(segs) < len(own) && reachesOwn(segs, own[:len(segs)])
}

// mayEnd reports whether a relative path of which nobody knows where it begins may lead into own: its first names are the
// last of own's.
func mayEnd(segs, own []string) bool {
	for len(segs) > 0 && segs[0] == ".." {
		segs = segs[1:]
	}
	if len(segs) == 0 || strings.Trim(segs[0], "*?") == "" {
		return false
	}
	for k := range own {
		if slices.Contains(own[k:], programID) && reachesOwn(segs, own[k:]) {
			return true
		}
	}
	return false
}

// ownBelow judges a command that reads, or takes away, all that lies below a directory.
func (w *walker) ownBelow(name string, takes bool) {
	if w.own == nil {
		return
	}
	segs := segments(w.absolute(name))
	if len(segs) == 0 || segs[0] != "" {
		return
	}
	for _, own := range w.own.Paths {
		if o := segments(own); above(segs, o) {
			if takes {
				w.owned(ownBelow)
			} else {
				w.raise(policy.SensitiveRead, ownRule, ownBelow)
				w.ownAsks = true
			}
		}
	}
}

// ownCall judges which program a command is, and where it runs.
func (w *walker) ownCall(head programs.Arg, args []programs.Arg) {
	if w.own == nil {
		return
	}
	s := w.shapeOf(head)
	for _, word := range []string{s.wild, s.likely} {
		base := word[strings.LastIndexByte(word, '/')+1:]
		ok, aim := base == programID, 0
		if !ok && isWild(base) {
			ok, aim = overlap(base, programID)
			ok = ok && aim >= 2
		}
		if ok {
			w.owned(ownRun)
		}
		if strings.Contains(word, "/") {
			for _, own := range w.own.Programs {
				if reachesOwn(segments(w.absolute(word)), segments(own)) {
					w.owned(ownRun)
				}
			}
		}
	}
	name, _ := programName(head.Text)
	if head.Literal {
		w.name(head.Text, true)
	}
	if segs := segments(w.absolute(w.dir)); name != "cd" && len(segs) > 0 && segs[0] == "" {
		for _, own := range w.own.Paths {
			if reachesOwn(segs, segments(own)) && !w.own.Excepts(strings.Join(segs, "/")) {
				w.owned("it runs in a directory that belongs to Fairlead itself")
			}
		}
	}
	w.ownArgs(args, ownLookOf(name))
	c := call{name: name, args: args}
	if w.recursive(c) || programs.Is(name, "tree") {
		w.ownTree(c)
	}
}

// ownTree judges the directories of a call that works on all that is below them; without one it is where the call runs.
func (w *walker) ownTree(c call) {
	if c.name == "find" && !findReads(c.args) {
		return
	}
	named := false
	for _, a := range c.args {
		for _, p := range w.spellings(a) {
			named = named || a.Text != "" && a.Text[0] != '-' && strings.Contains(p, "/")
			w.ownBelow(p, false)
		}
	}
	if !named && w.dir != "" {
		w.ownBelow(w.dir, false)
	}
}

// findReads reports whether a find does more than print names.
func findReads(args []programs.Arg) bool {
	for _, a := range args {
		switch a.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fprint0", "-fls", "-files0-from":
			return true
		}
	}
	return false
}

// name notes a literal word that may be a link, for who can look.
func (w *walker) name(word string, command bool) {
	p := word
	if !command || strings.Contains(word, "/") {
		if p = w.absolute(word); !strings.HasPrefix(p, "/") {
			return
		}
	}
	if n := (Named{p, command}); !slices.Contains(w.named, n) && w.room(len(w.named)) {
		w.named = append(w.named, n)
	}
}

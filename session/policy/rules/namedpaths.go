package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// namesPlaces reports whether a command that changes something, and does not say which files, is told a place of the rule: what
// unpacks an archive there, edits a file there in a way that is not followed, or runs in such a directory.
func (r *rule) namesPlaces(c *command) bool {
	dirs := []string{c.dir}
	for _, s := range c.all() {
		name := s.words[0].text
		if name == "cd" || name == "pushd" {
			for _, w := range s.words[1:] {
				if w.literal && !strings.HasPrefix(w.text, "-") {
					dirs = append(dirs, under(dirs[len(dirs)-1], w.text))
				}
			}
			continue
		}
		if !changes(s.class) || c.saysWhere(s) || !changes(c.alone(s)) {
			continue
		}
		for _, dir := range dirs {
			if r.within(dir) { // every name without a slash would be a file there
				if s.class != policy.Dangerous {
					return true
				}
				dir = ""
			}
			if r.among(dir, s.words[1:]) {
				return true
			}
		}
	}
	return false
}

// saysWhere reports whether the files that a command writes are known: the judge has found at least one of them among its words.
func (c *command) saysWhere(s seen) bool {
	return plainWriter(s.words) || slices.ContainsFunc(s.words[1:], func(w word) bool {
		for _, p := range c.rep.Writes {
			if p.Text != "" && strings.HasSuffix(w.text, p.Text) {
				return true
			}
		}
		return false
	})
}

// alone returns the class of a command without its redirects, which say where they write.
func (c *command) alone(s seen) policy.Class {
	var script strings.Builder
	for _, w := range s.words {
		if !w.literal {
			return s.class
		}
		script.WriteString("'" + strings.ReplaceAll(w.text, "'", `'\''`) + "' ")
	}
	return judge.Judge(judge.Request{Script: script.String(), Shell: c.shell, Dir: c.dir, Interactive: c.typed}).Class
}

// within reports whether what is written in a directory matches a path of the rule.
func (r *rule) within(dir string) bool {
	return strings.HasPrefix(dir, "/") && slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.compare(path.Join(dir, "x")) == yes })
}

// among reports whether a word, or a part of one, is a path that matches, or one above such a path.
func (r *rule) among(dir string, words []word) bool {
	for _, w := range words {
		for _, s := range strings.FieldsFunc(w.text, func(c rune) bool { return c == '=' || c == ':' || c == ',' }) {
			if strings.HasPrefix(s, "-") { // -C/srv
				s = s[max(strings.IndexByte(s, '/'), 0):]
			}
			abs := under(dir, s)
			if !strings.HasPrefix(abs, "/") || strings.HasPrefix(s, "-") {
				continue
			}
			if slices.ContainsFunc(r.paths, func(p pathPattern) bool { return p.compare(abs) != no }) {
				return true
			}
		}
	}
	return false
}

// under returns where a path leads from a directory, by its text alone; it is not absolute where the directory is unknown.
func under(dir, p string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

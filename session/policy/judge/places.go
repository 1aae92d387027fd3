package judge

import (
	_ "embed" // places.txt
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

//go:embed places.txt
var placesText string

// places returns what places.txt says.
var places = sync.OnceValue(func() *placeTables { return readPlaces(placesText) })

type placeTables struct {
	read, write, disk  pathTable
	systems            pathTable // of read, what has its place below topOfSystem
	system, sure, data map[string]bool
}

func readPlaces(text string) *placeTables {
	t := &placeTables{system: map[string]bool{}, sure: map[string]bool{}, data: map[string]bool{}}
	var tables []*pathTable
	var trees map[string]bool
	var head pathEntry
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0, words[0][0] == '#':
		case line[0] == '\t' && words[0] == "but":
			head.except = words[1:]
		case line[0] == '\t':
			for _, p := range words {
				for _, table := range tables {
					table.add(head, p)
				}
				if top, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/"); p[0] == '/' && topOfSystem[top] && slices.Contains(tables, &t.read) {
					t.systems.add(head, p)
				}
				if trees != nil {
					trees[p] = true
				}
			}
		default:
			what := words[0]
			trees = map[string]map[string]bool{"system": t.system, "sure": t.sure, "data": t.data}[what]
			tables = map[string][]*pathTable{"read": {&t.read}, "write": {&t.write}, "disk": {&t.write, &t.disk}}[what]
			if head = (pathEntry{}); tables != nil {
				head.class, head.rule, head.why = policy.Class(words[1]), words[2], strings.Join(words[3:], " ")
			}
		}
	}
	return t
}

// pathEntry is one pattern of paths.
type pathEntry struct {
	segs      []string
	anchored  bool     // begins at the root
	except    []string // last segments that are not meant after all
	class     policy.Class
	rule, why string
}

// pathTable finds the entries that a path matches. The first that matches counts, so the worst stand first.
type pathTable struct {
	all    []pathEntry
	byName map[string][]int // by their last segment without wildcards
	rest   []int            // entries without such a segment
}

func (t *pathTable) add(e pathEntry, p string) {
	if t.byName == nil {
		t.byName = make(map[string][]int)
	}
	i := len(t.all)
	e.segs, e.anchored = segments(p), p[0] == '/'
	t.all = append(t.all, e)
	key := ""
	for _, s := range e.segs {
		if !isWild(s) && s != "" {
			key = s
		}
	}
	if key == "" {
		t.rest = append(t.rest, i)
	} else {
		t.byName[key] = append(t.byName[key], i)
	}
}

func isWild(s string) bool {
	for i := range len(s) { // faster than a search for one of three
		if s[i] == '*' || s[i] == '?' || s[i] == '[' {
			return true
		}
	}
	return false
}

// find returns the first entry that a path matches, or that a pattern may reach.
func (t *pathTable) find(segs []string, pattern bool) *pathEntry {
	if len(segs) == 0 {
		return nil
	}
	if e := t.findExactly(segs, pattern); e != nil {
		return e
	}
	if folded, ok := foldCase(segs); ok {
		if e := t.findExactly(folded, pattern); e != nil && e.inAnyCase(folded) {
			return e
		}
	}
	return nil
}

func (t *pathTable) findExactly(segs []string, pattern bool) *pathEntry {
	best := len(t.all)
	try := func(list []int) {
		for _, i := range list {
			if i >= best {
				return
			}
			if t.all[i].matches(segs, pattern) {
				best = i
			}
		}
	}
	if pattern {
		for i := range t.all {
			if t.all[i].matches(segs, true) {
				return &t.all[i]
			}
		}
		return nil
	}
	for _, s := range segs {
		try(t.byName[s])
	}
	try(t.rest)
	if best == len(t.all) {
		return nil
	}
	return &t.all[best]
}

// inAnyCase reports whether a path that matches in lower case alone is meant: macOS and some disks find ~/.ssh as ~/.SSH. Names that
// programs' sources have too, such as PasswordsController.php, are left out.
func (e *pathEntry) inAnyCase(segs []string) bool {
	if e.anchored {
		return segs[0] == ""
	}
	last := e.segs[len(e.segs)-1]
	return strings.HasPrefix(last, "id_") || strings.HasPrefix(last, "*.") ||
		slices.ContainsFunc(e.segs, func(s string) bool { return strings.HasPrefix(s, ".") })
}

// foldCase returns segments in lower case, and whether that changes any. Beside those of ASCII, two signs are the same as a letter of
// ASCII to what ignores case.
func foldCase(segs []string) (folded []string, changed bool) {
	for i, s := range segs {
		if !strings.ContainsFunc(s, mayFold) {
			continue
		}
		if t := caseFolder.Replace(strings.ToLower(s)); t != s {
			if !changed {
				folded, changed = slices.Clone(segs), true
			}
			folded[i] = t
		}
	}
	return folded, changed
}

func mayFold(r rune) bool { return 'A' <= r && r <= 'Z' || r > unicode.MaxASCII }

var caseFolder = strings.NewReplacer("\u017f", "s", "\u212a", "k")

func (e *pathEntry) matches(segs []string, pattern bool) bool {
	// A relative path with nobody knowing where it starts may be the end of an absolute one. Names of the kernel's files are too common
	// for that to be said of a name alone: data, revision.
	common := len(segs) == 1 && len(e.segs) > 2 && e.segs[1] == "sys"
	if !reaches(segs, e.segs, pattern) && !(e.anchored && segs[0] != "" && !common && suffixOf(segs, e.segs, pattern)) {
		return false
	}
	// Of a pattern, all that it stands for is excepted: a wildcard in it is matched by a star alone.
	return !slices.ContainsFunc(e.except, func(x string) bool { return matchGlob(x, segs[len(segs)-1]) })
}

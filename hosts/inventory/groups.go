package inventory

import (
	"slices"
	"strings"
)

// tree is the groups of a file with their nesting. Children that do not exist or would close a circle are reported and
// left out.
type tree struct {
	groups  []*group
	byName  map[string]int
	parents [][]int
	rank    []int          // children before parents; otherwise the order of the file
	outer   []map[int]bool // every group a group is inside of, at any depth
}

func newTree(p *problems, groups []*group) *tree {
	t := &tree{byName: map[string]int{}}
	for _, g := range groups {
		if i, double := t.byName[g.name]; double {
			p.add(g.pos, "group %q is there twice; first on line %d", g.name, t.groups[i].pos.Line)
			continue
		}
		t.byName[g.name] = len(t.groups)
		t.groups = append(t.groups, g)
	}
	t.parents = make([][]int, len(t.groups))
	t.rank = make([]int, len(t.groups))
	t.outer = make([]map[int]bool, len(t.groups))
	t.link(p)
	for i := range t.groups {
		t.collect(i)
	}
	return t
}

// names returns the names of all groups.
func (t *tree) names() []string {
	out := make([]string, len(t.groups))
	for i, g := range t.groups {
		out[i] = g.name
	}
	return out
}

// link fills in parents and rank by walking down from each group.
func (t *tree) link(p *problems) {
	const (
		untouched = iota
		open      // on the way from the top to here
		done
	)
	state := make([]int, len(t.groups))
	next := 0
	var path []string
	var visit func(i int)
	visit = func(i int) {
		state[i] = open
		path = append(path, t.groups[i].name)
		for _, c := range t.groups[i].children {
			j, ok := t.byName[c.name]
			switch {
			case !ok:
				p.add(c.pos, "group %q has the child %q, which is not a group%s", t.groups[i].name, c.name, p.unknown(c.name, t.names()))
				continue
			case state[j] == open:
				circle := append(slices.Clone(path[slices.Index(path, c.name):]), c.name)
				p.add(c.pos, "groups inside each other: %s", clip(strings.Join(circle, " > ")))
				continue
			case state[j] == untouched:
				visit(j)
			}
			t.parents[j] = append(t.parents[j], i)
		}
		path = path[:len(path)-1]
		state[i] = done
		t.rank[i] = next
		next++
	}
	for i := range t.groups {
		if state[i] == untouched {
			visit(i)
		}
	}
}

func (t *tree) collect(i int) map[int]bool {
	if t.outer[i] == nil {
		t.outer[i] = map[int]bool{}
		for _, parent := range t.parents[i] {
			t.outer[i][parent] = true
			for o := range t.collect(parent) {
				t.outer[i][o] = true
			}
		}
	}
	return t.outer[i]
}

// around returns every group that a member of direct is in, inner groups before outer ones.
func (t *tree) around(direct map[int]bool) []int {
	all := map[int]bool{}
	for i := range direct {
		all[i] = true
		for o := range t.outer[i] {
			all[o] = true
		}
	}
	out := make([]int, 0, len(all))
	for i := range all {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b int) int { return t.rank[a] - t.rank[b] })
	return out
}

package rules

import (
	"strconv"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Tighter is what it is within the package.
var Tighter = tighter

// SimpleLiteral returns the words of a simple command in a shell, and whether all of them are known before it runs.
func SimpleLiteral(src, shell string) (words []string, literal bool) {
	c := judgeKey(key{script: src, shell: shell}).command()
	if len(c.units) != 1 {
		return nil, false
	}
	for _, w := range c.units[0].args {
		if !w.literal {
			return nil, false
		}
		words = append(words, w.text)
	}
	return words, len(words) > 0
}

// PathMatch says how a path that is written meets a pattern: "no", "maybe" or "yes".
func PathMatch(pattern string, p judge.Path) string {
	pp, err := parsePathPattern(pattern)
	if err != nil {
		return err.Error()
	}
	return [...]string{no: "no", maybe: "maybe", yes: "yes"}[pp.touches(p)]
}

// PathBase is the directory in which the examples of a rule for such paths run.
func PathBase(pattern string) string {
	pp, err := parsePathPattern(pattern)
	if err != nil {
		return err.Error()
	}
	return pp.base()
}

// Stricter is the verdict of the stricter of two cells, and whose yes it waits for.
func Stricter(a, b policy.Verdict, an, bn policy.Needs) (policy.Verdict, policy.Needs) {
	c := stricter(cell{verdict: a, needs: an}, cell{verdict: b, needs: bn})
	return c.verdict, c.needs
}

// Reason is the reason of a rule.
func (f *File) Reason(i int) string { return f.rules[i].reason }

// Remembered is how many reports an Engine keeps, and the bytes of their keys.
func (e *Engine) Remembered() (entries, bytes int) {
	for i := range e.shared.cache.shards {
		s := &e.shared.cache.shards[i]
		for _, generation := range []map[key]*judged{s.young, s.old} {
			entries += len(generation)
			for k := range generation {
				bytes += len(k.script) + len(k.dir)
			}
		}
	}
	return entries, bytes
}

// Metered is how many principals an Engine counts.
func (e *Engine) Metered() int { return len(e.quotas.(*meter).all) }

// KeptBeside reports whether a report is still remembered after so many others, where it is asked for in between or not.
func KeptBeside(others int, used bool) bool {
	var c cache
	k := key{script: "ls"}
	c.put(k, &judged{})
	for i := range others {
		c.put(key{script: "ls " + strconv.Itoa(i)}, &judged{})
		if used && c.get(k) == nil {
			return false
		}
	}
	return c.get(k) != nil
}

// CacheEntries is how many reports a generation of all shards has room for.
const CacheEntries = cacheEntries * cacheShards

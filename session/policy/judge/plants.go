package judge

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

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

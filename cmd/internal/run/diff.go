package run

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// answered reports whether a group has output that means something: its hosts ran the command to its end.
func answered(g *group) bool {
	return g.result.Status == session.StatusOK || g.result.Status == session.StatusExit
}

// reference is the group that the others are compared with: the one with the lowest exit code, and the largest of those;
// nil where no host answered. groups are sorted by size.
func reference(groups []*group) *group {
	code := func(g *group) int {
		if g.result.ExitCode == nil {
			return 0
		}
		return *g.result.ExitCode
	}
	var with []*group
	for _, g := range groups {
		if answered(g) {
			with = append(with, g)
		}
	}
	if len(with) == 0 {
		return nil
	}
	return slices.MinFunc(with, func(a, b *group) int { return cmp.Compare(code(a), code(b)) })
}

// printDiff writes how the output of a group differs from that of the reference.
func (v *foldView) printDiff(b *bytes.Buffer, ref, g *group) {
	from, to := hosts.Fold(slices.Clone(ref.names)), hosts.Fold(slices.Clone(g.names))
	out := v.unified(from, to, &ref.result, &g.result, false)
	errs := v.unified(from, to, &ref.result, &g.result, true)
	more := ""
	if len(out) == 0 && len(errs) == 0 {
		more = ", with the same output as " + from
		if ref.result.OmittedStdout+ref.result.OmittedStderr+g.result.OmittedStdout+g.result.OmittedStderr > 0 {
			more = fmt.Sprintf(", with other output than %s where it is omitted", from)
		}
	}
	v.head(b, g, more)
	v.text(b, out)
	if len(errs) > 0 {
		v.stderrHead(b)
		v.text(b, errs)
	}
}

// unified is the difference of a stream as a unified diff; nil where there is none.
func (v *foldView) unified(from, to string, a, b *session.Result, stderr bool) []byte {
	text := diff.Diff(from, shownText(a, stderr), to, shownText(b, stderr))
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff FROM TO"
	return text
}

// shownText is what is kept of a stream, with a mark where bytes are omitted.
func shownText(r *session.Result, stderr bool) []byte {
	text, cut, omitted := r.Stdout, r.CutStdout, r.OmittedStdout
	if stderr {
		text, cut, omitted = r.Stderr, r.CutStderr, r.OmittedStderr
	}
	if omitted == 0 || cut > int64(len(text)) {
		return text
	}
	return slices.Concat(text[:cut], []byte("\n"+omittedMark(omitted)+"\n"), text[cut:])
}

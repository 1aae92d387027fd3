package run

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// foldKeep is how much of each stream is kept for printing. Outputs are compared in full.
const foldKeep = 256 << 10

// foldIndent is before each row of a host's output on a terminal, so that no output looks like another group.
const foldIndent = "  "

// sums are over everything that a host printed.
type sums struct{ stdout, stderr hash.Hash }

// foldView prints identical outcomes once, the most frequent first.
type foldView struct {
	ios    *iostreams.IOStreams
	gate   *outcome.Gate
	exact  bool // control characters are printed as they are
	diff   bool // all but one group are shown by how they differ from that one
	groups map[ending]*group

	outs, errs textTree // of hosts whose output --max-output keeps here
}

// ending is what must be equal for hosts to be told together.
type ending struct {
	status         session.Status
	what, why      string
	stdout, stderr [sha256.Size]byte
}

// group is the hosts of one outcome.
type group struct {
	first  int // the smallest index, to order groups of equal size
	names  []string
	result session.Result // of one of them, without what kept has
	kept   *kept
	what   string
	why    string
	own    map[string]string // what differs between them in why, by name
}

func (v *foldView) start(t *target) (stdout, stderr io.Writer) {
	t.sums = sums{sha256.New(), sha256.New()}
	return t.sums.stdout, t.sums.stderr
}

func (v *foldView) done(t *target, r session.Result) {
	var o ending
	o.status = r.Status
	what, why := outcome.Describe(r)
	alike, own := outcome.Alike(why)
	o.what, o.why = what, alike
	if t.sums.stdout != nil {
		t.sums.stdout.Sum(o.stdout[:0])
		t.sums.stderr.Sum(o.stderr[:0])
		t.sums = sums{}
	}
	if v.groups == nil {
		v.groups = map[ending]*group{}
	}
	g := v.groups[o]
	if g == nil {
		g = &group{first: t.index, result: r, kept: t.kept, what: what, why: why}
		if g.kept != nil {
			g.result.Stdout, g.result.Stderr = nil, nil
		}
		v.groups[o] = g
	}
	if own != "" && own != t.label {
		if g.own == nil {
			g.own = map[string]string{}
		}
		g.own[t.label] = own
	}
	if len(g.names) > 0 {
		g.why = alike
	}
	g.first = min(g.first, t.index)
	g.names = append(g.names, t.label)
}

func (v *foldView) finish(*summary, int) {
	all := make([]*group, 0, len(v.groups))
	for _, g := range v.groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.names), len(a.names)), cmp.Compare(a.first, b.first))
	})
	var ref *group
	if v.diff {
		ref = reference(all)
	}
	if ref != nil { // first
		i := slices.Index(all, ref)
		all = slices.Insert(slices.Delete(all, i, i+1), 0, ref)
	}
	for i, g := range all {
		var b bytes.Buffer
		if i > 0 {
			b.WriteByte('\n')
		}
		g.kept.put(&g.result)
		if ref != nil && g != ref && answered(g) {
			v.printDiff(&b, ref, g)
		} else {
			v.print(&b, g)
		}
		v.gate.Out().Write(b.Bytes())
		if g != ref {
			g.result, g.kept = session.Result{}, nil
		}
	}
}

// print writes one group: who and how, what they printed, and apart from it what went to standard error.
func (v *foldView) print(b *bytes.Buffer, g *group) {
	v.head(b, g, "")
	r := &g.result
	v.stream(b, r.Stdout, r.CutStdout, r.OmittedStdout)
	if len(r.Stderr) > 0 || r.OmittedStderr > 0 {
		v.stderrHead(b)
		v.stream(b, r.Stderr, r.CutStderr, r.OmittedStderr)
	}
}

func (v *foldView) stderrHead(b *bytes.Buffer) { fmt.Fprintf(b, "%s\n", v.paint("33", "-- stderr")) }

// head says who a group is, and how it ended. more ends the line.
func (v *foldView) head(b *bytes.Buffer, g *group, more string) {
	count := "1 host"
	if len(g.names) > 1 {
		count = fmt.Sprintf("%d hosts", len(g.names))
	}
	how := g.what
	if g.why != "" {
		how += ": " + outcome.ForHosts(g.why, g.names)
	}
	color := "32"
	if g.result.Status != session.StatusOK {
		color = "31"
	}
	fmt.Fprintf(b, "%s\n", v.paint("1;"+color, fmt.Sprintf("== %s (%s): %s%s", hosts.Fold(slices.Clone(g.names)), count, how, more)))
	if len(g.names) > 1 {
		for _, line := range outcome.PerHost(g.own) {
			fmt.Fprintf(b, "%s%s\n", foldIndent, line)
		}
	}
}

// stream writes what is kept of a stream, says what is omitted, and ends the last line.
func (v *foldView) stream(b *bytes.Buffer, kept []byte, cut, omitted int64) {
	head, tail := kept, []byte(nil)
	if omitted > 0 && cut <= int64(len(kept)) {
		head, tail = kept[:cut], kept[cut:]
	}
	v.text(b, head)
	if omitted > 0 {
		fmt.Fprintf(b, "%s\n", v.paint("2", omittedMark(omitted)))
		v.text(b, tail)
	}
}

func omittedMark(n int64) string { return fmt.Sprintf("… %d bytes omitted …", n) }

func (v *foldView) text(b *bytes.Buffer, text []byte) {
	if len(text) == 0 {
		return
	}
	if v.ios.OutTTY && !v.exact {
		r := rows{prefix: foldIndent, cont: foldIndent, width: v.ios.Width()}
		var out []byte
		for line := range bytes.Lines(text) {
			out = r.append(out, bytes.TrimSuffix(line, []byte("\n")), false)
		}
		b.Write(out)
		return
	}
	b.Write(text)
	if text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
}

func (v *foldView) paint(color, s string) string {
	if !v.ios.ColorOut() {
		return s
	}
	return "\x1b[" + color + "m" + strings.TrimSuffix(s, "\n") + "\x1b[0m"
}

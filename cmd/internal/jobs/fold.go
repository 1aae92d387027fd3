package jobs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// foldKeep is how much of each output is kept for printing. Outputs are compared in full.
const foldKeep = 256 << 10

// foldedOutput is one output of a job that is shown with those that are the same.
type foldedOutput struct {
	sum  hash.Hash
	kept bytes.Buffer
	n    int64
}

func (f *foldedOutput) Write(p []byte) (int, error) {
	f.sum.Write(p)
	f.kept.Write(p[:min(len(p), foldKeep-f.kept.Len())])
	f.n += int64(len(p))
	return len(p), nil
}

func newFolded() *foldedOutput { return &foldedOutput{sum: sha256.New()} }

// folding groups the jobs whose ends and outputs are the same. It is used by one goroutine at a time.
type folding struct {
	groups []*foldGroup
	by     map[string]*foldGroup
}

// foldGroup is the hosts of one outcome.
type foldGroup struct {
	what  string
	names []string
	out   [2]*foldedOutput
}

func (f *folding) add(host string, j *wire.Job, out [2]*foldedOutput) {
	what := j.State
	switch {
	case j.ExitCode != nil && *j.ExitCode == 0:
		what = "ok"
	case j.ExitCode != nil:
		what = "exit " + strconv.Itoa(*j.ExitCode)
	}
	key := what + string(out[0].sum.Sum(nil)) + string(out[1].sum.Sum(nil))
	if f.by == nil {
		f.by = map[string]*foldGroup{}
	}
	g := f.by[key]
	if g == nil {
		g = &foldGroup{what: what, out: out}
		f.by[key], f.groups = g, append(f.groups, g)
	}
	g.names = append(g.names, host)
}

// print prints the groups, the largest first.
func (f *folding) print(to io.Writer) error {
	slices.SortStableFunc(f.groups, func(a, b *foldGroup) int { return cmp.Compare(len(b.names), len(a.names)) })
	for i, g := range f.groups {
		var b bytes.Buffer
		if i > 0 {
			b.WriteByte('\n')
		}
		count := "1 host"
		if len(g.names) > 1 {
			count = fmt.Sprintf("%d hosts", len(g.names))
		}
		fmt.Fprintf(&b, "== %s (%s): %s\n", hosts.Fold(g.names), count, g.what)
		g.out[0].show(&b)
		if g.out[1].n > 0 {
			b.WriteString("-- stderr\n")
			g.out[1].show(&b)
		}
		if _, err := to.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (f *foldedOutput) show(b *bytes.Buffer) {
	text := f.kept.Bytes()
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	if omitted := f.n - int64(len(text)); omitted > 0 {
		fmt.Fprintf(b, "… %d bytes omitted …\n", omitted)
	}
}

package hostfs

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// Each command of a shell costs as much as many files: what is done to many of them is one script.

// maxWords and MaxWordBytes bound the arguments of one script: a kernel takes no more of a program's, and shells take long to shift
// many.
const (
	maxWords     = 400
	MaxWordBytes = 64 << 10
)

// fits is how many of names go into one script, at least one.
func fits(names func(i int) int, n int) (some int) {
	for size := 0; some < n && some < maxWords; some++ {
		if size += names(some); size > MaxWordBytes && some > 0 {
			break
		}
	}
	return some
}

// Word implements Programs.
func (b *Shell) Word(text string) (string, bool) {
	w, err := framing.Quote(text)
	return w, err == nil
}

// Program implements Programs.
func (b *Shell) Program(ctx context.Context, p Program) (string, error) {
	text, err := b.runWithin(ctx, cmp.Or(p.Wait, ProgramWait), "("+p.Line+")", p.In, nil)
	if err != nil && ctx.Err() == nil {
		return "", &ProgramError{p.What, err}
	}
	return text, err
}

// MakeAll implements ManyAtOnce.
func (b *Shell) MakeAll(ctx context.Context, names []string) (missing []bool) {
	for len(names) > 0 {
		some := names[:fits(func(i int) int { return len(names[i]) }, len(names))]
		names = names[len(some):]
		var said strings.Builder
		_, err := b.Run(ctx, makeText(), nil, &said, some...)
		for _, c := range said.String()[:min(said.Len(), len(some))] {
			missing = append(missing, c == 'n')
		}
		if err != nil || said.Len() != len(some) {
			break
		}
	}
	return missing
}

// DressAll implements ManyAtOnce.
func (b *Shell) DressAll(ctx context.Context, names []string, c Clothes) error {
	owner := ""
	if c.UID >= 0 {
		owner = fmt.Sprintf("%d:%d", c.UID, c.GID)
	}
	for len(names) > 0 {
		n := fits(func(i int) int { return len(names[i]) }, len(names))
		if _, err := b.Run(ctx, dressText(), nil, nil, append([]string{octal(c.Mode), owner}, names[:n]...)...); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

// RenameAll implements ManyAtOnce.
func (b *Shell) RenameAll(ctx context.Context, all []Move) (done int, err error) {
	for done < len(all) {
		some := all[done:]
		some = some[:fits(func(i int) int { return len(some[i].From) + len(some[i].To) }, len(some))]
		var words []string
		for _, m := range some {
			words = append(words, m.From, m.To)
		}
		var said strings.Builder
		_, err := b.Run(ctx, renameText(), nil, &said, words...)
		n := strings.Count(said.String(), ".")
		if err == nil && n != len(some) {
			err = fmt.Errorf("the host has renamed %d of %d files", n, len(some))
		}
		if done += min(n, len(some)); err != nil {
			return done, err
		}
	}
	return done, nil
}

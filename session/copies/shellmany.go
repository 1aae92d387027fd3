package copies

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// Each command of a shell costs as much as many files: what is done to many of them is one script.

// maxWords and maxWordBytes bound the arguments of one script: a kernel takes no more of a program's, and shells take long to shift
// many.
const (
	maxWords     = 400
	maxWordBytes = 64 << 10
)

// fits is how many of names go into one script, at least one.
func fits(names func(i int) int, n int) (some int) {
	for size := 0; some < n && some < maxWords; some++ {
		if size += names(some); size > maxWordBytes && some > 0 {
			break
		}
	}
	return some
}

// word implements programs.
func (b *overShell) word(text string) (string, bool) {
	w, err := framing.Quote(text)
	return w, err == nil
}

// program implements programs.
func (b *overShell) program(ctx context.Context, p program) (string, error) {
	text, err := b.runWithin(ctx, cmp.Or(p.wait, programWait), "("+p.line+")", p.in, nil) // a path in the line may hold any word
	if err != nil && ctx.Err() == nil {
		return "", &programError{p.what, err}
	}
	return text, err
}

// makeAll implements manyAtOnce.
func (b *overShell) makeAll(ctx context.Context, names []string) (missing []bool) {
	for len(names) > 0 {
		some := names[:fits(func(i int) int { return len(names[i]) }, len(names))]
		names = names[len(some):]
		var said strings.Builder
		_, err := b.run(ctx, `(umask 077
for d; do
if [ -d "$d" ] && [ ! -h "$d" ]; then printf o; else mkdir -- "$d" || exit; printf n; fi
done)`, nil, &said, some...)
		for _, c := range said.String()[:min(said.Len(), len(some))] {
			missing = append(missing, c == 'n')
		}
		if err != nil || said.Len() != len(some) {
			break
		}
	}
	return missing
}

// dressAll implements manyAtOnce.
func (b *overShell) dressAll(ctx context.Context, names []string, c clothes) error {
	owner := ""
	if c.uid >= 0 {
		owner = fmt.Sprintf("%d:%d", c.uid, c.gid)
	}
	for len(names) > 0 {
		n := fits(func(i int) int { return len(names[i]) }, len(names))
		_, err := b.run(ctx, `m=$1 o=$2; shift 2
[ -z "$o" ] || chown -- "$o" "$@" || exit 91
chmod -- "$m" "$@"`, nil, nil, append([]string{fmt.Sprintf("%04o", Octal(c.mode)), owner}, names[:n]...)...)
		if err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

// renameAll implements manyAtOnce.
func (b *overShell) renameAll(ctx context.Context, all []waitingFile) (done int, err error) {
	for done < len(all) {
		some := all[done:]
		some = some[:fits(func(i int) int { return len(some[i].temp) + len(some[i].to) }, len(some))]
		var words []string
		for _, f := range some {
			words = append(words, f.temp, f.to)
		}
		var said strings.Builder
		_, err := b.run(ctx, `while [ $# -gt 0 ]; do
[ ! -d "$2" ] || exit 92
mv -f -- "$1" "$2" || exit
printf .
shift 2
done`, nil, &said, words...)
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

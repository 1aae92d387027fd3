package framing_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/framing"
)

// BenchmarkDecoder decodes what a fast connection delivers, in pieces of 64 KiB. The bars are 2 GB/s and 0 allocs/op.
func BenchmarkDecoder(b *testing.B) {
	line := strings.Repeat("a line of output ", 4) + "\n"
	record := "<s>e32768;" + strings.Repeat(line, 1<<15/len(line)+1)[:1<<15]
	for _, bb := range []struct {
		name, unit string
		own        bool
	}{
		{"plain", line, false},
		{"zeros", strings.Repeat("\x00", 1<<10), false},
		{"RS in every line", line + "<>", false},
		{"nothing but RS", "<>", false},
		{"errors in records of 32 KiB", record, false},
		{"errors through a reader of its own", record, true},
		{"errors by line", "<s>e69;" + line, true},
		{"errors by byte", "<~>61\n", true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			unit := wire(bb.unit)
			cut := pieces(bytes.Repeat(unit, 1<<20/len(unit)+1), 1<<16)
			d := framing.NewDecoder(tokShell, tokNonce, bb.own)
			d.Expect(tokA)
			d.Feed(wire("<A>S<s>e1;x"))
			for _, ok := d.Next(); ok; _, ok = d.Next() {
			}
			total := 0
			for _, p := range cut {
				total += len(p)
			}
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range cut {
					d.Feed(p)
					for _, ok := d.Next(); ok; _, ok = d.Next() {
					}
				}
			}
		})
	}
}

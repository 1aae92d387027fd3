package redact

import "encoding/binary"

const (
	gram     = 4 // bytes that the filter looks at; no known form is shorter
	gramMul  = 0x9E3779B1
	minLog   = 14
	maxLog   = 21
	bitsEach = 6 // log2 of the filter's bits per form
)

// filter tells fast where no form can begin: it holds a bit for the first four bytes of each, and one for the four after
// the first, so that every second position is enough to look at.
type filter struct {
	bits  []uint64
	shift uint32
}

func newFilter(forms []form) filter {
	log := uint32(minLog)
	for n := len(forms) << bitsEach; log < maxLog && 1<<log < n; {
		log++
	}
	f := filter{bits: make([]uint64, 1<<log/64), shift: 32 - log}
	for _, x := range forms {
		f.set(binary.LittleEndian.Uint32(x.text))
		if len(x.text) > gram {
			f.set(binary.LittleEndian.Uint32(x.text[1:]))
			continue
		}
		for any := range uint32(256) {
			f.set(binary.LittleEndian.Uint32(x.text)>>8 | any<<24)
		}
	}
	return f
}

func (f *filter) set(v uint32) {
	h := (v * gramMul) >> f.shift
	f.bits[h>>6] |= 1 << (h & 63)
}

func (f *filter) get(b []byte, i int) bool {
	h := (binary.LittleEndian.Uint32(b[i:]) * gramMul) >> f.shift
	return f.bits[h>>6]>>(h&63)&1 != 0
}

// has reports whether a form may begin at b[i]; there must be four bytes.
func (f *filter) has(b []byte, i int) bool {
	return f.get(b, i) && (i+gram == len(b) || f.get(b, i+1))
}

// next returns the first position from i on where a form may begin, or the first one with too few bytes to tell.
func (f *filter) next(b []byte, i int) int {
	bits, shift := f.bits, f.shift&31
	mask := uint32(len(bits) - 1)
	next := i // the first position that is not ruled out
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:])
		h0 := (uint32(v) * gramMul) >> shift
		h2 := (uint32(v>>16) * gramMul) >> shift
		h4 := (uint32(v>>32) * gramMul) >> shift
		hit := bits[h0>>6&mask]>>(h0&63) | bits[h2>>6&mask]>>(h2&63) | bits[h4>>6&mask]>>(h4&63)
		if hit&1 != 0 {
			for end := min(i+5, len(b)-gram+1); next < end; next++ {
				if f.has(b, next) {
					return next
				}
			}
		}
		next = i + 5
	}
	for next+gram <= len(b) && !f.has(b, next) {
		next++
	}
	return next
}

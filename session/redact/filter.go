package redact

import "encoding/binary"

const (
	gram     = 4 // bytes that the filter looks at; no known form is shorter
	gramMul  = 0x9E3779B1
	minLog   = 13
	maxLog   = 21
	bitsEach = 6 // log2 of the filter's bits per form: about one position in 64 passes by chance
)

// filter tells fast where no form can begin: it holds a bit for the first four bytes of each.
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
		h := f.hash(binary.LittleEndian.Uint32(x.text))
		f.bits[h>>6] |= 1 << (h & 63)
	}
	return f
}

func (f *filter) hash(v uint32) uint32 { return (v * gramMul) >> f.shift }

// has reports whether a form may begin at b[i]; there must be four bytes.
func (f *filter) has(b []byte, i int) bool {
	h := f.hash(binary.LittleEndian.Uint32(b[i:]))
	return f.bits[h>>6]>>(h&63)&1 != 0
}

// next returns the first position from i on where a form may begin, or the first one with too few bytes to tell.
func (f *filter) next(b []byte, i int) int {
	bits, shift := f.bits, f.shift&31
	mask := uint32(len(bits) - 1)
	for ; i+8 <= len(b); i += 5 {
		v := binary.LittleEndian.Uint64(b[i:])
		h0 := (uint32(v) * gramMul) >> shift
		h1 := (uint32(v>>8) * gramMul) >> shift
		h2 := (uint32(v>>16) * gramMul) >> shift
		h3 := (uint32(v>>24) * gramMul) >> shift
		h4 := (uint32(v>>32) * gramMul) >> shift
		hit := bits[h0>>6&mask]>>(h0&63) | bits[h1>>6&mask]>>(h1&63) | bits[h2>>6&mask]>>(h2&63) |
			bits[h3>>6&mask]>>(h3&63) | bits[h4>>6&mask]>>(h4&63)
		if hit&1 != 0 {
			break
		}
	}
	for ; i+gram <= len(b); i++ {
		if f.has(b, i) {
			return i
		}
	}
	return i
}

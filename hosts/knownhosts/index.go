package knownhosts

import (
	"crypto/sha1"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxLooked bounds the names that are known to have been looked for among hashed ones.
const maxLooked = 1 << 14

// longName is how long a name may be for its hash to take no memory.
const longName = 256

// index finds the lines about a name without reading all of them. Plain names are in a map. A hashed name has a salt of
// its own, so each has to be hashed for each name; that is done once for a name, and a line whose name was found needs no
// more of it.
type index struct {
	names    []names // of all lines
	patterns []int   // lines with wildcards or exceptions

	mu     sync.Mutex // guards what follows
	exact  map[string][]int
	hashed []int // lines whose name has not been found
	looked map[string]bool

	hashes atomic.Int64 // how many names were hashed: a measure of the work
}

func newIndex(entries []entry) *index {
	x := &index{exact: map[string][]int{}, looked: map[string]bool{}}
	for i := range entries {
		n := entries[i].names
		x.names = append(x.names, n)
		switch {
		case n.hash != nil:
			x.hashed = append(x.hashed, i)
		case slices.ContainsFunc(n.patterns, func(p string) bool { return strings.ContainsAny(p, "*?!") }):
			x.patterns = append(x.patterns, i)
		default:
			for _, name := range n.patterns {
				if at := x.exact[name]; len(at) == 0 || at[len(at)-1] != i {
					x.exact[name] = append(at, i)
				}
			}
		}
	}
	return x
}

// lines returns the numbers of the lines about name, which is in lower case, in order.
func (x *index) lines(name string) []int {
	if x == nil {
		return nil
	}
	var out []int
	for _, i := range x.patterns {
		if x.names[i].match(name) {
			out = append(out, i)
		}
	}
	x.mu.Lock()
	if len(x.hashed) > 0 && !x.looked[name] {
		x.look(name)
	}
	out = append(out, x.exact[name]...)
	x.mu.Unlock()
	slices.Sort(out)
	return out
}

// look moves the hashed lines about name to the exact ones. x.mu is held.
func (x *index) look(name string) {
	if len(x.looked) >= maxLooked {
		clear(x.looked)
	}
	x.looked[name] = true
	x.hashes.Add(int64(len(x.hashed)))
	x.hashed = slices.DeleteFunc(x.hashed, func(i int) bool {
		if !x.names[i].match(name) {
			return false
		}
		x.exact[name] = append(x.exact[name], i)
		return true
	})
}

// isHashOf reports whether hash is that of name: an HMAC-SHA1 (RFC 2104) keyed with the salt, without the memory that
// crypto/hmac takes for each key.
func isHashOf(hash, salt []byte, name string) bool {
	var inner, outer [sha1.BlockSize]byte
	copy(inner[:], salt)
	copy(outer[:], salt)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	var room [sha1.BlockSize + longName]byte
	sum := sha1.Sum(append(append(room[:0], inner[:]...), name...))
	sum = sha1.Sum(append(append(room[:0], outer[:]...), sum[:]...))
	return subtle.ConstantTimeCompare(sum[:], hash) == 1
}

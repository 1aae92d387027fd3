package redact

import "maps"

// Counts says what was taken out. The zero value is nothing.
type Counts struct {
	Kinds map[string]int // marks written, per kind
	Bytes int64          // bytes that the marks stand for
}

// Total is the number of marks.
func (c Counts) Total() int {
	n := 0
	for _, k := range c.Kinds {
		n += k
	}
	return n
}

// Add adds what other counted.
func (c *Counts) Add(other Counts) {
	for kind, n := range other.Kinds {
		if c.Kinds == nil {
			c.Kinds = map[string]int{}
		}
		c.Kinds[kind] += n
	}
	c.Bytes += other.Bytes
}

func (c *Counts) one(kind string, bytes int64) {
	if c.Kinds == nil {
		c.Kinds = map[string]int{}
	}
	c.Kinds[kind]++
	c.Bytes += bytes
}

func (c Counts) clone() Counts {
	return Counts{Kinds: maps.Clone(c.Kinds), Bytes: c.Bytes}
}

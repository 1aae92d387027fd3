package hosts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxExpand is how many names one expression may stand for.
const MaxExpand = 100_000

// maxDigits keeps numbers in ranges inside an int64, with room to spare.
const maxDigits = 18

// pattern is a name with ranges: text, brackets, text, brackets, …, text. Without brackets it is a plain name.
type pattern struct {
	text   []string // one more than ranges
	ranges [][]span
}

// span is one part of a bracket: lo to hi in steps, printed with at least width digits.
type span struct {
	lo, hi, step int64
	width        int // 0 means no padding
}

func (s span) count() int64 { return (s.hi-s.lo)/s.step + 1 }

func (s span) number(n int64) string {
	if s.width == 0 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%0*d", s.width, n)
}

func (s span) String() string {
	out := s.number(s.lo)
	if s.hi != s.lo {
		out += "-" + s.number(s.hi)
	}
	if s.step != 1 && s.hi != s.lo {
		out += "/" + strconv.FormatInt(s.step, 10)
	}
	return out
}

// parsePattern reads a word such as rack[1-4]node[01-12/2,20]. ok judges the characters outside the brackets. An error
// comes with the byte offset it is about.
func parsePattern(word string, ok func(rune) bool) (p pattern, at int, err error) {
	start, size := 0, 0
	for i := 0; i < len(word); {
		if word[i] != '[' {
			r, n := decodeRune(word[i:])
			if !ok(r) {
				return p, i, fmt.Errorf("unexpected %q in a name", r)
			}
			i += n
			continue
		}
		end := strings.IndexByte(word[i:], ']')
		if end < 0 {
			return p, i, fmt.Errorf("[ without ]")
		}
		spans, err := parseSpans(word[i+1 : i+end])
		if err != nil {
			return p, i, err
		}
		p.text, p.ranges = append(p.text, word[start:i]), append(p.ranges, spans)
		size += i - start
		i += end + 1
		start = i
	}
	p.text = append(p.text, word[start:])
	for _, spans := range p.ranges {
		size += widest(spans)
	}
	if size += len(word) - start; size > maxName {
		return p, 0, fmt.Errorf("the name has up to %d bytes, more than %d", size, maxName)
	}
	if first, _ := decodeRune(p.text[0]); p.text[0] != "" && !nameStart(first) && first != '*' && first != '?' {
		return p, 0, fmt.Errorf("a name must not begin with %q", first)
	}
	if word == "" {
		return p, 0, fmt.Errorf("a name is missing")
	}
	return p, 0, nil
}

func parseSpans(list string) ([]span, error) {
	var out []span
	for part := range strings.SplitSeq(list, ",") {
		s, err := parseSpan(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("bad range [%s]: %w", shorten(list), err)
		}
		out = append(out, s)
	}
	return out, nil
}

func parseSpan(s string) (span, error) {
	body, step, stepped := strings.Cut(s, "/")
	lo, hi, ranged := strings.Cut(body, "-")
	if !ranged {
		hi = lo
	}
	out := span{step: 1}
	var err error
	if out.lo, err = parseNumber(lo); err != nil {
		return out, err
	}
	if out.hi, err = parseNumber(hi); err != nil {
		return out, err
	}
	if stepped {
		if out.step, err = parseNumber(step); err != nil {
			return out, err
		}
		if out.step < 1 || !ranged {
			return out, fmt.Errorf("a step is 1 or more and follows a range, as in [0-10/2]")
		}
	}
	padded := len(lo) > 1 && lo[0] == '0'
	switch {
	case out.hi < out.lo:
		return out, fmt.Errorf("%s is after %s", lo, hi)
	case padded && len(hi) < len(lo), !padded && len(hi) > 1 && hi[0] == '0':
		return out, fmt.Errorf("%s and %s are padded differently", lo, hi)
	case padded:
		out.width = len(lo)
	}
	return out, nil
}

func parseNumber(s string) (int64, error) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a number", shorten(s))
	}
	if len(s) > maxDigits {
		return 0, fmt.Errorf("%s has more than %d digits", shorten(s), maxDigits)
	}
	return strconv.ParseInt(s, 10, 64)
}

func widest(spans []span) int {
	most := 0
	for _, s := range spans {
		most = max(most, len(s.number(s.hi)))
	}
	return most
}

// String renders the pattern so that it parses back to itself.
func (p pattern) String() string {
	var b strings.Builder
	for i, spans := range p.ranges {
		b.WriteString(p.text[i])
		b.WriteByte('[')
		for j, s := range spans {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(s.String())
		}
		b.WriteByte(']')
	}
	b.WriteString(p.text[len(p.text)-1])
	return b.String()
}

// count returns how many names the pattern stands for, doubles included, or MaxExpand+1 for anything larger.
func (p pattern) count() int {
	total := int64(1)
	for _, spans := range p.ranges {
		var n int64
		for _, s := range spans {
			if n += s.count(); n > MaxExpand {
				return MaxExpand + 1
			}
		}
		if total > math.MaxInt64/n {
			return MaxExpand + 1
		}
		if total *= n; total > MaxExpand {
			return MaxExpand + 1
		}
	}
	return int(total)
}

// expand returns the names in order, the last bracket fastest. The caller has checked count.
func (p pattern) expand() []string {
	out := []string{p.text[0]}
	for i, spans := range p.ranges {
		var next []string
		for _, prefix := range out {
			for _, s := range spans {
				for n := s.lo; n <= s.hi; n += s.step {
					next = append(next, prefix+s.number(n)+p.text[i+1])
				}
			}
		}
		out = next
	}
	return out
}

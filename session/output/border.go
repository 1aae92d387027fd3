package output

import "unicode/utf8"

// inside says how many bytes of a character lie before the cut between before and after, and how many after it; zero
// and zero where the cut is between characters, or in bytes that are no UTF-8. Three bytes of either side are enough.
// A character whose rest is not in after counts as cut.
func inside(before, after []byte) (back, forth int) {
	for k := 1; k < utf8.UTFMax && k <= len(before); k++ {
		start := len(before) - k
		if !utf8.RuneStart(before[start]) {
			continue
		}
		if before[start] < utf8.RuneSelf {
			return 0, 0
		}
		var buf [2 * utf8.UTFMax]byte
		around := append(append(buf[:0], before[start:]...), after[:min(len(after), utf8.UTFMax)]...)
		if !utf8.FullRune(around) {
			return k, len(after)
		}
		if _, size := utf8.DecodeRune(around); size > k {
			return k, size - k
		}
		return 0, 0
	}
	return 0, 0
}

// around returns up to three kept bytes of either side of off.
func (v *snapshot) around(off int64) (before, after []byte, err error) {
	const side = utf8.UTFMax - 1
	lo, hi := max(off-side, 0), min(off+side, v.total)
	if v.gap() {
		if off <= v.kept {
			hi = min(hi, v.kept)
		} else {
			lo = max(lo, v.tailAt)
		}
	}
	p, err := v.read(lo, hi)
	if err != nil {
		return nil, nil, err
	}
	return p[:off-lo], p[off-lo:], nil
}

// borderBefore returns the last border between characters at or before off.
func (v *snapshot) borderBefore(off int64) (int64, error) {
	if off <= 0 || off >= v.total {
		return off, nil
	}
	before, after, err := v.around(off)
	back, _ := inside(before, after)
	return off - int64(back), err
}

// borderAfter returns the first border between characters at or after off.
func (v *snapshot) borderAfter(off int64) (int64, error) {
	if off <= 0 || off >= v.total {
		return off, nil
	}
	before, after, err := v.around(off)
	if err != nil {
		return off, err
	}
	if len(before) == 0 { // what was before is gone: rests of a character are not worth showing
		for i := 0; i < len(after) && !utf8.RuneStart(after[i]); i++ {
			off++
		}
		return off, nil
	}
	_, forth := inside(before, after)
	return off + int64(forth), nil
}

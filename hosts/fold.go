package hosts

import (
	"slices"
	"strconv"
	"strings"
)

// Fold is the opposite of [Expand]: it returns the shortest simple list of ranges for names, as people write it:
//
//	web01 web02 web03 db1      db1,web[01-03]
//	node1 node01 node2         node[1-2,01]: padding tells names apart
//
// The order of names does not matter and doubles are dropped: the result is sorted as a person would sort it, numbers by
// value. Names must be such that [CheckName] accepts them; others appear as they are.
func Fold(names []string) string {
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, compareNatural)
	sorted = slices.Compact(sorted)

	// Names with the same text between their numbers form a family; a family is folded on its own.
	families := map[string][]folded{}
	var order []string
	for _, n := range sorted {
		text, numbers := splitNumbers(n)
		key := strings.Join(text, "\x00")
		if _, ok := families[key]; !ok {
			order = append(order, key)
		}
		families[key] = append(families[key], numbers)
	}
	var out []string
	for _, key := range order {
		text := strings.Split(key, "\x00")
		for _, f := range foldFamily(families[key]) {
			out = append(out, f.join(text))
		}
	}
	return strings.Join(out, ",")
}

// folded holds what stands at each number of a family: digits, or a bracket.
type folded []string

func (f folded) join(text []string) string {
	var b strings.Builder
	for i, part := range f {
		b.WriteString(text[i])
		b.WriteString(part)
	}
	b.WriteString(text[len(text)-1])
	return b.String()
}

// foldFamily merges, position by position from the last, the entries that differ in that position only.
func foldFamily(all []folded) []folded {
	if len(all) < 2 {
		return all
	}
	for pos := len(all[0]) - 1; pos >= 0; pos-- {
		index := map[string]int{}
		var next []folded
		var digits [][]string
		for _, f := range all {
			rest := slices.Clone(f)
			rest[pos] = ""
			key := strings.Join(rest, "\x00")
			i, ok := index[key]
			if !ok {
				i = len(next)
				index[key] = i
				next, digits = append(next, f), append(digits, nil)
			}
			digits[i] = append(digits[i], f[pos])
		}
		for i := range next {
			if len(digits[i]) > 1 {
				next[i] = slices.Clone(next[i])
				next[i][pos] = foldDigits(digits[i])
			}
		}
		all = next
	}
	return all
}

// foldDigits renders two or more different numbers as a bracket. Numbers with leading zeros form a class per width, which
// takes in the unpadded numbers of the same width (08, 09, 10); the others form the class without padding.
func foldDigits(digits []string) string {
	padded := map[int]bool{}
	for _, d := range digits {
		if len(d) > 1 && d[0] == '0' {
			padded[len(d)] = true
		}
	}
	classes := map[int][]int64{}
	for _, d := range digits {
		width := 0
		if padded[len(d)] {
			width = len(d)
		}
		n, _ := strconv.ParseInt(d, 10, 64) // at most maxDigits digits
		classes[width] = append(classes[width], n)
	}
	var parts []string
	for width := range maxDigits + 1 {
		nums := classes[width]
		slices.Sort(nums)
		for i := 0; i < len(nums); {
			j := i
			for j+1 < len(nums) && nums[j+1] == nums[j]+1 {
				j++
			}
			parts = append(parts, span{lo: nums[i], hi: nums[j], step: 1, width: width}.String())
			i = j + 1
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// splitNumbers splits a name into the text around its numbers. Digits too long for a range count as text.
func splitNumbers(name string) (text []string, numbers folded) {
	start := 0
	for i := 0; i < len(name); {
		j := i
		for j < len(name) && '0' <= name[j] && name[j] <= '9' {
			j++
		}
		if j == i {
			i++
			continue
		}
		if j-i <= maxDigits {
			text, numbers = append(text, name[start:i]), append(numbers, name[i:j])
			start = j
		}
		i = j
	}
	return append(text, name[start:]), numbers
}

// compareNatural orders names as people do: numbers by value, then fewer zeros first.
func compareNatural(a, b string) int {
	textA, numA := splitNumbers(a)
	textB, numB := splitNumbers(b)
	for i := range min(len(textA), len(textB)) {
		if c := strings.Compare(textA[i], textB[i]); c != 0 {
			return c
		}
		if i < min(len(numA), len(numB)) {
			x, y := strings.TrimLeft(numA[i], "0"), strings.TrimLeft(numB[i], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
		}
	}
	if len(numA) != len(numB) {
		return len(numA) - len(numB)
	}
	return strings.Compare(a, b)
}

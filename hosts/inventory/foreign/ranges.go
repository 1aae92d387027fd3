package foreign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// letters are what Ansible counts through in ranges of letters.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// maxName is the longest name of a host in bytes.
const maxName = 255

// expandRange returns the names that one of Ansible's ranges stands for: web[01:12], db[a:f], n[0:10:2], and several in one
// name. There are at most most.
func expandRange(pattern string, most int) ([]string, error) {
	if len(pattern) > 4*maxName {
		return nil, fmt.Errorf("the name has %d bytes", len(pattern))
	}
	out := []string{""}
	rest := pattern
	for {
		head, after, found := strings.Cut(rest, "[")
		if strings.Contains(head, "]") {
			return nil, errors.New("] without [")
		}
		if !found {
			return appendEach(out, []string{head}, most)
		}
		inside, tail, closed := strings.Cut(after, "]")
		if !closed {
			return nil, errors.New("[ without ]")
		}
		items, err := rangeItems(inside, most)
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i] = head + items[i]
		}
		if out, err = appendEach(out, items, most); err != nil {
			return nil, err
		}
		rest = tail
	}
}

// appendEach returns each of heads followed by each of tails.
func appendEach(heads, tails []string, most int) ([]string, error) {
	if len(heads)*len(tails) > most {
		return nil, fmt.Errorf("more than %d names", most)
	}
	out := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			if len(h)+len(t) > maxName {
				return nil, fmt.Errorf("the name has more than %d bytes", maxName)
			}
			out = append(out, h+t)
		}
	}
	return out, nil
}

// rangeItems counts from the beginning to the end of begin:end or begin:end:step.
func rangeItems(inside string, most int) ([]string, error) {
	bounds := strings.Split(inside, ":")
	if len(bounds) != 2 && len(bounds) != 3 {
		return nil, fmt.Errorf("[%s] is not begin:end or begin:end:step", clip(inside))
	}
	begin, end, step := bounds[0], bounds[1], 1
	if len(bounds) == 3 {
		n, err := strconv.Atoi(bounds[2])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("the step %s is not a number of 1 or more", clip(bounds[2]))
		}
		step = n
	}
	if begin == "" {
		begin = "0"
	}
	if end == "" {
		return nil, errors.New("a range needs an end")
	}
	width := 0
	if begin[0] == '0' && len(begin) > 1 {
		if width = len(begin); width != len(end) {
			return nil, fmt.Errorf("%s and %s have different lengths", clip(begin), clip(end))
		}
	}
	if from, to := strings.Index(letters, begin), strings.Index(letters, end); len(begin) == 1 && len(end) == 1 && from >= 0 && to >= 0 {
		var out []string
		if from > to {
			return nil, fmt.Errorf("%s is after %s", begin, end)
		}
		for i := from; i <= to; i += step {
			out = append(out, letters[i:i+1])
		}
		return out, nil
	}
	from, err := strconv.ParseUint(begin, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%s is not a number", clip(begin))
	}
	to, err := strconv.ParseUint(end, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%s is not a number", clip(end))
	}
	if from > to {
		return nil, fmt.Errorf("%s is after %s", clip(begin), clip(end))
	}
	if (to-from)/uint64(step) >= uint64(most) {
		return nil, fmt.Errorf("more than %d names", most)
	}
	var out []string
	for n := from; n <= to; n += uint64(step) {
		out = append(out, fmt.Sprintf("%0*d", width, n))
	}
	return out, nil
}

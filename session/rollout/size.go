package rollout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// amount is a number of hosts, or a share of them.
type amount struct {
	n       int // hosts; of a share percent
	percent bool
}

func (a amount) String() string {
	if a.percent {
		return strconv.Itoa(a.n) + "%"
	}
	return strconv.Itoa(a.n)
}

// maxHosts bounds what is read as a number of hosts.
const maxHosts = 1_000_000

func parseAmount(text string) (amount, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.Atoi(digits)
	most := maxHosts
	if percent {
		most = 100
	}
	switch {
	case err != nil || strings.ContainsAny(digits, "+-"):
		return amount{}, fmt.Errorf("%q is neither a number of hosts (5) nor a percentage (10%%)", text)
	case n > most && percent:
		return amount{}, fmt.Errorf("%s%% is more than 100%%", digits)
	case n > most:
		return amount{}, fmt.Errorf("%d is more than %d hosts", n, most)
	}
	return amount{n, percent}, nil
}

// Size is how many hosts a batch holds: a number, or a percentage of all hosts of the run. The zero Size is not valid.
type Size struct{ a amount }

// ParseSize reads a Size: "5" or "10%". Zero is an error.
func ParseSize(text string) (Size, error) {
	a, err := parseAmount(text)
	if err == nil && a.n == 0 {
		err = fmt.Errorf("%s picks no host: use 1 or more", text)
	}
	return Size{a}, err
}

// ParseSizes reads Sizes that commas separate.
func ParseSizes(text string) ([]Size, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the list of batches is empty: write for instance 1,10%,100%")
	}
	var sizes []Size
	for _, part := range strings.Split(text, ",") {
		s, err := ParseSize(part)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, s)
	}
	return sizes, nil
}

// Of is how many of n hosts it is: of a percentage the whole hosts, at least one where n is not 0.
func (s Size) Of(n int) int {
	if s.a.percent {
		return min(n, max(1, n*s.a.n/100))
	}
	return min(n, s.a.n)
}

func (s Size) String() string { return s.a.String() }

// Limit is how many hosts may fail: a number, or a percentage. The zero Limit is none: all may.
type Limit struct {
	a   amount
	set bool
}

// ParseLimit reads a Limit: "0", "5" or "10%".
func ParseLimit(text string) (Limit, error) {
	a, err := parseAmount(text)
	return Limit{a, err == nil}, err
}

// Set reports whether it is a limit at all.
func (l Limit) Set() bool { return l.set }

// Exceeded reports whether failed of n hosts are more than may fail.
func (l Limit) Exceeded(failed, n int) bool {
	switch {
	case !l.set:
		return false
	case l.a.percent:
		return failed*100 > l.a.n*n
	}
	return failed > l.a.n
}

func (l Limit) String() string {
	if !l.set {
		return ""
	}
	return l.a.String()
}

package hosts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestExpand(t *testing.T) {
	for name, tt := range map[string]struct {
		list string
		want string
	}{
		"a name is itself":                      {"web01", "web01"},
		"padding of the first number is kept":   {"web[08-11]", "web08 web09 web10 web11"},
		"no padding means none":                 {"web[8-11]", "web8 web9 web10 web11"},
		"padding may overflow":                  {"n[098-101]", "n098 n099 n100 n101"},
		"padding is a minimum, not a maximum":   {"n[08-101/31]", "n08 n39 n70 n101"},
		"steps":                                 {"n[0-10/5]", "n0 n5 n10"},
		"a step that misses the end":            {"n[1-10/4]", "n1 n5 n9"},
		"lists in brackets":                     {"n[1-3,7]", "n1 n2 n3 n7"},
		"spaces in brackets":                    {"n[1-2, 7]", "n1 n2 n7"},
		"mixed padding in one bracket":          {"n[1,01,001]", "n1 n01 n001"},
		"several ranges, the last one fastest":  {"r[1-2]n[01-02].x", "r1n01.x r1n02.x r2n01.x r2n02.x"},
		"ranges next to each other":             {"n[1-2][0-1]", "n10 n11 n20 n21"},
		"a list of both":                        {"db1, web[1-2] ,gw", "db1 web1 web2 gw"},
		"doubles are dropped":                   {"n[1-3,2],n1", "n1 n2 n3"},
		"nothing but a range":                   {"[1-3]", "1 2 3"},
		"letters of any script":                 {"größe[1-2]", "größe1 größe2"},
		"a number alone in a bracket":           {"n[07]", "n07"},
		"zero alone is not padded":              {"n[0-10/10]", "n0 n10"},
		"the largest step still ends the range": {"n[1-3/999999999999999999]", "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hosts.Expand(tt.list)
			require.NoError(t, err)
			assert.Equal(t, strings.Fields(tt.want), got)
		})
	}
}

func TestExpandRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		list, want string
	}{
		"nothing":                 {"", "hosts: selector, column 1: a name is missing"},
		"a comma too many":        {"a,,b", "hosts: selector, column 3: a name is missing"},
		"an open bracket":         {"web[1-3", "hosts: selector, column 4: [ without ]"},
		"a bracket in a bracket":  {"web[1-[2]", `hosts: selector, column 4: bad range [1-[2]: "[2" is not a number`},
		"a closing bracket only":  {"web]", "hosts: selector, column 4: unexpected ']' in a name"},
		"an empty bracket":        {"web[]", `hosts: selector, column 4: bad range []: "" is not a number`},
		"a range backwards":       {"web[5-1]", "hosts: selector, column 4: bad range [5-1]: 5 is after 1"},
		"different padding":       {"web[001-12]", "hosts: selector, column 4: bad range [001-12]: 001 and 12 are padded differently"},
		"padding at the end only": {"web[1-012]", "hosts: selector, column 4: bad range [1-012]: 1 and 012 are padded differently"},
		"step zero":               {"web[1-2/0]", "hosts: selector, column 4: bad range [1-2/0]: a step is 1 or more and follows a range, as in [0-10/2]"},
		"a step without a range":  {"web[1/2]", "hosts: selector, column 4: bad range [1/2]: a step is 1 or more and follows a range, as in [0-10/2]"},
		"letters":                 {"web[a-c]", `hosts: selector, column 4: bad range [a-c]: "a" is not a number`},
		"endless digits":          {"web[1-1234567890123456789]", "hosts: selector, column 4: bad range [1-1234567890123456789]: 1234567890123456789 has more than 18 digits"},
		"too many names":          {"ok,web[1-100000]", "hosts: selector, column 4: more than 100000 names"},
		"far too many names":      {"w[0-99999][0-99999][0-99999][0-99999]", "hosts: selector, column 1: more than 100000 names"},
		"a range beyond int64":    {"w[0-999999999999999999]", "hosts: selector, column 1: more than 100000 names"},
		"a name like an option":   {"-oProxyCommand", "hosts: selector, column 1: a name must not begin with '-'"},
		"a glob":                  {"web*", "hosts: selector, column 4: unexpected '*' in a name"},
		"a space inside":          {"ä b", "hosts: selector, column 2: unexpected ' ' in a name"},
		"the word all":            {"all", `hosts: selector, column 1: "all" is a word of selectors: "all" means every host`},
		"a name too long":         {strings.Repeat("x", 255) + "[1-2]", "hosts: selector, column 1: the name has up to 256 bytes, more than 255"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hosts.Expand(tt.list)
			require.Error(t, err)
			assert.Nil(t, got)
			assert.Equal(t, tt.want, err.Error())
			var pe *hosts.ParseError
			assert.ErrorAs(t, err, &pe)
		})
	}
}

func TestFold(t *testing.T) {
	for name, tt := range map[string]struct {
		names, want string
	}{
		"nothing":                              {"", ""},
		"one name":                             {"web01", "web01"},
		"a run":                                {"web01 web02 web03", "web[01-03]"},
		"order and doubles do not matter":      {"web3 web1 web2 web1", "web[1-3]"},
		"gaps":                                 {"n1 n2 n4 n6 n7", "n[1-2,4,6-7]"},
		"padding tells names apart":            {"node1 node01 node2", "node[1-2,01]"},
		"two digits belong to the padded ones": {"n08 n09 n10 n11", "n[08-11]"},
		"three digits do not":                  {"n98 n99 n100 n01", "n[100,01,98-99]"},
		"domains stay whole":                   {"web01.example.com web02.example.com", "web[01-02].example.com"},
		"families stay apart":                  {"web1 db1 web2 db2 gw", "db[1-2],gw,web[1-2]"},
		"two dimensions":                       {"r1n1 r1n2 r2n1 r2n2", "r[1-2]n[1-2]"},
		"two dimensions with a hole":           {"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
		"addresses":                            {"ip-10-0-0-1 ip-10-0-0-2 ip-10-0-1-1 ip-10-0-1-2", "ip-10-0-[0-1]-[1-2]"},
		"numbers sort by value":                {"n10 x n9", "n[9-10],x"},
		"long digit strings are text":          {"a1234567890123456789 a1234567890123456790", "a1234567890123456789,a1234567890123456790"},
		"only numbers":                         {"1 2 3", "[1-3]"},
	} {
		t.Run(name, func(t *testing.T) {
			names := strings.Fields(tt.names)
			before := slices.Clone(names)
			assert.Equal(t, tt.want, hosts.Fold(names))
			assert.Equal(t, before, names, "the argument was changed")
		})
	}
}

// What Fold writes is what Expand reads, for every set of names that Expand can make; and the text is stable.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{
		"web[01-12/2,20]", "r[1-3]n[1,01,001]", "a1b2c3,a1b2c4", "[0-9]", "n[8-11],n[08-11]", "x[1-", "-x", "all",
		"a[1-2].b[3-4].c[5-6]", "00000000000000000001", "n[999999999999999998-999999999999999999]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := hosts.Expand(list)
		if err != nil {
			return
		}
		if len(names) > hosts.MaxExpand {
			t.Fatalf("%d names", len(names))
		}
		for _, n := range names {
			if err := hosts.CheckName(n); err != nil {
				t.Fatalf("name %q %v", n, err)
			}
		}
		folded := hosts.Fold(names)
		again, err := hosts.Expand(folded)
		if err != nil {
			t.Fatalf("Fold wrote %q: %v", folded, err)
		}
		if want := slices.Sorted(slices.Values(names)); !slices.Equal(want, slices.Sorted(slices.Values(again))) {
			t.Fatalf("Fold wrote %q for %q", folded, want)
		}
		if refolded := hosts.Fold(again); refolded != folded {
			t.Fatalf("Fold is not stable: %q, then %q", folded, refolded)
		}
	})
}

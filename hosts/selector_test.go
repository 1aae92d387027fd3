package hosts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// fleet is an inventory with a bit of everything.
func fleet(t testing.TB) *hosts.Inventory {
	label := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	inv, err := hosts.NewInventory([]hosts.Host{
		{Name: "web01", Groups: []string{"canary", "web"}, Labels: label("role", "web"), Tier: "prod"},
		{Name: "web02", Groups: []string{"web"}, Labels: label("role", "web")},
		{Name: "web03", Groups: []string{"web"}, Labels: label("role", "web", "env", "a b,c"), Tier: "staging"},
		{Name: "db1", Groups: []string{"db"}, Labels: label("role", "db", "note", "")},
		{Name: "db2", Groups: []string{"db"}, Labels: label("role", "db*", "pg/major", "17"), Tier: "dev"},
		{Name: "Gate.example.com"},
	}, []hosts.Group{{Name: "web", Children: []string{"canary"}}, {Name: "canary"}, {Name: "db"}, {Name: "empty"}})
	require.NoError(t, err)
	return inv
}

func names(list []hosts.Host) string {
	var out []string
	for _, h := range list {
		out = append(out, h.Name)
	}
	return strings.Join(out, " ")
}

func TestSelect(t *testing.T) {
	inv := fleet(t)
	for name, tt := range map[string]struct {
		selector, want, canonical string // canonical "" means: as given
	}{
		"a name":                                   {"web01", "web01", ""},
		"all":                                      {"all", "web01 web02 web03 db1 db2 Gate.example.com", ""},
		"a range":                                  {"web[01-02]", "web01 web02", ""},
		"a range is written plainly":               {"web[01-03/1, 02]", "web01 web02 web03", "web[01-03,02]"},
		"file order, not selector order":           {"db1,web01", "web01 db1", ""},
		"a glob":                                   {"web*", "web01 web02 web03", ""},
		"a glob in the middle":                     {"*e*", "web01 web02 web03 Gate.example.com", ""},
		"one character":                            {"db?", "db1 db2", ""},
		"a glob with a range":                      {"web[01-02]*,?ate*", "web01 web02 Gate.example.com", ""},
		"names are case-sensitive":                 {"~gate,db1", "db1", ""},
		"a regular expression":                     {"~^db", "db1 db2", ""},
		"its twin for shells":                      {"re:^db", "db1 db2", "~^db"},
		"it may look anywhere":                     {"~0[12]$", "web01 web02", ""},
		"it ends at a comma":                       {"~01,db1", "web01 db1", ""},
		"it ends at an ampersand":                  {"~0&~1", "web01", ""},
		"it keeps its own alternatives":            {"~^(db|web)\\d{1,2}$", "web01 web02 web03 db1 db2", ""},
		"it keeps its own classes":                 {"~^[^,|&)]b[[:digit:]]$", "db1 db2", ""},
		"it ends at the selector's parenthesis":    {"(~^db)&!db1", "db2", "~^db&!db1"},
		"it may be quoted":                         {`~"^db|01$"`, "web01 db1 db2", ""},
		"quotes it does not need go away":          {`~"^db"`, "db1 db2", "~^db"},
		"a group":                                  {"@db", "db1 db2", ""},
		"a group with its children":                {"@web", "web01 web02 web03", ""},
		"a label":                                  {"role=web", "web01 web02 web03", ""},
		"without a label also counts as not":       {"role!=web", "db1 db2 Gate.example.com", ""},
		"spaces around the sign":                   {"role = web & env != x", "web01 web02 web03", "role=web&env!=x"},
		"a glob over a label":                      {"role=db*", "db1 db2", ""},
		"a quoted value is taken literally":        {`role="db*"`, "db2", ""},
		"a value with anything in it":              {`env="a b,c"`, "web03", ""},
		"an empty value is not an absent one":      {`note=""`, "db1", ""},
		"a key with a slash":                       {"pg/major=17", "db2", ""},
		"no tier counts as prod":                   {"tier=prod", "web01 web02 db1 Gate.example.com", ""},
		"not prod is what says so":                 {"tier!=prod", "web03 db2", ""},
		"another tier":                             {"tier=dev", "db2", ""},
		"union with a bar":                         {"db1|db2", "db1 db2", "db1,db2"},
		"spaces are free":                          {" ( web01 ,\tdb1 ) & ! db1\n", "web01", "(web01,db1)&!db1"},
		"and binds before comma":                   {"db1,web*&tier=prod", "web01 web02 db1", ""},
		"not binds before and":                     {"web*&!web01&tier=prod", "web02", ""},
		"parentheses":                              {"(db1,web*)&tier=prod", "web01 web02 db1", ""},
		"an exclusion counts for the whole union":  {"web01,!@web,db1", "db1", "web01,db1,!@web"},
		"wherever it stands":                       {"!web02,@web", "web01 web03", "@web,!web02"},
		"an exclusion within parentheses stays in": {"(@web,!web01),web01", "web01 web02 web03", ""},
		"an exclusion of a group of things":        {"all,!(@web,@db)", "Gate.example.com", ""},
		"an exclusion of an intersection":          {"@web,!(web*&tier=prod)", "web03", ""},
		"twice not is yes":                         {"!!web01", "web01", "web01"},
		"parentheses that say nothing":             {"((web01),(db1))", "web01 db1", "web01,db1"},
		"not in parentheses":                       {"@web&(!web01)", "web02 web03", "@web&!web01"},
		"nested intersections":                     {"@web&(tier=prod&web02)", "web02", "@web&tier=prod&web02"},
	} {
		t.Run(name, func(t *testing.T) {
			sel, err := hosts.ParseSelector(tt.selector)
			require.NoError(t, err)
			got, err := inv.Select(sel)
			require.NoError(t, err)
			assert.Equal(t, tt.want, names(got))

			canonical := tt.canonical
			if canonical == "" {
				canonical = tt.selector
			}
			assert.Equal(t, canonical, sel.String())
			again, err := hosts.ParseSelector(sel.String())
			require.NoError(t, err)
			assert.Equal(t, sel, again)
		})
	}
}

func TestParseSelectorRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		selector string
		column   int
		want     string
	}{
		"nothing":                         {"", 1, "the selector is empty; to pick every host, write all"},
		"spaces":                          {" \t", 1, "the selector is empty; to pick every host, write all"},
		"only an exclusion":               {"!web01", 1, "only exclusions: say what to pick first, as in all,!x"},
		"only exclusions":                 {"!a,!b", 1, "only exclusions: say what to pick first, as in all,!x"},
		"only exclusions, intersected":    {"web*,!a&!b", 6, "only exclusions: say what to pick first, as in all,!x"},
		"only exclusions in parentheses":  {"web*&(!a,!b)", 7, "only exclusions: say what to pick first, as in all,!x"},
		"a lone one in parentheses":       {"((!a))", 3, "only exclusions: say what to pick first, as in all,!x"},
		"a comma at the end":              {"web01,", 7, "expected a host, a group or a label, but found the end"},
		"a comma at the start":            {",web01", 1, "expected a host, a group or a label, but found ','; write web01"},
		"two operators":                   {"a,&b", 3, "expected a host, a group or a label, but found '&'; write a&b"},
		"two names without an operator":   {"web01 db1", 7, "expected , or & before 'd'; write web01,db1"},
		"a name and a parenthesis":        {"web01(db1)", 6, "expected , or & before '('"},
		"an exclamation mark in a name":   {"ä!b", 2, "expected , or & before '!'; write ä,!b"},
		"an open parenthesis":             {"(a,b", 1, "( without )"},
		"a closed parenthesis":            {"a)", 2, "unexpected ')'"},
		"empty parentheses":               {"()", 2, "expected a host, a group or a label, but found ')'"},
		"an open bracket":                 {"a,web[1-2", 6, "[ without ]"},
		"a bad range":                     {"a,web[2-1]", 6, "bad range [2-1]: 2 is after 1"},
		"a range too large":               {"web[1-99999],db[1-99999]", 14, "more than 100000 names"},
		"an option":                       {"-x", 1, "a name does not begin with -; to exclude x, write !x"},
		"a user":                          {"a,root@b", 3, "user@host names a host outside the inventory: use it alone, and only on the command line"},
		"a strange character":             {"web01;reboot", 6, "unexpected ';' in a name"},
		"an invisible character":          {"web\u200b01", 4, `unexpected '\u200b' in a name`},
		"a group without a name":          {"@", 1, `group name "" is empty`},
		"a group with a glob":             {"a,@w*", 3, `group name "w*" must not contain '*'`},
		"a label without a value":         {"role=", 6, `a value is missing after role; the empty value is ""`},
		"a label without a key":           {"=web", 1, `label "" is empty`},
		"a label with two signs":          {"role==web", 6, "write = once"},
		"a label with a bracket":          {"role=web[1-2]", 9, "expected , or & before '['"},
		"an open quote":                   {`role="web`, 6, `" is not closed`},
		"a name in quotes":                {`"web"`, 1, `expected a host, a group or a label, but found '"'; write web`},
		"an empty regular expression":     {"~", 2, "an empty regular expression would match every host: write all"},
		"an empty one in quotes":          {`~""`, 2, "an empty regular expression would match every host: write all"},
		"a bad regular expression":        {"~a**", 2, "bad regular expression: invalid nested repetition operator: **"},
		"an unbalanced one":               {"~(a,b", 2, ") is missing in the regular expression; put it in quotes if it has none"},
		"an open class":                   {"~[a,b", 2, "[ without ] in the regular expression"},
		"a backslash at its end":          {`re:a\`, 4, `the regular expression ends in a \`},
		"a look-ahead":                    {"~(?=a)", 2, "bad regular expression: invalid or unsupported Perl syntax: (?="},
		"a huge regular expression":       {"~(a{0,1000}){1}" + strings.Repeat("b{0,1000}", 9), 2, "the regular expression is too large"},
		"many large ones":                 {strings.TrimSuffix(strings.Repeat("~a{0,900},", 9), ","), 22, "the globs and regular expressions are too large together"},
		"many globs":                      {"w[1-5000]*", 1, "the range with * or ? is too large"},
		"a file":                          {"web01,^/etc/shadow", 7, "file /etc/shadow: lists of hosts are read by the command line only; name the hosts instead"},
		"a file by its other name":        {"file:/etc/shadow", 1, "file /etc/shadow: lists of hosts are read by the command line only; name the hosts instead"},
		"standard input":                  {"-", 1, "standard input: lists of hosts are read by the command line only; name the hosts instead"},
		"a file without a name":           {"^,a", 2, "the name of a file is missing"},
		"bytes that are no text":          {"web\xff", 1, "the selector is not UTF-8"},
		"parentheses without end":         {strings.Repeat("(", 100_000) + "a", 65, "more than 64 parentheses in each other"},
		"thousands of parts":              {strings.Repeat("@a,", 5000) + "@a", 6145, "the selector has more than 2048 parts"},
		"thousands of parts, intersected": {strings.Repeat("a&b,", 5000) + "a", 8193, "the selector has more than 2048 parts"},
		"a text without end":              {strings.Repeat("a,", 200_000), 1, "the selector has 400000 bytes, more than 262144"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hosts.ParseSelector(tt.selector)
			require.Error(t, err)
			var pe *hosts.ParseError
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, tt.want, pe.Msg)
			assert.Equal(t, tt.column, pe.Column)
		})
	}
}

func TestThousandsOfExclamationMarksAreCounted(t *testing.T) {
	sel, err := hosts.ParseSelector(strings.Repeat("!", 200_000) + "web01")
	require.NoError(t, err)
	assert.Equal(t, "web01", sel.String())
}

func TestSelectNeverTakesATypoForSuccess(t *testing.T) {
	inv := fleet(t)
	for name, tt := range map[string]struct {
		selector, want string
		unknown        bool
	}{
		"an unknown name":                 {"wbe01", "hosts: no host named wbe01 (did you mean web01?)", true},
		"an unknown name among others":    {"@web,dbb1", "hosts: no host named dbb1 (did you mean db1?)", true},
		"an unknown name in an exclusion": {"all,!wbe01", "hosts: no host named wbe01 (did you mean web01?)", true},
		"a range that is too wide":        {"web[01-05]", "hosts: no host named web[04-05] (did you mean web01, web02 or web03?)", true},
		"a range without zeros":           {"web[1-3]", "hosts: no host named web[1-3] (did you mean web[01-03]?)", true},
		"another case":                    {"gate.example.com", "hosts: no host named gate.example.com (did you mean Gate.example.com?)", true},
		"an unknown group":                {"@wbe,db1", "hosts: no group named @wbe (did you mean @web?)", true},
		"both":                            {"xyz1,@nowhere", "hosts: no host named xyz1, and no group named @nowhere", true},
		"an empty group":                  {"@empty", "hosts: selector @empty matches no host", false},
		"an unknown value":                {"role=wbe", "hosts: selector role=wbe matches no host (did you mean role=web?)", false},
		"an unknown key":                  {"rolle=web", "hosts: selector rolle=web matches no host (did you mean role=web?)", false},
		"an unknown tier":                 {"tier=stagin", "hosts: selector tier=stagin matches no host (did you mean tier=staging?)", false},
		"a glob over nothing":             {"mail*", "hosts: selector mail* matches no host", false},
		"parts that exclude each other":   {"web01&db1", "hosts: selector web01&db1 matches no host", false},
		"everything taken out again":      {"@db,!role=db*", "hosts: selector @db,!role=db* matches no host", false},
	} {
		t.Run(name, func(t *testing.T) {
			sel, err := hosts.ParseSelector(tt.selector)
			require.NoError(t, err)
			got, err := inv.Select(sel)
			assert.Nil(t, got)
			require.EqualError(t, err, tt.want)
			assert.ErrorIs(t, err, hosts.ErrNoMatch)
			assert.Equal(t, tt.unknown, errors.Is(err, hosts.ErrNotFound))
		})
	}
}

func TestExceptTakesAwayFromTheWhole(t *testing.T) {
	inv := fleet(t)
	for name, tt := range map[string]struct {
		selector, except, canonical, want string
	}{
		"from a name":         {"@web", "web01", "@web,!web01", "web02 web03"},
		"from a union":        {"web01,db1,!db2", "web01", "web01,db1,!db2,!web01", "db1"},
		"from an intersect":   {"@web&tier=prod", "web01", "@web&tier=prod,!web01", "web02"},
		"a union":             {"all", "@web,@db", "all,!(@web,@db)", "Gate.example.com"},
		"a union with a hole": {"all", "@web,!web01", "all,!(@web,!web01)", "web01 db1 db2 Gate.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			sel, err := hosts.ParseSelector(tt.selector)
			require.NoError(t, err)
			before := sel.String()
			except, err := hosts.ParseSelector(tt.except)
			require.NoError(t, err)

			less := sel.Except(except)
			assert.Equal(t, tt.canonical, less.String())
			assert.Equal(t, before, sel.String(), "the selector itself was changed")
			got, err := inv.Select(less)
			require.NoError(t, err)
			assert.Equal(t, tt.want, names(got))
			again, err := hosts.ParseSelector(less.String())
			require.NoError(t, err)
			assert.Equal(t, less, again)
		})
	}
	sel, err := hosts.ParseSelector("a")
	require.NoError(t, err)
	assert.Equal(t, sel, sel.Except(hosts.Selector{}))
	assert.True(t, hosts.Selector{}.Except(sel).IsZero())
}

func TestZeroSelectorMatchesNothing(t *testing.T) {
	var sel hosts.Selector
	assert.False(t, sel.Match(hosts.Host{}))
	assert.Empty(t, sel.String())
	_, err := fleet(t).Select(sel)
	assert.ErrorIs(t, err, hosts.ErrNoMatch)
}

func TestMatchJudgesAHostThatIsInNoInventory(t *testing.T) {
	sel, err := hosts.ParseSelector("tier=prod&!@web")
	require.NoError(t, err)
	assert.True(t, sel.Match(hosts.Host{Name: "elsewhere"}), "an unknown tier counts as prod")
	assert.False(t, sel.Match(hosts.Host{Name: "elsewhere", Tier: "dev"}))
}

// No expression panics, and what is accepted is written so that it parses back to an equal selector.
func FuzzSelector(f *testing.F) {
	for _, seed := range []string{
		"web01", "all,!x", "~^(a|b){1,2},c", `~"a|\"b"`, `k="v\\ \"w"`, "tier!=prod", "(a,!b)&!(c,d)|e", "!!a", "@g & web[01-12/2]*",
		"re:a\\", "^f", "-", "a=b*,c!=\"d?\"", "((!a))&b", "~[]a]&b", "~[[:alpha:]]", "r[1-2]n[1-2]", "all", "~\\Qa\\\"\\E", "~a\\,b", `k="="`,
	} {
		f.Add(seed)
	}
	inv := fleet(f)
	f.Fuzz(func(t *testing.T, text string) {
		sel, err := hosts.ParseSelector(text)
		if err != nil {
			var pe *hosts.ParseError
			if !errors.As(err, &pe) || pe.Column < 1 {
				t.Fatalf("error without a column: %v", err)
			}
			return
		}
		canonical := sel.String()
		again, err := hosts.ParseSelector(canonical)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, canonical, err)
		}
		if got := again.String(); got != canonical {
			t.Fatalf("%q became %q, then %q", text, canonical, got)
		}
		for h := range inv.All() {
			if sel.Match(h) != again.Match(h) {
				t.Fatalf("%q became %q, which disagrees about %s", text, canonical, h.Name)
			}
		}
	})
}

package rules_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestTimeoutsAndOutputAreClampedAtTheirMaximum(t *testing.T) {
	for _, most := range []int64{0, 1, 100} {
		l := rules.Limits{MaxTimeout: time.Duration(most), MaxOutput: most}
		for _, asked := range []int64{-1, 0, 1, 2, 99, 100, 101} {
			want := asked
			if most != 0 && (asked < 1 || asked > most) {
				want = most
			}
			assert.Equal(t, want, l.Output(asked), "%d of %d", asked, most)
			assert.Equal(t, time.Duration(want), l.Timeout(time.Duration(asked)), "%d of %d", asked, most)
		}
	}
}

// Of two files nothing is looser than in either of them, and nothing is stricter than in both.
func TestTheStricterLimitCountsOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	lists := [][]string{nil, {}, {"a"}, {"b"}, {"a", "b"}, {"b", "c"}}
	units := []time.Duration{time.Second, time.Minute, time.Hour}
	some := func() rules.Limits {
		l := rules.Limits{
			Tools: lists[rng.IntN(6)], Programs: lists[rng.IntN(6)], NoShell: rng.IntN(2) == 0, Strict: rng.IntN(2) == 0, CleanEnv: rng.IntN(2) == 0,
			MaxOutput: rng.Int64N(3), MaxTimeout: time.Duration(rng.IntN(3)), MaxHosts: rng.IntN(3), Daily: rng.IntN(3),
		}
		if l.Rate = rng.IntN(3) * []int{1, 60, 3600}[rng.IntN(3)]; l.Rate > 0 {
			l.RatePer = units[rng.IntN(3)]
		}
		return l
	}
	least := func(a, b int64) int64 { // 0 is no limit
		switch all := []int64{a, b}; {
		case a == 0 || b == 0:
			return slices.Max(all)
		default:
			return slices.Min(all)
		}
	}
	hourly := func(l rules.Limits) int64 {
		if l.Rate == 0 {
			return 0
		}
		return int64(l.Rate) * int64(time.Hour/l.RatePer)
	}
	for range 1500 {
		a, b := some(), some()
		got := rules.Tighter(a, b)
		what := fmt.Sprintf("%+v and %+v are %+v", a, b, got)
		assert.Equal(t, a.NoShell || b.NoShell, got.NoShell, what)
		assert.Equal(t, a.Strict || b.Strict, got.Strict, what)
		assert.Equal(t, a.CleanEnv || b.CleanEnv, got.CleanEnv, what)
		assert.Equal(t, least(a.MaxOutput, b.MaxOutput), got.MaxOutput, what)
		assert.Equal(t, least(int64(a.MaxTimeout), int64(b.MaxTimeout)), int64(got.MaxTimeout), what)
		assert.Equal(t, least(int64(a.MaxHosts), int64(b.MaxHosts)), int64(got.MaxHosts), what)
		assert.Equal(t, least(int64(a.Daily), int64(b.Daily)), int64(got.Daily), what)
		assert.Equal(t, least(hourly(a), hourly(b)), hourly(got), what)
		switch {
		case a.Rate > 0 && b.Rate > 0 && hourly(a) == hourly(b):
			assert.Equal(t, min(a.Rate, b.Rate), got.Rate, what)
		case hourly(a) == hourly(got) && a.Rate > 0:
			assert.Equal(t, []any{a.Rate, a.RatePer}, []any{got.Rate, got.RatePer}, what)
		default:
			assert.Equal(t, []any{b.Rate, b.RatePer}, []any{got.Rate, got.RatePer}, what)
		}
		for _, name := range []string{"a", "b", "c"} {
			of := func(l rules.Limits) bool { return l.Tool(name) == nil }
			assert.Equal(t, of(a) && of(b), of(got), what)
			of = func(l rules.Limits) bool { return rules.Structured(name, nil, l) == nil }
			assert.Equal(t, of(a) && of(b), of(got), what)
		}
		if t.Failed() {
			return
		}
	}
}

func TestAPathMeetsAPattern(t *testing.T) {
	at := func(text string) judge.Path { return judge.Path{Text: text, Literal: true} }
	in := func(dir, text string) judge.Path { return judge.Path{Text: text, Dir: dir, Literal: true} }
	clean, stars, others := "must be clean: without empty names, and without . and .. as names", "may hold ** only as a name of its own, and the last one", "knows * and ? and no other patterns"
	for _, tt := range []struct {
		pattern string
		path    judge.Path
		want    string
	}{
		{"/srv/x", at("/srv/x"), "yes"},
		{"/srv/x", at("/srv/./y/../x/"), "yes"},
		{"/srv/x", at("/srv/x/y"), "no"},
		{"/srv/x", at("/srv"), "maybe"},
		{"/srv/x", at("/srv/y"), "no"},
		{"/srv/x", at("/"), "maybe"},
		{"/srv/x", at("/etc"), "no"},
		{"/srv/**", at("/srv/x/y"), "yes"},
		{"/srv/**", at("/srv/x"), "yes"},
		{"/srv/**", at("/srv"), "maybe"},
		{"/srv/**", at("/srvx/y"), "no"},
		{"/**", at("/x"), "yes"},
		{"/**", at("/"), "maybe"},
		{"/srv/*/x", at("/srv/a/x"), "yes"},
		{"/srv/*/x", at("/srv/a/b/x"), "no"},
		{"/srv/a?", at("/srv/ab"), "yes"},
		{"/srv/a?", at("/srv/a"), "no"},
		{"/srv/x", in("/srv", "x"), "yes"},
		{"/srv/x", in("/srv/y", "../x"), "yes"},
		{"/srv/x", in("/etc", "x"), "no"},
		{"/srv/x", in("", "x"), "maybe"},
		{"/srv/x", in("srv", "x"), "maybe"},
		{"/srv/x", in("/etc", ""), "maybe"},
		{"/srv/x", in("/etc", "~/x"), "maybe"},
		{"/srv/x", judge.Path{Text: "/etc/x", Dir: "/etc"}, "maybe"},
		{"/srv/x", judge.Path{Text: "/srv/x", Literal: true, Remote: true}, "maybe"},
		{"/srv/x", judge.Path{Text: "/etc/x", Literal: true, Remote: true}, "no"},
		{"srv", at("/srv"), "must be absolute: begin it with /"},
		{"", at("/srv"), "must be absolute: begin it with /"},
		{"/", at("/"), clean}, {"/srv/", at("/"), clean}, {"//srv", at("/"), clean}, {"/srv/./x", at("/"), clean}, {"/.", at("/"), clean}, {"/..", at("/"), clean}, {"/srv/../x", at("/"), clean}, {"/srv//**", at("/"), clean},
		{"/**/x", at("/"), stars}, {"/srv/a**", at("/"), stars}, {"/srv/**a/**", at("/"), stars},
		{"/srv/[a]", at("/"), others}, {"/srv/]", at("/"), others}, {"/srv/{a}", at("/"), others}, {"/srv/}", at("/"), others}, {`/srv/\a`, at("/"), others},
	} {
		assert.Equal(t, tt.want, rules.PathMatch(tt.pattern, tt.path), "%s and %+v", tt.pattern, tt.path)
	}
	for pattern, want := range map[string]string{
		"/srv/app/x": "/srv/app", "/srv/app/**": "/srv/app", "/srv/*/x": "/srv", "/srv/a?/b/c": "/srv", "/x": "/", "/**": "/", "/srv/a/b*": "/srv/a", "/a/b/c/d": "/a/b/c",
	} {
		assert.Equal(t, want, rules.PathBase(pattern), pattern)
	}
}

// Whatever the texts are: of letters, digits and a few signs, up to a length.
func TestNamesAreOfFewCharacters(t *testing.T) {
	program := regexp.MustCompile(`^(\[|[A-Za-z0-9_][-A-Za-z0-9_.+]{0,254})$`)
	recorded := regexp.MustCompile(`^[-A-Za-z0-9_.]{1,100}$`)
	tier := regexp.MustCompile(`^[a-z][-a-z0-9_]{0,99}$`) // as in the inventory
	var names []string
	for b := range 128 {
		c := string(rune(b))
		names = append(names, c, "x"+c, c+"x")
	}
	names = append(names, "", "ö", "xö", "*", "[[")
	for _, n := range []int{99, 100, 101, 254, 255, 256} {
		names = append(names, strings.Repeat("x", n))
	}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	for _, name := range names {
		assert.Equal(t, program.MatchString(name), rules.Structured(name, nil, rules.Limits{}) == nil, "program %q", name)
		_, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: "+quote(name)+", hosts: all, principals: ['*'], classes: [write], verdict: ask}\n"), "p")
		assert.Equal(t, recorded.MatchString(name), err == nil, "rule %q: %v", name, err)
		_, err = rules.Parse([]byte("version: 1\napprovals: {proof: {"+quote(name)+": touch}}\n"), "p")
		assert.Equal(t, tier.MatchString(name) || name == "*", err == nil, "tier %q: %v", name, err)
	}
}

func TestTheStricterOfTwoCells(t *testing.T) {
	type cell struct {
		v policy.Verdict
		n policy.Needs
	}
	order := []cell{ // from the strictest
		{policy.Deny, ""}, {policy.Ask, policy.NeedsBreakGlass}, {policy.Ask, policy.NeedsApproval}, {policy.Ask, policy.NeedsConfirmation}, {policy.Allow, ""},
	}
	for i, a := range order {
		for j, b := range order {
			v, n := rules.Stricter(a.v, b.v, a.n, b.n)
			assert.Equal(t, order[min(i, j)], cell{v, n}, "%v and %v", a, b)
		}
	}
	v, n := rules.Stricter(policy.Allow, policy.Allow, policy.NeedsConfirmation, policy.NeedsBreakGlass)
	assert.Equal(t, cell{policy.Allow, policy.NeedsConfirmation}, cell{v, n}, "only an ask has needs")
}

func TestWhatWouldMakeItPass(t *testing.T) {
	for name, tt := range map[string]struct {
		program   policy.Verdict
		principal string
		tier      string
		command   string
		want      string
	}{
		"an agent's privilege":     {0, "agent/a", "dev", "sudo ls", "an operator can run it"},
		"what agents never do":     {0, "agent/a", "dev", "rm -rf /", "an operator can run it; agents never"},
		"what an agent asks for":   {0, "agent/a", "dev", "touch x", "an operator can approve it, or a rule can allow it"},
		"an agent's read":          {0, "agent/a", "dev", "ls", ""},
		"an operator's danger":     {0, "operator/a", "prod", "systemctl stop x", "answer with --yes"},
		"an operator's last word":  {0, "operator/a", "dev", "rm -rf /", "type the name of the host and a reason at the terminal; --yes does not answer"},
		"an operator's write":      {0, "operator/a", "prod", "touch x", ""},
		"a program without a rule": {0, "program/a", "dev", "ls", "a rule can allow it"},
		"a program that asks":      {policy.Ask, "program/a", "dev", "ls", "a rule can allow it"},
		"a program that may":       {policy.Allow, "program/a", "dev", "ls", ""},
	} {
		e := rules.New(rules.Config{Program: tt.program})
		d := decide(t, e, policy.Request{Principal: tt.principal, Host: hosts.Host{Name: "h", Tier: tt.tier}, Command: tt.command})
		assert.Equal(t, tt.want, d.Hint, name)
		assert.Equal(t, "builtin", d.Policy, name)
	}
}

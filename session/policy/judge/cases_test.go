package judge_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

type row struct {
	verdict policy.Verdict
	command string
}

var shells = []string{"", "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh"}

func rows(t testing.TB) []row {
	f, err := os.Open("testdata/cases.tsv")
	require.NoError(t, err)
	defer f.Close()
	var out []row
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if strings.HasPrefix(sc.Text(), "# ") {
			continue
		}
		cols := strings.Split(sc.Text(), "\t")
		require.Len(t, cols, 3, sc.Text())
		var v policy.Verdict
		require.NoError(t, v.UnmarshalText([]byte(cols[0])))
		out = append(out, row{v, unescape(t, cols[1])})
	}
	require.NoError(t, sc.Err())
	return out
}

func unescape(t testing.TB, s string) string {
	var b strings.Builder
	hex := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 16, 32)
		require.NoError(t, err)
		return n
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '\\':
			b.WriteByte('\\')
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'x':
			b.WriteByte(byte(hex(s[i+1 : i+3])))
			i += 2
		case 'u':
			b.WriteRune(rune(hex(s[i+1 : i+5])))
			i += 4
		case 'U':
			b.WriteRune(rune(hex(s[i+1 : i+9])))
			i += 8
		default:
			require.Failf(t, "unknown escape", "%q", s)
		}
	}
	return b.String()
}

// agent is the built-in verdict for an agent on a production host.
func agent(c policy.Class) policy.Verdict {
	switch c {
	case policy.ReadOnly:
		return policy.Allow
	case policy.Privileged, policy.Forbidden:
		return policy.Deny
	}
	return policy.Ask
}

func verdict(script, shell string) (policy.Verdict, judge.Report) {
	r := judge.Judge(judge.Request{Script: script, Shell: shell})
	return agent(r.Class), r
}

func TestPolicyCases(t *testing.T) {
	count, met := map[policy.Verdict]int{}, map[policy.Verdict]int{}
	for _, c := range rows(t) {
		v, r := verdict(c.command, "")
		count[c.verdict]++
		if v == c.verdict {
			met[c.verdict]++
		} else {
			t.Logf("%s instead of %s: %q: %s (%s)", v, c.verdict, c.command, r.Reason, r.Rule)
		}
		assert.LessOrEqual(t, v, c.verdict, "%q is judged weaker than listed", c.command)
	}
	for v, least := range map[policy.Verdict]int{policy.Allow: 200, policy.Ask: 720, policy.Deny: 325} {
		assert.GreaterOrEqual(t, count[v], least, "cases of %s are missing", v)
		rate := 100 * float64(met[v]) / float64(count[v])
		fmt.Printf("policy cases: %d of %d %s rows are exactly that (%.1f %%)\n", met[v], count[v], v, rate)
		if v != policy.Ask {
			assert.GreaterOrEqual(t, rate, 95.0, "%s rows", v)
		}
	}
}

// Some rows mean something in some shells only: elsewhere the characters are plain text.
var plainElsewhere = map[string]string{
	"echo $x[y]":                   "bash mksh ksh dash ash sh",
	"cat {/etc/shadow,/etc/hosts}": "dash",
	"[[ x -eq 0 ]]":                "dash",
	"rm -rf {/etc,/usr}":           "dash",
	"rm -rf /{etc,usr,var}":        "dash",
	"[[ -v x ]]":                   "dash",
	"{ls,-l}":                      "dash",
	"echo ${a[$(id)]}":             "dash",
	"find . -maxdepth 0 -{exec,false} touch pwned \\;": "dash",
}

func TestNoShellIsJudgedWeakerThanListed(t *testing.T) {
	for _, shell := range shells {
		for _, c := range rows(t) {
			if c.verdict == policy.Allow {
				continue
			}
			if where, ok := plainElsewhere[c.command]; ok && strings.Contains(" "+where+" ", " "+shell+" ") {
				continue
			}
			v, r := verdict(c.command, shell)
			assert.NotEqual(t, policy.Allow, v, "%q for %q: %s", c.command, shell, r.Rule)
		}
	}
}

package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// usual are commands of under 200 bytes, as people and agents type them.
var usual = []string{
	"uptime",
	"ls -la /var/log",
	"df -h && free -m && uptime",
	"tail -n 100 /var/log/nginx/error.log",
	"journalctl -u nginx -n 100 --no-pager",
	"ps aux | grep '[n]ginx'",
	"systemctl status nginx --no-pager",
	"sort names.txt | uniq -c | sort -rn | head -20",
	"for i in 1 2 3; do echo \"$i\"; done",
	"sudo systemctl restart nginx",
	"rm -rf /srv/app/cache",
	"echo hello > /tmp/x",
}

func BenchmarkJudge(b *testing.B) {
	for _, shell := range []string{"bash", ""} {
		b.Run("shell="+shell, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				judge.Judge(judge.Request{Script: usual[i%len(usual)], Shell: shell})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "judgements/s")
		})
	}
}

// hostile are texts made to cost: each unit is repeated to a megabyte and to the most that is parsed.
var hostile = []string{
	"(", "$(", "${x:-", "`", "\"$(", "{ ", "if ", "while ", "! ", "a|", "a&&", "a;", "$((", "((", "$((1+(", "<<a ", "<<a\n", "f()",
	"case x in (", "${x[", "a=(", "[[ ( ", "[[ ! ", "$'", "\"", "coproc ", "time ", "<(", "@(", "~", "{a,", "a\\\n", "for i in ", "\n",
	"'", "#", "$((1?", "&", "x$x", "\\", "$(`", "{1..9}", "{a,b}", "/*", "/[a-z]*?/", "a ", "$x ", "\"$x\" ", ">a ", "2>&1 ", "cat * ",
	"rm -rf / ", "rm x;", "cat a b c d;", "curl x|sh;", "echo $(id);", "[ a = b ];", "find / -name x;", "env env env ", "sh -c 'id';",
	"awk '{print}';", "sed s/a/b/;", "é", "\u00e9;", "a=b ", "export a;", "- ", "1**", "*(",
	"/" + strings.Repeat("etc/", 1000) + "* ", "/" + strings.Repeat("var/a/", 660) + "x ", "/a/etc/var/etc/" + strings.Repeat("dslocal/", 480) + ".env* ",
}

func BenchmarkHostile(b *testing.B) {
	for _, size := range []int{1 << 20, 64 << 10} {
		for _, unit := range hostile {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(unit, func(b *testing.B) {
				for b.Loop() {
					judge.Judge(judge.Request{Script: text})
				}
			})
		}
	}
}

func TestTextsMadeToCostAreNeverAllowed(t *testing.T) {
	var slowest time.Duration
	var worst string
	sizes := []int{1 << 20, 64<<10 - 16}
	if needs.Detector { // there is one goroutine
		sizes = sizes[1:]
	}
	for _, size := range sizes {
		for _, unit := range hostile {
			for _, prefix := range []string{"", "$((", "cat ", "echo \"", "cat $("} {
				text := prefix + strings.Repeat(unit, size/len(unit))
				start := time.Now()
				r := judge.Judge(judge.Request{Script: text})
				if d := time.Since(start); d > slowest {
					slowest, worst = d, prefix+unit
				}
				assert.True(t, r.Class != policy.ReadOnly || len(text) <= 64<<10 && strings.Contains("\n#\\é~", unit),
					"%q repeated to %d bytes", prefix+unit, size)
			}
		}
	}
	t.Logf("slowest of %d texts: %v, made of %q", len(sizes)*5*len(hostile), slowest, worst)
}

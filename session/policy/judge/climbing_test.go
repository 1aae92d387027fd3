package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What ".." leads to behind a name is the parent of what that name is a link to.
func TestUpFromALinkIsNoText(t *testing.T) {
	for _, tc := range []struct {
		src, dir string
		want     policy.Class
	}{
		{"cat /var/run/../etc/shadow", "", policy.SensitiveRead},
		{"cat /var/run/../etc/passwd", "", policy.Unknown},
		{"cat < /var/run/../etc/shadow", "", policy.SensitiveRead},
		{"wc -c < /srv/a/../b", "", policy.Unknown},
		{"cd /var/run && cat ../etc/shadow", "", policy.SensitiveRead},
		{"cat ../etc/shadow", "/var/run", policy.SensitiveRead},
		{"cat ../shadow", "/var/run", policy.SensitiveRead},
		{"cd /var/run && cd ../etc && cat shadow", "", policy.SensitiveRead},
		{"cd /var/run/../etc && cat shadow", "", policy.SensitiveRead},
		{"cd -P /var/run; cd ..; cat etc/shadow", "", policy.SensitiveRead},
		{"cat /proc/net/../root/etc/shadow", "", policy.SensitiveRead},
		{"cat /proc/net/../environ", "", policy.SensitiveRead},
		{"cat /proc/net/../../../etc/shadow", "", policy.SensitiveRead},
		{"cat ~/../x", "", policy.Unknown},
		{"cat a/../b", "/srv", policy.Unknown},
		{"cat ./a/./../b", "/srv", policy.Unknown},
		{"cat a//../b", "/srv", policy.Unknown},
		{"cat a/b/../../c", "", policy.Unknown},
		{"cat ../a/../b", "", policy.Unknown},
		{"cat \"/var/run/..\"/etc/sha''dow", "", policy.SensitiveRead},
		{"grep x --file=/var/run/../etc/shadow f", "", policy.SensitiveRead},
		{"grep -f/var/run/../etc/x f", "", policy.Unknown},
		{"grep -r x /var/run/../etc", "", policy.Unknown},
		{"find /var/run/../x -exec cat {} +", "", policy.Unknown},
		{"find /var/run/../root/.ssh -type f -exec cat {} +", "", policy.SensitiveRead},
		{"head -n1 /var/run/../etc/shadow f", "", policy.SensitiveRead},
		{"cat /var/run/../etc/shad*", "", policy.SensitiveRead},
		{"for f in /var/run/../etc/shadow; do cat $f; done", "", policy.SensitiveRead},
		{"echo x >/var/run/../etc/passwd", "", policy.Forbidden},
		{"cp a /var/run/../etc/cron.d/x", "", policy.Forbidden},
		{"rm -rf /var/run/../etc", "", policy.Forbidden},
	} {
		for _, shell := range shells {
			rep := judge.Judge(judge.Request{Script: tc.src, Shell: shell, Dir: tc.dir})
			assert.NotEqual(t, policy.ReadOnly, rep.Class, "%q on %q", tc.src, shell)
			assert.Contains(t, rep.Classes, tc.want, "%q on %q is %s (%s)", tc.src, shell, rep.Class, rep.Reason)
		}
	}
}

func TestPathsWithoutALinkOnTheWayStayReads(t *testing.T) {
	for _, src := range []string{
		"cat ../x", "cat ../../a/b.txt", "ls ../..", "ls -l a/../b", "stat /var/run/../x", "cd .. && ls", "cd ../.. && cat f", "cat ./x", "cat a..b/c", "cat a/..b", "cat a/b..", "cat ...",
		"find .. -name x", "grep -rn x ../src", "git log ..origin/main", "echo a/../b", "grep 'a/../b' f",
	} {
		rep := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv/app/x"})
		assert.Equal(t, policy.ReadOnly, rep.Class, "%q: %s", src, rep.Reason)
	}
}

// Reading a device may never end, take somebody's input, or start something.
func TestInputFromADeviceNeedsApproval(t *testing.T) {
	for _, src := range []string{
		"wc -c < /dev/zero", "cat </dev/tty", "head -c 3 < /dev/../dev/urandom", "cat < /dev/watchdog", "read x < /dev/tty", "wc -l 0</dev/random", "cat </dev/pts/3", "cat < //dev/zero", "cat < /dev/./zero",
		"cd /dev && cat < zero", "cat <dev/zero", "cat < /dev/fd/3",
	} {
		for _, shell := range shells {
			dir := ""
			if src == "cat <dev/zero" {
				dir = "/"
			}
			rep := judge.Judge(judge.Request{Script: src, Shell: shell, Dir: dir})
			assert.NotEqual(t, policy.ReadOnly, rep.Class, "%q on %q", src, shell)
		}
	}
	for _, src := range []string{"cat < /dev/null", "cat </dev/stdin", "ls < /dev/fd/0", "wc -l < f", "diff - f < g"} {
		rep := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv"})
		assert.Equal(t, policy.ReadOnly, rep.Class, "%q: %s", src, rep.Reason)
	}
}

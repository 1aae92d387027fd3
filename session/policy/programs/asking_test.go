package programs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// What only looks in one form, beside the forms of the same program that do more.
func TestFormsThatLookOfProgramsThatDoMore(t *testing.T) {
	table(t, `
		read-only | lvs --readonly --nohints
		read-only | lvs --nohints --readonly -a -o +devices vg0
		read-only | vgs --readonly --nohints -o vg_name,vg_free --noheadings --units g
		read-only | pvs --readonly --nohints --segments -o pv_name,pv_pe_alloc_count
		write | lvs
		write | lvs --readonly
		write | lvs --nohints
		write | pvs -a -o +devices
		unknown | lvs --readonly --nohints --config 'log/file="/etc/cron.d/x"'
		unknown | lvs --readonly --nohints --profile x
		unknown | lvs --readonly --nohints --devicesfile x
		unknown | lvs --readonly --nohints --journal debug
		unknown | lvs --readonly --nohints -d
		unknown | lvs --readonly --nohints -o +seg_monitor
		unknown | lvs --readonly --nohints -o name,all
		unknown | lvs --readonly --nohints -o +seg_all
		unknown | lvs --readonly --nohints -S seg_monitor=monitored
		unknown | lvs --readonly --nohints -o +devices $X
		unknown | vgs --readonly --nohints --segments
		write | lvdisplay
		read-only | capsh --print
		read-only | capsh --decode=00000000a80425fb
		read-only | capsh --modes
		privileged | capsh --print -- -c 'touch pwned'
		privileged | capsh --print ==
		privileged | capsh --print --shell=./evil
		privileged | capsh --user=root --print
		privileged | capsh -- -c id
		privileged | capsh --decode=$X
		privileged | capsh
		read-only | ldd --version
		unknown | ldd --version ./evil
		unknown | ldd ./evil
		read-only | apparmor_status
		unknown | apparmor_status --remove
		read-only | php8.2 -v
		read-only | php7.4 -m
		unknown | php8.2 -r 'system("touch pwned");'
		unknown | php8.2 -i
		unknown | php8.2 -v -d auto_prepend_file=evil
		write | php-fpm8.2 -t
		write | php-fpm -D
		write | service nginx status
	`)
}

func TestZgrepReadsUnlessNamesOfFilesMayBeScripts(t *testing.T) {
	table(t, `
		read-only | zgrep -i oom /var/log/syslog.2.gz
		read-only | zgrep -E 'a|b' /var/log/a.gz /var/log/b.gz
		read-only | zgrep -inA5 x f.gz
		read-only | zgrep -A 5 -e x -e y f.gz
		read-only | zgrep -h 'session opened' /var/log/auth.log*.gz
		read-only | zgrep -lF x /var/log/*.gz
		read-only | zgrep --color=never -m 5 x f.gz
		read-only | zegrep -c 'a|b' f.gz
		unknown | zgrep x /var/log/syslog*.gz
		unknown | zgrep -H x /var/log/syslog*.gz
		unknown | zgrep x $F
		unknown | zgrep -h x $F
		unknown | zgrep -h x *.gz
		unknown | zgrep -f pats f.gz
		unknown | zgrep -if pats f.gz
		unknown | zgrep --file=pats f.gz
		unknown | zgrep --fil pats f.gz
		sensitive-read | zgrep --max-count x /etc/shadow
		unknown | zgrep --max x f.gz
		unknown | zgrep -r x /etc
		unknown | zgrep -R x /etc
		unknown | zgrep --regexp x f.gz
		unknown | xzgrep x f.xz
	`)
	for _, name := range []string{"a\nw pwned\n", "\n"} {
		f := programs.Judge(programs.Call{Name: "zgrep", Args: literals("x", name, "b")})
		assert.Equal(t, policy.Unknown, f.Class, "%q", name)
	}
}

// A reason that names a way out is tried: the word behind -- is no option.
func TestAWordThatCouldBeAnOptionIsToldToGoBehindDashes(t *testing.T) {
	const way = ": write it last, behind --"
	x := programs.Arg{Source: `"$x"`}
	for _, words := range []string{"docker logs", "systemctl is-active", "kubectl logs", "systemctl status", "journalctl -u nginx", "docker top"} {
		name, rest, _ := strings.Cut(words, " ")
		args := literals(strings.Fields(rest)...)
		f := programs.Judge(programs.Call{Name: name, Args: append(slices.Clip(args), x)})
		behind := programs.Judge(programs.Call{Name: name, Args: append(slices.Clip(args), literals("--")[0], x)})
		assert.Equal(t, policy.Unknown, f.Class, words)
		assert.Equal(t, policy.ReadOnly, behind.Class, "%s: %s", words, behind.Reason)
		assert.True(t, strings.HasSuffix(f.Reason, way), "%s: %s", words, f.Reason)
	}
	for _, words := range []string{"sort", "touch", "find", "git log", "ps", "awk", "curl"} {
		name, rest, _ := strings.Cut(words, " ")
		f := programs.Judge(programs.Call{Name: name, Args: append(literals(strings.Fields(rest)...), x)})
		assert.NotContains(t, f.Reason, way, words)
	}
}

// A variable that a program reads is not one that means nothing.
func TestVariablesThatMeanNothingAreReadByNoProgram(t *testing.T) {
	var plain, env []string
	files, err := filepath.Glob("tables/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		kind := ""
		for line := range strings.Lines(string(raw)) {
			words := strings.Fields(line)
			switch {
			case len(words) == 0 || words[0][0] == '#':
			case line[0] != '\t':
				kind = strings.Join(words, " ")
			case kind == "are plainvariable":
				plain = append(plain, words...)
			case words[0] == "env":
				env = append(env, words[1:]...)
			}
		}
	}
	require.Greater(t, len(plain), 300)
	require.Greater(t, len(env), 100)
	for _, e := range env {
		for _, p := range plain {
			before, many := strings.CutSuffix(e, "*")
			assert.False(t, p == e || many && strings.HasPrefix(p, before), "%s means nothing, and %s is read", p, e)
		}
	}
}

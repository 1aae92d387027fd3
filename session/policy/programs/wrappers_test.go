package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestAWrapperIsWhatItRuns(t *testing.T) {
	table(t, `
		read-only | nice -n 10 du -sh /srv
		read-only | nice -10 ls
		unknown | nice -3n --help
		read-only | timeout 5 ls /mnt
		read-only | timeout -k 1 -s KILL 5 ls /mnt
		read-only | ionice -c 3 du -sh /
		read-only | stdbuf -oL grep x f
		read-only | env TZ=UTC date
		unknown | env -i ls
		read-only | busybox ls -l
		read-only | taskset -c 0,1 ls
		write | nice touch pwned
		write | timeout 5 touch pwned
		unknown | timeout --frobnicate 5 ls
		unknown | timeout $T ls
		write | env touch pwned
		write | env -C . touch pwned
		unknown | env -S 'touch pwned'
		unknown | env --split-string='touch pwned'
		forbidden | env -S 'rm -rf /'
		unknown | env LD_PRELOAD=./evil.so ls
		unknown | env PATH=/tmp/evil ls
		sensitive-read | env
		sensitive-read | env -0
		sensitive-read | printenv AWS_SECRET_ACCESS_KEY
		write | nohup ls
		unknown | script -qc 'touch pwned'
		unknown | script -qc 'touch pwned' /dev/null
		unknown | unshare touch pwned
		forbidden | unshare rm -rf /
		unknown | watch -n1 -x touch pwned
		forbidden | watch 'rm -rf /'
		unknown | parallel touch ::: pwned
		unknown | gdb -nx -batch -ex 'shell touch pwned'
		unknown | flock /tmp/l ls
		forbidden | flock /tmp/l -c 'rm -rf /'
		forbidden | env rm -rf /
		forbidden | busybox rm -rf /
		unknown | chroot /mnt ls
		unknown | strace ls
	`)
}

func TestXargsAddsWhatItReads(t *testing.T) {
	table(t, `
		read-only | xargs -0 wc -l
		read-only | xargs
		read-only | xargs -n 1 -P4 ls -l
		read-only | xargs -I{} ls {}/x
		unknown | xargs -I{} sh -c 'ls {}'
		unknown | xargs -I{} {} x
		unknown | xargs touch pwned
		unknown | xargs -n 1 -- touch pwned
		unknown | xargs sort
		dangerous | xargs rm -rf
		unknown | xargs sh -c
		unknown | xargs -p ls
	`)
}

func TestTakingAnothersRightsIsPrivilegedAndWhatItRunsIsSeen(t *testing.T) {
	table(t, `
		privileged | sudo id
		privileged | sudo -u postgres psql -l
		privileged | sudo FOO=1 id
		forbidden | sudo rm -rf /
		forbidden | sudo -n -- rm -rf /
		forbidden | sudo FOO=1 rm -rf /
		privileged | su -c 'id' root
		forbidden | su - root -c 'rm -rf /'
		privileged | doas ls
		privileged | pkexec ls
		privileged | gosu root id
		forbidden | gosu root rm -rf /
		privileged | runuser -u bob -- ls
		privileged | sudo -i
		privileged | run0 ls
	`)
}

func TestBusyboxAppletsAreCommands(t *testing.T) {
	got := programs.Judge(programs.Call{Name: "busybox", Args: []programs.Arg{{Text: "rm", Literal: true}, {Text: "x", Literal: true}}})
	require.Len(t, got.Nested, 1)
	assert.Equal(t, "rm", got.Nested[0].Argv[0].Text)
}

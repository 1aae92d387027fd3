package framing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// What bash puts aside for the redirections of the driver is not where commands open files: it takes descriptors of two digits.
func TestACommandOpensTheDescriptorsThatItNames(t *testing.T) {
	s := start(t, framing.Shell{Name: "bash"})
	defer s.close()
	dir := t.TempDir()
	for _, n := range []int{3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 50, 99, 200, 240} {
		o := s.run(fmt.Sprintf("exec %d>%s/f; echo x >&%[1]d; (exit 3); echo $?; cat %[2]s/f; echo e >&2", n, dir))
		require.Nil(t, o.exit, n)
		assert.Equal(t, "3\nx\n", o.stdout, n)
		assert.Equal(t, "e\n", o.stderr, n)
	}
	many := "exec"
	for n := 10; n < 24; n++ {
		many += fmt.Sprintf(" %d>%s/f%[1]d", n, dir)
	}
	o := s.run(many + "; echo x >&12; cat " + dir + "/f12; ls -l /proc/self/fd")
	assert.True(t, strings.HasPrefix(o.stdout, "x\n"), o.stdout)
	assert.NotContains(t, o.stdout, "/dev/pts/", "a command has no descriptor of the terminal")
	assert.Equal(t, "again\n", s.run("echo again").stdout)
}

// A limit that leaves a shell no descriptor to go on with ends it at once, as its command ended: busybox alone would run for ever.
func TestAShellWithoutDescriptorsEndsAtOnce(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for limit := range 24 {
			if !tries(limit, sh) {
				continue
			}
			s := start(t, sh)
			o := s.run(fmt.Sprintf("cd /usr; ulimit -n %d; echo out", limit))
			assert.Equal(t, "out\n", o.stdout, limit)
			if sh.Name == "ash" && limit == 9 {
				require.NotNil(t, o.exit)
				assert.Equal(t, framing.Exit{Dir: "/usr"}, *o.exit)
				assert.Contains(t, o.stderr, "ulimit -n")
			}
			s.close()
		}
	})
}

package framing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/framing"
)

// A command may leave the terminal in a mode that changes what is typed: a letter that is a signal, or that takes back others, bytes of
// seven bits, which make a quote of one half of a letter. The next command is to the letter what was sent all the same.
func TestModesOfTheTerminalChangeNoCommand(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, modes := range []string{"susp o", "susp /", "intr a", "quit o", "istrip", "inlcr", "igncr", "icanon erase o", "opost onlcr", "sane"} {
			s.ok("stty " + modes + " </dev/tty")
			o := s.run("echo 'aħ;echo /no;ħ'\nprintf 'b\\n\\rc'")
			assert.Equal(t, "aħ;echo /no;ħ\nb\n\rc", o.stdout, modes)
			assert.Empty(t, o.stderr, modes)
		}
		s.ok("stty rows 7 cols 9 </dev/tty")
		assert.Equal(t, "7 9\n", s.run("stty size </dev/tty").stdout)
	})
}

// Of a directory that was deleted pwd says where the shell stood: the end of such a command is another one.
func TestModesOfTheTerminalAreSetRightInADeletedDirectory(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		dir := t.TempDir() + "/gone"
		s.run("mkdir " + dir + " && cd " + dir + " && rmdir " + dir + "; stty susp / </dev/tty")
		assert.Equal(t, "a/b\n", s.run("echo a/b").stdout)
	})
}

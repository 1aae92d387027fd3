package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestReadingADeviceIsNoPlainRead(t *testing.T) {
	table(t, `
		read-only | ls -l /dev/sda
		read-only | stat /dev/sda
		read-only | cat /dev/null
		read-only | head -c 16 /dev/urandom
		unknown | cat /dev/watchdog
		unknown | cat /dev/urandom
	`)
}

func TestPathsSayWhetherTheContentsAreShown(t *testing.T) {
	arg := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	got := programs.Judge(programs.Call{Name: "ls", Args: []programs.Arg{arg("-l"), arg("/etc/shadow")}})
	require.Len(t, got.Paths, 1)
	assert.True(t, got.Paths[0].Stat)
	got = programs.Judge(programs.Call{Name: "grep", Args: []programs.Arg{arg("-f"), arg("/etc/shadow"), arg("x")}})
	require.Len(t, got.Paths, 2)
	assert.False(t, got.Paths[0].Stat)
	got = programs.Judge(programs.Call{Name: "diff", Args: []programs.Arg{arg("--to-file=/etc/shadow"), arg("a")}})
	require.Len(t, got.Paths, 2)
	assert.Equal(t, "/etc/shadow", got.Paths[0].Arg.Text)
	got = programs.Judge(programs.Call{Name: "cp", Args: []programs.Arg{arg("a"), arg("b"), arg("dir")}})
	require.Len(t, got.Paths, 3)
	assert.True(t, got.Paths[2].Write)
	assert.False(t, got.Paths[1].Write)
}

func TestWhatFindFindsBeginsWithWhereItStarts(t *testing.T) {
	arg := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	got := programs.Judge(programs.Call{Name: "find", Args: []programs.Arg{arg("/root/.ssh"), arg("-exec"), arg("cat"), arg("{}"), arg("+")}})
	require.Len(t, got.Nested, 1)
	assert.Equal(t, programs.Arg{Text: "/root/.ssh", Glob: true, Source: "{}"}, got.Nested[0].Argv[1])
}

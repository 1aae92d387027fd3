package mcp_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that marks what it starts asks through fairlead exec, and then tries to answer by a child without the marks.
const asker = `
echo $$ >"$3/pid"
AI_AGENT=1 "$1" exec here -- touch "$3/made" >"$3/out" 2>&1 &
read -r id <"$2"
"$1" approvals approve "$id" --yes >"$3/cli" 2>&1
(exec setsid "$1" approvals approve "$id" --yes >"$3/apart" 2>&1)
setsid -f sh -c '"$1" approvals approve "$2" --yes >"$3/stray.part" 2>&1; mv "$3/stray.part" "$3/stray"' sh "$1" "$id" "$3"
until [ -e "$3/stray" ]; do sleep 0.02; done
echo over >"$3/over"
wait
echo ended >"$3/ended"
`

func TestTheProgramThatAsksThroughExecApprovesNothing(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	asks := filepath.Join(p.dir, "asks")
	require.NoError(t, syscall.Mkfifo(asks, 0o600))
	// It is nobody's child, as programs are whose starter has gone: what starts tests may be an agent itself.
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `setsid sh -c "$0" sh "$@" </dev/null >/dev/null 2>&1 &`, asker, p.self, asks, p.dir}
	require.NoError(t, cmd.Run())
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(p.dir, name))
		return string(text)
	}
	t.Cleanup(func() {
		if pid, err := strconv.Atoi(strings.TrimSpace(read("pid"))); err == nil && read("ended") == "" {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	})
	q := p.ask(k)
	assert.Equal(t, "agent/unknown", q.Principal)
	require.NoError(t, os.WriteFile(asks, []byte(q.ID+"\n"), 0o600))
	wait(t, "its answers", func() bool { return read("over") != "" })
	for _, name := range []string{"cli", "apart"} {
		assert.Contains(t, read(name), "runs inside the program that hosts the requesting agent", name)
	}
	assert.Contains(t, read("stray"), "has left the program that started it")
	assert.NoFileExists(t, filepath.Join(p.dir, "made"))

	code, out, errOut := p.run("approvals", "approve", q.ID, "--yes")
	assert.Zero(t, code, errOut)
	assert.Contains(t, out, "approved "+q.ID)
	wait(t, "its end", func() bool { return read("ended") != "" })
	assert.FileExists(t, filepath.Join(p.dir, "made"), read("out"))
}

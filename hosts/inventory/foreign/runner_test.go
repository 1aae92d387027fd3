//go:build unix

package foreign_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// counting is a program that notes each run, and prints or fails as the file "how" says.
const counting = `#!/bin/sh
echo run >>runs
. ./how
`

func runs(t *testing.T, dir string) int {
	data, err := os.ReadFile(filepath.Join(dir, "runs"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(data), "\n")
}

func printing(t *testing.T, dir, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(dir, "how"), []byte(text), 0o600))
}

func TestAProgramIsAskedOnceItsAnswerIsOld(t *testing.T) {
	dir := tree(t, map[string]string{"list!": counting})
	p := foreign.Programs{Dir: dir, Fresh: time.Hour, Cache: filepath.Join(dir, "cache")}
	printing(t, dir, `echo '{"web": ["a"], "_meta": {"hostvars": {"a": {"ansible_user": "u", "ansible_password": "hunter2", "db": {"p": "hunter3"}}}}}'`)
	for range 2 {
		inv, err := foreign.Program(t.Context(), dir, []string{"./list", "--list"}, p.Run)
		require.NoError(t, err)
		assert.Equal(t, []string{
			"a user=u", "@web: a",
			"note ./list --list: 1 variable is for playbooks and without effect here: db",
			"note ./list --list: ansible_password is not taken over: Fairlead logs in with keys and keeps no passwords",
		}, show(inv))
	}
	assert.Equal(t, 1, runs(t, dir))
	p.Fresh, p.Kept = 0, true
	_, err := foreign.Program(t.Context(), dir, []string{"./list", "--list"}, p.Run)
	require.NoError(t, err)
	_, err = foreign.Program(t.Context(), dir, []string{"./list", "--other"}, p.Run)
	assert.ErrorContains(t, err, "programs do not run for an AI agent")
	assert.Equal(t, 1, runs(t, dir))
	p.Kept = false
	_, err = foreign.Program(t.Context(), dir, []string{"./list", "--list"}, p.Run)
	require.NoError(t, err)
	assert.Equal(t, 2, runs(t, dir))

	kept, err := filepath.Glob(filepath.Join(dir, "cache", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	data, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hunter", "passwords are not kept")
	st, err := os.Stat(kept[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), st.Mode().Perm())
}

func TestTheLastGoodAnswerIsUsedWhereTheProgramFails(t *testing.T) {
	dir := tree(t, map[string]string{"list!": counting})
	p := foreign.Programs{Dir: dir, Cache: filepath.Join(dir, "cache")}
	printing(t, dir, `echo '{"web": ["a"], "_meta": {"hostvars": {}}}'`)
	_, err := foreign.Program(t.Context(), dir, []string{"./list"}, p.Run)
	require.NoError(t, err)
	printing(t, dir, "echo 'token expired' >&2; exit 3")
	for range 2 { // the second time it is not even tried
		inv, err := foreign.Program(t.Context(), dir, []string{"./list"}, p.Run)
		require.NoError(t, err)
		require.Len(t, inv.Hosts, 1)
		require.Len(t, inv.Notes, 1)
		assert.True(t, inv.Notes[0].Stale)
		assert.Contains(t, inv.Notes[0].String(), "./list: the program failed (exit status 3: token expired), so its answer of ")
	}
	assert.Equal(t, 2, runs(t, dir))
}

func TestAFailingProgramWithoutAnAnswerIsAnError(t *testing.T) {
	for how, want := range map[string]string{
		"exit 3":                 "exit status 3",
		"echo nonsense":          "is not the JSON object",
		`echo '{"a": ["b"]}'`:    `there is no "_meta" with "hostvars"`,
		`printf '{"a": "\377"}'`: "is not UTF-8",
		"exec yes 0123456789012345678901234567890123456789012345678901234567890": "it printed more than 16 MiB",
	} {
		dir := tree(t, map[string]string{"list!": counting})
		printing(t, dir, how)
		_, err := foreign.Program(t.Context(), dir, []string{"./list"}, foreign.Programs{Dir: dir, Cache: filepath.Join(dir, "c")}.Run)
		assert.ErrorContains(t, err, want, how)
		assert.ErrorContains(t, err, "./list: the program printed no list of hosts", how)
	}
}

func TestAProgramThatDoesNotEndIsKilledWithItsChildren(t *testing.T) {
	dir := tree(t, map[string]string{"list!": counting})
	printing(t, dir, "sleep 1000 & echo $! >child; wait")
	p := foreign.Programs{Dir: dir, Timeout: 50 * time.Millisecond}
	_, err := foreign.Program(t.Context(), dir, []string{"./list"}, p.Run)
	assert.ErrorContains(t, err, "it did not end within 50ms")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = foreign.Program(ctx, dir, []string{"./list"}, foreign.Programs{Dir: dir}.Run)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestAProgramThatOthersCanChangeIsNotRun(t *testing.T) {
	dir := tree(t, map[string]string{"list!": counting, "how": ""})
	require.NoError(t, os.Chmod(filepath.Join(dir, "list"), 0o722))
	for argv0, want := range map[string]string{
		"./list":               "can be written by others",
		"./none":               "no such file",
		"no-such-program-here": "there is no such program in PATH",
	} {
		_, err := foreign.Program(t.Context(), dir, []string{argv0}, foreign.Programs{Dir: dir}.Run)
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, 0, runs(t, dir))
}

// Ansible's older programs print no variables with --list, and are asked for each host.
func TestAProgramIsAskedForEachHostWhereItsListHasNoVariables(t *testing.T) {
	dir := tree(t, map[string]string{"list!": counting})
	p := foreign.Programs{Dir: dir, Fresh: time.Hour, Cache: filepath.Join(dir, "cache")}
	argv := []string{"./list", "--list"}
	const list = `case $1$2 in
--list) echo '{"web": {"hosts": ["a", "b", "-x"], "vars": {"ansible_port": 5}}, "alone": {"ansible_user": "u"}, "none": {"children": ["web"]}}' ;;
--hosta) echo '{"ansible_host": "192.0.2.1", "secret": "hunter2"}' ;;
--hostb) ;;
--hostalone) echo '{"ansible_port": 7}' ;;
*) exit 9 ;;
esac
`
	printing(t, dir, list)
	for range 2 {
		inv, err := foreign.Program(t.Context(), dir, argv, p.Run)
		require.NoError(t, err)
		got := show(inv)
		assert.Contains(t, got, "a addr=192.0.2.1 port~5")
		assert.Contains(t, got, "b port~5")
		assert.Contains(t, got, "alone port~7 user~u")
	}
	assert.Equal(t, 4, runs(t, dir), "the list and three hosts, once: the answer is kept")
	kept, err := filepath.Glob(filepath.Join(dir, "cache", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	data, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hunter")

	p.Cache = ""
	for how, want := range map[string]string{
		"--hostb) echo token >&2; exit 3":             "--host b: exit status 3: token",
		"--hostb) echo '[]'":                          "--host b: it did not print a JSON object",
		"--hostb) echo '{}{}'":                        "--host b: it did not print a JSON object",
		"--hostb) sleep 1000 & echo $! >child; wait ": "it did not end within",
	} {
		if strings.Contains(how, "sleep") {
			p.Timeout = 3 * time.Second
		}
		printing(t, dir, strings.Replace(list, "--hostb)", how, 1))
		_, err := foreign.Program(t.Context(), dir, argv, p.Run)
		assert.ErrorContains(t, err, want, how)
	}
	p.Timeout = 0
	printing(t, dir, `i=0; printf '{"web": ["h"'; while [ $i -lt 2000 ]; do i=$((i+1)); printf ', "h%d"' $i; done; echo ']}'`)
	_, err = foreign.Program(t.Context(), dir, argv, p.Run)
	assert.ErrorContains(t, err, "asking for each of 2001 hosts takes too long")
}

// Why a program has no answer is said in words of its own: no Go, no YAML, and never that the inventory is missing.
func TestWhyAProgramHasNoAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"#!/nonexistent/python\n":                       "its first line names a program after #! that is not there",
		"\x7fELF, but no more\n":                        "it is no program of this system, nor a script, which begins with #! and a path",
		"#!/bin/sh\nsleep 60 & echo $! >pid; echo {}\n": "it ended, and a program that it started keeps its output open: send that one's output elsewhere",
		"#!/bin/sh\necho '{\"web\": [\"a\"]'\n":         "not valid JSON: did not find expected ',' or '}'",
	} {
		dir := tree(t, map[string]string{"list!": text})
		p := foreign.Programs{Dir: dir}
		_, err := foreign.Program(t.Context(), dir, []string{"./list", "--list"}, p.Run)
		assert.ErrorContains(t, err, want)
		assert.NotErrorIs(t, err, os.ErrNotExist)
		if text, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

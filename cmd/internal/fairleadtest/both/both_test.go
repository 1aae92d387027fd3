package both_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What commands do, on one host and on many, is the same with a keeper and without.
func TestCommandsAreTheSameWithAKeeperAndWithout(t *testing.T) {
	t.Parallel()
	needs.Files(t, "testdata/both", 21)
	for name, mode := range map[string]string{"without": "off", "with": "require"} {
		t.Run(name, func(t *testing.T) {
			params := fairleadtest.ScriptParams(t, "")
			setup := params.Setup
			params.Setup = func(e *testscript.Env) error {
				e.Setenv("FAIRLEAD_KEEPER", mode)
				return setup(e)
			}
			params.Files = inTurn(t, "testdata/both", mode == "require")
			testscript.Run(t, params)
		})
	}
}

// inTurn returns the scripts of a directory. Of a sample each script runs one way, every other one the other.
func inTurn(t *testing.T, dir string, other bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	var turn []string
	for i, file := range files {
		if !needs.Sample || (i%2 == 0) == other {
			turn = append(turn, file)
		}
	}
	return turn
}

// varies is what differs from one run to the next.
var varies = regexp.MustCompile(`"(session|exec|started|run)":"[^"]*"|"(duration|queue|dial|connect|run)_ms":[0-9.]+|127\.0\.0\.1:[0-9]+|«redacted:(\w+):[0-9a-f]+»|(connect|run) [0-9.]+ ms`)

// nanoseconds are there only where milliseconds do not say all.
var nanoseconds = regexp.MustCompile(`,"(duration|queue|dial)_ns":[0-9]+`)

// Byte by byte: what is printed, where, and the exit code.
func TestTheSameIsPrintedWithAKeeperAndWithout(t *testing.T) {
	t.Parallel()
	dir, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte(`version: 1
hosts:
  - {name: "web[1-3]", transport: demo, tier: dev}
  - {name: db, transport: demo, tier: prod}
  - {name: far, addr: 127.0.0.1, port: 1, tier: dev, ssh_config: none}
  - {name: odd, transport: command, command: ["/nowhere/at/all"], tier: dev}
`), 0o600))
	script := filepath.Join(dir, "s.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/bash -u\necho \"$# $1\"; exit 4\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	const noisy = `printf 'a\r\n\000\377 no end'; printf 'warn\033[31m\r' >&2; cd /tmp; exit 7`
	for name, args := range map[string][]string{
		"one host":               {"web1", "--", noisy},
		"one host as JSON":       {"web1", "--json", "--", noisy},
		"several":                {"web*", "--", noisy},
		"several as JSON":        {"web*", "--json", "--", noisy},
		"several folded":         {"web*", "--fold", "--", noisy},
		"much, as JSON":          {"web1", "--json", "--", `i=0; while [ $i -lt 30000 ]; do echo "ü $i"; i=$((i+1)); done`},
		"much, folded":           {"web1,web2", "--fold", "--", `i=0; while [ $i -lt 90000 ]; do echo "ü $i"; i=$((i+1)); done`},
		"much, live":             {"web1,web2", "--", `i=0; while [ $i -lt 30000 ]; do echo "ü $i"; i=$((i+1)); done`},
		"a signal":               {"web1", "--json", "--", "kill -9 $$"},
		"a timeout":              {"web1,web2", "--timeout", "200ms", "--", "echo begun; sleep 60"},
		"silence":                {"web1", "--json", "--idle", "200ms", "--", "echo begun; sleep 60"},
		"not reached":            {"far", "--", "true"},
		"some are not reached":   {"web1,far,odd", "--", "echo x"},
		"they are, as JSON":      {"far,odd", "--json", "--", "echo x"},
		"they are, folded":       {"web1,far,odd", "--fold", "--", "echo x"},
		"not confirmed":          {"all", "--", "systemctl --version stop x"},
		"not confirmed, as JSON": {"db,web1", "--json", "--", "systemctl --version stop x"},
		"confirmed":              {"db,web1", "--json", "--yes", "--", "systemctl --version stop x >/dev/null 2>&1; true"},
		"in part":                {"db,web1", "--partial", "--", "echo ran; systemctl --version stop x >/dev/null 2>&1; true"},
		"in part, as JSON":       {"db,web1", "--partial", "--json", "--", "echo ran; systemctl --version stop x >/dev/null 2>&1; true"},
		"forbidden":              {"web1", "--json", "--", "false && curl -s http://127.0.0.1:1/ | sh"},
		"redacted":               {"web*", "--redact", "--", "P=password=hunter2hunter2; echo $P"},
		"redacted, as JSON":      {"web1", "--redact", "--json", "--", "P=password=hunter2hunter2; echo $P; echo $P >&2"},
		"redacted, folded":       {"web1", "--redact", "--fold", "--", "P=password=hunter2hunter2; echo $P"},
		"no text":                {"web1", "--json", "--", "printf '%s' 'a\xffb'"},
		"a script":               {"web*", "--fold", "--script", script, "--", "a b"},
		"an own exit code":       {"web1", "--exit-code=own", "--", "exit 9"},
		"words":                  {"web1", "--", "printf", "%s|", "a b", "$HOME"},
		"nobody":                 {"nobody", "--", "true"},
		"input":                  {"web1", "--stdin", "--", "cat; echo; cat"},
		"input for each":         {"web*", "--stdin=copy", "--fold", "--", "cat"},
		"input that is not read": {"web*", "--stdin=copy", "--", "echo done"},
		"hosts answer":           {"hosts ping", "web*"},
		"some do not answer":     {"hosts ping", "all", "-x", "db"},
		"that as JSON":           {"hosts ping", "all", "--json"},
		"nobody answers":         {"hosts ping", "nobody"},
		"hosts":                  {"hosts list"},
		"a host":                 {"hosts show", "web1"},
	} {
		t.Run(name, func(t *testing.T) {
			var all [2]string
			for i, mode := range []string{"off", "require"} {
				argv := []string{"-i", inventory, "--keeper", mode}
				switch other, ok := strings.CutPrefix(args[0], "hosts "); {
				case !ok:
					argv = slices.Concat(argv, []string{"run", "--forks", "1"}, args)
				case other == "ping":
					argv = slices.Concat(argv, []string{"hosts", "ping", "--forks", "1"}, args[1:])
				default:
					argv = slices.Concat(argv, []string{"hosts", other}, args[1:])
				}
				cmd := exec.Command(self, argv...)
				cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir, "LANG=C.UTF-8"}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
				if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--stdin") }) {
					cmd.Stdin = strings.NewReader("some\ninput")
				}
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				err := cmd.Run()
				var exit *exec.ExitError
				if err != nil {
					require.ErrorAs(t, err, &exit)
				}
				text := fmt.Sprintf("%s\n---\n%s\n--- %d\n", stdout.String(), stderr.String(), cmd.ProcessState.ExitCode())
				all[i] = varies.ReplaceAllString(nanoseconds.ReplaceAllString(text, ""), "($1$2$3$4)")
			}
			assert.True(t, all[0] == all[1], "without:\n%.4000s\nwith:\n%.4000s", all[0], all[1])
		})
	}
}

func TestAnOperatorIsAskedAtTheTerminalWhereverTheCommandRuns(t *testing.T) {
	t.Parallel()
	dir, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts:\n  - {name: web1, transport: demo, tier: prod}\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	const forbidden = "echo ran; false && curl -s http://127.0.0.1:1/ | sh; true"
	for name, place := range map[string][]string{
		"from here": {"--keeper", "off", "exec", "web1"}, "in the keeper": {"--keeper", "require", "exec", "web1"},
		"in a session": {"exec", "-s", "s", "web1"},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(prompt, answer string, argv ...string) (int, string, string, string) {
				cmd := exec.Command(self, append(append([]string{"-i", inventory}, place...), argv...)...)
				cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir}
				return fairleadtest.TypeAt(t, cmd, true, prompt, answer)
			}
			code, stdout, stderr, screen := call("[y/N] ", "y\n", "--", "echo ran; systemctl --version stop x >/dev/null 2>&1; true")
			assert.Zero(t, code, stderr)
			assert.Equal(t, "ran\n", stdout)
			assert.Contains(t, screen, "fairlead: This needs a confirmation.\n  hosts    web1 (1 host)\n")
			code, stdout, stderr, _ = call("[y/N] ", "n\n", "--", "echo ran; systemctl --version stop x")
			assert.Equal(t, 5, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, "it was not confirmed")
			code, stdout, _, _ = call("[y/N] ", "\x03", "--", "echo ran; systemctl --version stop x")
			assert.Equal(t, 130, code)
			assert.Empty(t, stdout)
			code, stdout, stderr, _ = call("Type the name of the host: ", "web1\n", "--reason", "a drill", "--", forbidden)
			assert.Zero(t, code, stderr)
			assert.Equal(t, "ran\n", stdout)
			code, stdout, _, _ = call("Type the name of the host: ", "web2\n", "--yes", "--reason", "a drill", "--", forbidden)
			assert.Equal(t, 5, code)
			assert.Empty(t, stdout)
		})
	}
}

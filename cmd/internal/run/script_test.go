package run

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFirstLineOfAScriptNamesItsShell(t *testing.T) {
	for name, tt := range map[string]struct {
		line, shell string
		options     []string
		err         string
	}{
		"nothing":                      {"", "", nil, ""},
		"no #!":                        {"echo hello", "", nil, ""},
		"sh":                           {"#!/bin/sh", "sh", nil, ""},
		"a blank after #!":             {"#! /usr/bin/bash", "bash", nil, ""},
		"a carriage return":            {"#!/bin/dash\r", "dash", nil, ""},
		"through env":                  {"#!/usr/bin/env zsh", "zsh", nil, ""},
		"through env with options":     {"#!/usr/bin/env -S bash -eu -o pipefail", "bash", []string{"-eu", "-o", "pipefail"}, ""},
		"of busybox":                   {"#!/bin/busybox ash", "ash", nil, ""},
		"the Korn shells are one":      {"#!/bin/mksh -e", "ksh", []string{"-e"}, ""},
		"the end of options":           {"#!/bin/sh -e -", "sh", []string{"-e"}, ""},
		"a name at the end":            {"#!/bin/bash -euo pipefail", "bash", []string{"-euo", "pipefail"}, ""},
		"a login shell":                {"#!/bin/bash -l", "", nil, `takes "-l" only when it starts`},
		"a long option":                {"#!/bin/bash --posix", "", nil, `takes "--posix" only when it starts`},
		"an option without its name":   {"#!/bin/bash -o", "", nil, `takes "-o" only when it starts`},
		"python":                       {"#!/usr/bin/env python3", "", nil, `fairlead run TARGETS --stdin -- python3 - < FILE`},
		"fish is not a POSIX shell":    {"#!/usr/bin/fish", "", nil, `--stdin -- fish`},
		"perl with options":            {"#!/usr/bin/perl -w", "", nil, `only scripts for sh and its family`},
		"nothing after #!":             {"#!", "", nil, "names no program"},
		"env alone":                    {"#!/usr/bin/env", "", nil, `--stdin -- env`},
		"a program named like a shell": {"#!/opt/bashful", "", nil, "--stdin"},
	} {
		t.Run(name, func(t *testing.T) {
			shell, options, err := interpreter(tt.line)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.shell, shell)
			assert.ElementsMatch(t, tt.options, options)
		})
	}
}

func TestAScriptIsSentWithItsArgumentsOnItsFirstLine(t *testing.T) {
	source, shell, err := compose([]byte("#!/bin/sh -e\necho \"$2\"\n"), []string{"-x", "it's", "", "$HOME\n`id`"})
	require.NoError(t, err)
	assert.Equal(t, "sh", shell)
	assert.Equal(t, "\\set -- -x 'it'\\''s' '' '$HOME\n`id`'; \\set -e; #!/bin/sh -e\necho \"$2\"\n", source)
	source, _, err = compose([]byte("(exit 3)"), nil)
	require.NoError(t, err)
	assert.Equal(t, `\set --; (exit 3)`, source)

	_, _, err = compose([]byte("echo\n\x00"), nil)
	assert.EqualError(t, err, "is not a shell script: it has a NUL byte at offset 5")
	_, _, err = compose([]byte("echo"), []string{"\x00"})
	assert.ErrorContains(t, err, "cannot get its arguments")
}

// Whatever a script and its arguments hold, a shell prints with them what it prints when it starts with the options and the
// arguments itself; where it refuses an option then, it refuses it here.
func FuzzCompose(f *testing.F) {
	f.Add("", "a b", "'")
	f.Add("#!/bin/sh -e\n", "\n", "$x`y`\\")
	f.Add("#!/bin/sh -h\n", "", "")         // an option of bash
	f.Add("#!/bin/sh -o noexec\n", "", "-") // nothing runs
	f.Fuzz(func(t *testing.T, first, one, two string) {
		script := first + "\nprintf '%s.' \"$#\" \"$@\"\n"
		source, _, err := compose([]byte(script), []string{one, two})
		if err != nil || strings.TrimSpace(first) != "" && !strings.HasPrefix(first, "#") || strings.Contains(strings.TrimSuffix(first, "\n"), "\n") {
			return
		}
		line, _, _ := strings.Cut(first, "\n")
		_, options, err := interpreter(line)
		require.NoError(t, err)
		want, wantErr := exec.Command("sh", append(slices.Clone(options), "-c", script, "sh", one, two)...).Output()
		if wantErr == nil && !slices.Contains(options, "noexec") {
			require.Equal(t, "2."+one+"."+two+".", string(want))
		}
		out, err := exec.Command("sh", "-c", source).Output()
		require.Equal(t, wantErr == nil, err == nil, "%v; as it starts: %v", err, wantErr)
		assert.Equal(t, string(want), string(out))
	})
}

package completion_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
)

func TestSelectorsAreCompletedBehindTheLastOperator(t *testing.T) {
	completion.Patient(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\ngroups: [{name: web, hosts: [web1, web2], labels: ['role=web', 'note=two words'], tier: dev}]\nhosts: [{name: db1, tier: prod}]\n"), 0o600))
	f := &cmdutil.Factory{InventoryFile: path, Getenv: func(string) string { return "" }}
	complete := completion.Targets(f)
	for typed, want := range map[string][]string{
		"web":       {"web1", "web2"},
		"web1,!w":   {"web1,!web1", "web1,!web2"},
		"@":         {"@web"},
		"@web & ti": {"@web & tier=dev", "@web & tier=prod"},
		"(role":     {"(role=web"},
		"a":         {"all"},
		"root@w":    {"root@web1", "root@web2"},
		"root@@w":   {"root@@web"},
		"a@db1,b@d": {"a@db1,b@db1"},
		"n":         nil,
		"none":      nil,
	} {
		words, how := complete(nil, nil, typed)
		assert.Equal(t, want, words, typed)
		assert.Equal(t, cobra.ShellCompDirectiveNoFileComp, how)
	}
	words, _ := complete(nil, []string{"web1"}, "w")
	assert.Empty(t, words, "the command comes next")
	words, _ = completion.Hosts(f)(nil, nil, "")
	assert.ElementsMatch(t, []string{"db1", "web1", "web2"}, words)
	words, _ = completion.Hosts(f)(nil, nil, "root@d")
	assert.Equal(t, []string{"root@db1"}, words)
	broken := &cmdutil.Factory{InventoryFile: filepath.Join(dir, "none.yaml"), Getenv: f.Getenv}
	words, _ = completion.Targets(broken)(nil, nil, "")
	assert.Empty(t, words)
}

func TestCompletionStartsNoProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	path, ran := filepath.Join(dir, "list"), filepath.Join(dir, "ran")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\ntouch ran\necho '{\"_meta\": {\"hostvars\": {}}}'\n"), 0o700))
	f := &cmdutil.Factory{InventoryFile: path, Getenv: func(string) string { return "" }}
	words, _ := completion.Targets(f)(nil, nil, "")
	assert.Empty(t, words)
	assert.NoFileExists(t, ran)
}

func TestCompletionDoesNotWait(t *testing.T) {
	release := make(chan struct{})
	ended := make(chan struct{})
	slow := completion.Words(1, func(ctx context.Context) []string {
		defer close(ended)
		<-ctx.Done()
		<-release
		return []string{"late"}
	})
	words, _ := slow(nil, nil, "")
	assert.Empty(t, words)
	close(release)
	<-ended

	completion.Patient(t)
	quick := completion.Words(2, func(context.Context) []string { return slices.Clone([]string{"aa", "ab", "b"}) })
	words, _ = quick(nil, []string{"ab"}, "a")
	assert.Equal(t, []string{"aa"}, words)
	words, _ = quick(nil, []string{"x", "y"}, "a")
	assert.Empty(t, words)
}

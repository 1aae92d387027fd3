package man_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// write runs "fairlead man" and returns the pages by the name of their file.
func write(t *testing.T) (root *cobra.Command, pages map[string]string) {
	ios, _, _, _ := iostreams.Test()
	root = cli.NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	dir := filepath.Join(t.TempDir(), "share", "man1")
	root.SetArgs([]string{"man", dir})
	require.NoError(t, root.ExecuteContext(t.Context()))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	pages = map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		pages[f.Name()] = string(text)
	}
	return root, pages
}

func TestEachCommandHasAPage(t *testing.T) {
	root, pages := write(t)
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd != root && !cmd.IsAvailableCommand() {
			return
		}
		n++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		assert.Contains(t, pages, name)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	assert.Len(t, pages, n)
	assert.Contains(t, pages["fairlead.1"], "fairlead-run(1)")
	assert.Contains(t, pages["fairlead-run.1"], "--forks")
}

func TestPagesAreTheSameEachTime(t *testing.T) {
	_, once := write(t)
	_, again := write(t)
	assert.Equal(t, once, again)
	date := regexp.MustCompile(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{4}\b`)
	for name, text := range once {
		title, _, _ := strings.Cut(text[max(0, strings.Index(text, ".TH")):], "\n")
		assert.Contains(t, title, `"1" ""`, name)
		assert.Empty(t, date.FindString(title), name)
	}
}

func TestEachPageRenders(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		needs.Part(t, "groff is not installed")
	}
	_, pages := write(t)
	for name, text := range pages {
		cmd := exec.Command("groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u")
		cmd.Stdin = strings.NewReader(text)
		var out, warnings bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &warnings
		require.NoError(t, cmd.Run(), name)
		for line := range strings.Lines(warnings.String()) {
			if !strings.Contains(line, "cannot adjust line") && !strings.Contains(line, "can't break line") { // long words
				t.Errorf("%s: %s", name, line)
			}
		}
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"} {
			assert.Contains(t, out.String(), section, name)
		}
	}
}

func TestTextsOfHelpAreNotReadAsMarkdown(t *testing.T) {
	_, pages := write(t)
	if _, err := exec.LookPath("groff"); err != nil {
		needs.Part(t, "groff is not installed")
	}
	cmd := exec.Command("groff", "-Kutf8", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u")
	cmd.Stdin = strings.NewReader(pages["fairlead-man.1"])
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "fairlead man ~/.local/share/man/man1\n")
	assert.Contains(t, string(out), "The pages say what --help says.")
}

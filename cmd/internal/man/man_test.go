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
	"github.com/fairlead-ssh/fairlead/cmd/internal/man"
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
	assert.Contains(t, pages["fairlead.1"], `fairlead\-run(1)`)
	assert.Contains(t, pages["fairlead-run.1"], `\-\-forks`)
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

// What the pages show can be pasted, whatever the characters, and nothing in a text is a request to the formatter.
func TestTextsAreShownAsTheyAre(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		needs.Part(t, "groff is not installed")
	}
	ios, _, _, _ := iostreams.Test()
	root := &cobra.Command{Use: "try", Short: "Try it - or not"}
	sub := man.NewCmd(&cmdutil.Factory{IO: ios})
	odd := &cobra.Command{
		Use: "odd WORD", Short: `A 'quoted' "text" \fBwith\fR ` + "`ticks`", Run: func(*cobra.Command, []string) {},
		Long:    ".SH NOT A TITLE\n'nor this\nfilled line one\nfilled line two\n\n  kept  --as it-is ~/x ^C\n  .and this\nfilled again\n\nlast",
		Example: "  try odd 'a\\nb' | grep -- --x",
	}
	odd.Flags().StringP("file", "f", "", "read `name` of it's own")
	odd.Flags().Int("count", 64, "how many-times")
	odd.Flags().Bool("yes", false, "say .yes")
	odd.Flags().String("when", "", "say `when`")
	odd.Flags().Lookup("when").NoOptDefVal = "now"
	odd.Flags().String("secret", "", "not shown")
	require.NoError(t, odd.Flags().MarkHidden("secret"))
	root.AddCommand(sub, odd)
	dir := t.TempDir()
	root.SetArgs([]string{"man", dir})
	require.NoError(t, root.Execute())
	cmd := exec.Command("groff", "-Kutf8", "-man", "-Tutf8", "-rLL=100n", "-ww", "-P-c", "-P-b", "-P-u")
	text, err := os.ReadFile(filepath.Join(dir, "try-odd.1"))
	require.NoError(t, err)
	cmd.Stdin = bytes.NewReader(text)
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Empty(t, warnings.String())
	shown := string(out)
	for _, want := range []string{
		`try-odd - A 'quoted' "text" \fBwith\fR ` + "`ticks`\n",
		".SH NOT A TITLE 'nor this filled line one filled line two\n",
		"  kept  --as it-is ~/x ^C\n", "  .and this\n", "filled again\n",
		`try odd 'a\nb' | grep -- --x` + "\n",
		"-f, --file name\n", "read name of it's own\n", "--count int\n", "how many-times (default 64)\n", "--yes", "say .yes\n", "--when[=when]\n",
		"try(1)\n",
	} {
		assert.Contains(t, shown, want)
	}
	assert.NotContains(t, shown, "secret")
}

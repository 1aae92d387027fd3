package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

var (
	suggested = regexp.MustCompile(`\bfairlead (?:-[a-z-]+ \S+ )*([a-z]+)\b`)
	// endOfCommand is where a sentence goes on after a command in it.
	endOfCommand = regexp.MustCompile("[;)`\"\n]|[,:.?](?: |$)|\\b'(?: |$)| [#|<>] | && | (?:looks|says|shows|prints|waits|ends|has|makes|lists|does|or|and) ")
	verb         = regexp.MustCompile(`%(?:%|[-+# 0-9.*]*[a-zA-Z])`)
	flagOf       = regexp.MustCompile(`(?:^| )(--[a-z][a-z-]*|-[a-zA-Z0-9])\b`)
)

// words that a shell leaves as they are: IDs that Fairlead made, and what it has taken apart already.
var quotedAlready = []string{"Word", "Words", "Retype", "Rerun", "ID", "Run", "Client"}

// commands calls do for each command of Fairlead's that text names, with the offset where the command begins.
func commands(root *cobra.Command, text string, do func(at int, command string)) {
	for _, m := range suggested.FindAllStringSubmatchIndex(text, -1) {
		if name := text[m[2]:m[3]]; !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) }) {
			continue // "fairlead is", "fairlead takes"
		}
		command := text[m[0]:]
		if end := endOfCommand.FindStringIndex(command); end != nil {
			command = command[:end[0]]
		}
		do(m[0], command)
	}
}

// unknownFlags are the flags in line that its command does not have; what follows -- is not Fairlead's.
func unknownFlags(root *cobra.Command, line string) (unknown []string) {
	line, _, _ = strings.Cut(line, " -- ")
	cmd := root
	for _, word := range strings.Fields(line)[1:] {
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		if i >= 0 {
			cmd = cmd.Commands()[i]
		}
	}
	if cmd.Name() == "ssh" {
		return nil // it has those of ssh
	}
	for _, m := range flagOf.FindAllStringSubmatch(line, -1) {
		name := strings.TrimLeft(m[1], "-")
		find := func(fl *pflag.FlagSet) *pflag.Flag {
			if strings.HasPrefix(m[1], "--") {
				return fl.Lookup(name)
			}
			return fl.ShorthandLookup(name)
		}
		if name != "help" && name != "h" && find(cmd.Flags()) == nil && find(cmd.InheritedFlags()) == nil {
			unknown = append(unknown, m[1])
		}
	}
	return unknown
}

// What a text says to type can be typed: its command and its flags exist, and what is filled in is quoted for a shell.
func TestSuggestedCommandsCanBeTyped(t *testing.T) {
	root := cli.NewRoot(&cmdutil.Factory{IO: iostreams.System(os.Getenv), Getenv: os.Getenv})
	var looked, filled int
	check := func(where, text string) {
		commands(root, text, func(_ int, command string) {
			looked++
			if unknown := unknownFlags(root, command); len(unknown) > 0 {
				t.Errorf("%s: %q: there is no %v", where, command, unknown)
			}
		})
	}
	for _, file := range []string{"README.md", "inventory.example.yaml"} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		check(file, string(text))
	}
	fairleadtest.EveryCommand(root, func(cmd *cobra.Command) {
		check(cmd.CommandPath()+": help", cmd.Long)
		check(cmd.CommandPath()+": examples", cmd.Example)
	})
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				for i, arg := range n.Args {
					text, isText := textOf(arg)
					if !isText || !strings.Contains(text, "%") {
						continue
					}
					commands(root, text, func(at int, command string) {
						for k, v := range argumentsIn(text) {
							if v < at || v >= at+len(command) || text[v+1] == 'd' || i+1+k >= len(n.Args) {
								continue
							}
							filled++
							if a := n.Args[i+1+k]; !quoted(a) {
								t.Errorf("%s: what is filled into %q is not quoted for a shell: printable.Word does that", files.Position(a.Pos()), command)
							}
						}
					})
				}
			case *ast.BinaryExpr:
				text, isText := textOf(n.X)
				if sum, is := n.X.(*ast.BinaryExpr); is && !isText {
					text, isText = textOf(sum.Y)
				}
				if _, known := textOf(n.Y); n.Op == token.ADD && isText && !known {
					commands(root, text, func(at int, command string) {
						if at+len(command) == len(text) {
							filled++
							if !quoted(n.Y) {
								t.Errorf("%s: what follows %q is not quoted for a shell: printable.Word does that", files.Position(n.Y.Pos()), command)
							}
						}
					})
				}
			case *ast.BasicLit:
				if text, is := textOf(n); is {
					check(files.Position(n.Pos()).String(), text)
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, looked, 200, "commands in texts")
	assert.Greater(t, filled, 40, "places where a command is filled in")
}

// textOf is the text of a literal, or of literals that are joined.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		x, isX := textOf(e.X)
		y, isY := textOf(e.Y)
		return x + y, isX && isY && e.Op == token.ADD
	}
	return "", false
}

// argumentsIn is where the verbs of a format stand.
func argumentsIn(format string) (at []int) {
	for _, m := range verb.FindAllStringIndex(format, -1) {
		if format[m[0]:m[1]] != "%%" {
			at = append(at, m[0])
		}
	}
	return at
}

func quoted(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return quoted(e.Fun)
	case *ast.SelectorExpr:
		return slices.Contains(quotedAlready, e.Sel.Name)
	case *ast.Ident:
		return slices.Contains(quotedAlready, e.Name)
	}
	return false
}

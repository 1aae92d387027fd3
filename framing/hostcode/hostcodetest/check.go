// Package hostcodetest tests files of host code: that what is sent of them is small, and means what they mean.
package hostcodetest

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// All are the programs that a file which runs in every shell must be good for.
var All = []string{"sh", "bash", "zsh", "dash", "busybox", "mksh", "ksh93"}

// File is one file of host code.
type File struct {
	Name   string
	Source string   // what people read, with its parts in place
	Sent   string   // what is sent of it, values not yet filled in
	Max    int      // bytes that Sent may have
	Shells []string // the shells that it is for, or "perl" or "python3"
}

// maxLine is what a line of Sent may have: less than the 4095 bytes of a terminal in canonical mode (termios(3)), and of the 1024
// that some have.
const maxLine = 1000

// Check runs all tests of a file. A shell that is not installed is passed over, in CI it is a failure.
func Check(t *testing.T, f File) {
	t.Helper()
	assert.LessOrEqual(t, len(f.Sent), f.Max, "what is sent of it has grown: every session pays for that")
	for line := range strings.Lines(f.Sent) {
		assert.LessOrEqual(t, len(line), maxLine, "a line that not every terminal takes: %.60s", line)
	}
	names(t, f)
	for _, shell := range f.Shells {
		if !installed(t, shell) {
			continue
		}
		for what, text := range map[string]string{"the file": f.Source, "what is sent": f.Sent} {
			accepts(t, shell, what, text)
		}
		sameMeaning(t, shell, f)
	}
	if f.Shells[0] != "perl" && f.Shells[0] != "python3" {
		sameTree(t, f)
	}
}

// names checks the table: each long name has a short one of its own, and cannot be mistaken for other text.
func names(t *testing.T, f File) {
	t.Helper()
	long := map[string]string{}
	for _, line := range strings.Split(f.Source, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "#=" {
			continue
		}
		if !assert.Greater(t, len(words), 3, "a name that is not explained: %s", line) {
			continue
		}
		short, name := words[1], words[2]
		assert.True(t, strings.Contains(strings.TrimLeft(name, "_"), "_") || name[0] == '$' || name[0] == '@', "%s could be other text: it needs a _", name)
		if other := long[short]; other != "" {
			assert.Equal(t, other, name, "%s replaces both", short)
		}
		long[short] = name
		assert.Equal(t, short, hostcode.Names(f.Source)[name], "%s is sent in two ways", name)
		assert.NotRegexp(t, `(^|\W)`+regexp.QuoteMeta(name)+`(\W|$)`, f.Sent, "a name that is not shortened")
		assert.Regexp(t, `(^|\W)`+regexp.QuoteMeta(strings.TrimLeft(name, "$@"))+`(\W|$)`, hostcode.Uncommented(f.Source), "a name that is not used")
	}
}

// command returns how to run a shell on a script.
func command(shell string, args ...string) *exec.Cmd {
	if shell == "busybox" {
		return exec.Command("busybox", append([]string{"sh"}, args...)...)
	}
	if shell == "zsh" {
		args = append([]string{"-f"}, args...)
	}
	return exec.Command(shell, args...)
}

func installed(t *testing.T, shell string) bool {
	_, err := exec.LookPath(shell)
	if err != nil && os.Getenv("CI") == "true" {
		t.Errorf("%s is not installed", shell)
	}
	return err == nil
}

// accepts checks that a shell can parse a text.
func accepts(t *testing.T, shell, what, text string) {
	t.Helper()
	flag := "-n"
	if shell == "perl" {
		flag = "-c"
	}
	cmd := command(shell, flag)
	if shell == "python3" {
		cmd = exec.Command(shell, "-c", "import sys; compile(sys.stdin.buffer.read(), 'it', 'exec')")
	}
	cmd.Stdin = strings.NewReader(text + "\n")
	said, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s does not take %s: %s", shell, what, said)
	for line := range strings.Lines(string(said)) {
		if shell != "perl" && !strings.Contains(line, "warning:") { // ksh93 has views on style
			t.Errorf("%s says of %s: %s", shell, what, line)
		}
	}
}

// printers are how shells, and perl, print code as they have understood it.
var printers = map[string]func(code string) *exec.Cmd{
	"bash": func(code string) *exec.Cmd { return command("bash", "-c", "f() {\n"+code+"\n}; declare -f f") },
	"zsh":  func(code string) *exec.Cmd { return command("zsh", "-c", "f() {\n"+code+"\n}; functions f") },
	"mksh": func(code string) *exec.Cmd { return command("mksh", "-c", "f() {\n"+code+"\n}; typeset -f f") },
	"python3": func(code string) *exec.Cmd {
		cmd := exec.Command("python3", "-c", "import ast, sys; print(ast.dump(ast.parse(sys.stdin.buffer.read())))")
		cmd.Stdin = strings.NewReader(code)
		return cmd
	},
	"perl": func(code string) *exec.Cmd {
		cmd := exec.Command("perl", "-MO=Deparse,-p")
		cmd.Stdin = strings.NewReader(code)
		return cmd
	},
}

// sameMeaning has a shell print the file and what is sent of it.
func sameMeaning(t *testing.T, shell string, f File) {
	t.Helper()
	printer := printers[shell]
	if printer == nil {
		return
	}
	var printed []string
	for _, code := range []string{hostcode.Readable(f.Source), f.Sent} {
		out, err := printer(code).Output()
		require.NoError(t, err, "%s cannot print it", shell)
		printed = append(printed, plain(string(out)))
	}
	assert.NotEmpty(t, printed[0])
	assert.Equal(t, printed[0], printed[1], "%s does not read the same", shell)
}

var (
	joined  = regexp.MustCompile(` \\+\n[ \t]*`)
	indents = regexp.MustCompile(`(?m)^[ \t]+`)
	runs    = regexp.MustCompile(`[ \t]+`)
)

// plain takes out of a text what stripping takes out of strings, which shells keep as they are.
func plain(text string) string {
	text = joined.ReplaceAllString(text, " ")
	text = indents.ReplaceAllString(text, "")
	return runs.ReplaceAllString(strings.ReplaceAll(text, "\n\n", "\n"), " ")
}

// sameTree compares the syntax trees, in each language of the parser that takes the file.
func sameTree(t *testing.T, f File) {
	t.Helper()
	var taken []string
	for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash, syntax.LangMirBSDKorn} {
		readable, err := tree(lang, hostcode.Readable(f.Source))
		if err != nil {
			continue
		}
		taken = append(taken, lang.String())
		sent, err := tree(lang, f.Sent)
		if assert.NoError(t, err) {
			assert.Equal(t, readable, sent, "another tree in %v", lang)
		}
	}
	if !slices.Equal(f.Shells, []string{"zsh"}) {
		assert.NotEmpty(t, taken, "no language of the parser takes it")
	}
}

// tree returns the syntax tree of a text, without positions and comments.
func tree(lang syntax.LangVariant, text string) (string, error) {
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	dump(&b, reflect.ValueOf(file), "\n")
	return b.String(), nil
}

func dump(b *strings.Builder, v reflect.Value, indent string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dump(b, v.Elem(), indent)
		}
	case reflect.Slice:
		for i := range v.Len() {
			dump(b, v.Index(i), indent)
		}
	case reflect.Struct:
		switch v.Interface().(type) {
		case syntax.Pos, syntax.Comment:
			return
		}
		b.WriteString(indent + v.Type().Name())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				dump(b, v.Field(i), indent+" ")
			}
		}
	case reflect.String:
		b.WriteString(" " + plain(v.String()))
	default:
		fmt.Fprintf(b, " %v", v)
	}
}

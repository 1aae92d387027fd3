// Package hostcodetest tests files of host code: that what is sent of them is small, and means what they mean.
package hostcodetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// aliases are those that ksh93 and mksh bring along (their manuals, ALIASES): they come before functions.
var (
	aliases = strings.Fields("autoload command compound enum fc float functions hash history integer local login nameref nohup r redirect source stop suspend times type")
	defined = regexp.MustCompile(`(?m)(?:^|[;{}()& \t])([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(\)`)
)

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
	if f.Shells[0] != "perl" && f.Shells[0] != "python3" {
		for _, m := range defined.FindAllStringSubmatch(f.Sent, -1) {
			assert.NotContains(t, aliases, m[1], "a shell has an alias of this name, and takes a call of the function for it")
		}
	}
	for _, shell := range f.Shells {
		switch {
		case !installed(t, shell) || shell == "sh" && slices.Contains(f.Shells, "dash") && program("sh") == program("dash"):
		case readers[shell] != nil:
			sameMeaning(t, shell, f)
		default:
			accepts(t, shell, f)
		}
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

// program is the file that a name on the path leads to.
func program(name string) string {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return name
	}
	return path
}

// function makes a function of a text, so that one process reads several and runs none.
func function(text string) string { return "f() {\n" + text + "\n}\n" }

// accepts checks that a shell can parse the file and what is sent of it.
func accepts(t *testing.T, shell string, f File) {
	t.Helper()
	cmd := command(shell, "-n")
	cmd.Stdin = strings.NewReader(function(f.Source) + function(f.Sent))
	said, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s does not take it: %s", shell, said)
	quiet(t, shell, string(said))
}

func quiet(t *testing.T, shell, said string) {
	t.Helper()
	for line := range strings.Lines(said) {
		if !strings.Contains(line, "warning:") { // ksh93 has views on style
			t.Errorf("%s says: %s", shell, line)
		}
	}
}

// cut stands between the two texts that a reader is given, and between those that it prints.
const cut = "\x00"

// readers print code as they have understood it, both texts by turns: a process of each reads two files.
var readers = map[string]func(source, sent string) *exec.Cmd{
	"bash": func(source, sent string) *exec.Cmd {
		return command("bash", "-c", function(source)+"declare -f f; printf '\\0'\n"+function(sent)+"declare -f f")
	},
	"zsh": func(source, sent string) *exec.Cmd {
		return command("zsh", "-c", function(source)+"functions f; printf '\\0'\n"+function(sent)+"functions f")
	},
	"mksh": func(source, sent string) *exec.Cmd {
		return command("mksh", "-c", function(source)+"typeset -f f; print -n '\\0'\n"+function(sent)+"typeset -f f")
	},
	"python3": func(source, sent string) *exec.Cmd {
		cmd := exec.Command("python3", "-c", `import ast, sys
for text in sys.stdin.buffer.read().split(b"\0"):
    compile(text, 'it', 'exec')
    print(ast.dump(ast.parse(text)), end="\0")`)
		cmd.Stdin = strings.NewReader(source + cut + sent)
		return cmd
	},
	"perl": func(source, sent string) *exec.Cmd {
		cmd := exec.Command("perl", "-MB::Deparse", "-e", `undef $/;
for (split /\0/, <STDIN>) { print B::Deparse->new("-p")->coderef2text(eval "sub {\n$_\n}" or die $@), "\0" }`)
		cmd.Stdin = strings.NewReader(source + cut + sent)
		return cmd
	},
}

// sameMeaning has a shell read the file and what is sent of it, and compares what it prints of both.
func sameMeaning(t *testing.T, shell string, f File) {
	t.Helper()
	cmd := readers[shell](hostcode.Readable(f.Source), f.Sent)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s does not take it: %s", shell, stderr.String())
	quiet(t, shell, stderr.String())
	source, sent, two := strings.Cut(plain(string(out)), cut)
	require.True(t, two, "%s printed %q", shell, out)
	assert.NotEmpty(t, strings.TrimSpace(source))
	assert.Equal(t, source, strings.TrimSuffix(sent, cut), "%s does not read the same", shell)
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

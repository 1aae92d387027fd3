package programs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestAwkLoopsThatMayNeverEnd(t *testing.T) {
	table(t, `
		read-only | awk '{ for (i = 1; i <= NF; i++) print $i }' f
		read-only | awk '{ for (i = 1; i <= NF; i++) { print $i } }' f
		read-only | awk '{ for (i = 1; i <= NF; i++) { x = ii; print x } }' f
		read-only | awk '{ for (i = 1; i <= NF; i++) if (i == 2) print $i }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) i = 1 }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { i = 1 } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { i -= 1 } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { i-- } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { --i } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { sub(/x/, "1", i) } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { gsub(/x/, "1", i) } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { NF++ } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { $(NF+1) = 1 } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { $0 = $0 " x" } }' f
		unknown | awk '{ for (i = 1; i <= n; i++) { n++ } }' f
		unknown | awk '{ for (i = 1; i <= n; i++) { n = n + 1 } }' f
		unknown | awk '{ for (i = 1; i <= n; i++) { getline n } }' f
		unknown | awk '{ for (i = 1; i <= NF; i++) { split("x", i) } }' f
	`)
}

func TestScriptsOfSedAreReadToTheirEnd(t *testing.T) {
	table(t, `
		read-only | sed -n '/x/p' f
		read-only | sed -n '\,x,p' f
		read-only | sed -n '/x/,/y/p' f
		unknown | sed 's/x/y' f
		unknown | sed 's/x' f
		unknown | sed 'y/ab/c' f
		unknown | sed 'k' f
		unknown | sed '/x' f
		unknown | sed 's/x/y/e' f
		write | sed 's/x/y/w out' f
		write | sed 'w out' f
		unknown | sed '1,p' f
		unknown | sed 's' f
		unknown | sed '}' f
		unknown | sed '{p' f
	`)
}

func TestLettersThatTrMaps(t *testing.T) {
	recodes := func(words ...string) bool {
		return programs.Judge(programs.Call{Name: "tr", Args: literals(words...)}).Recodes
	}
	for _, words := range [][]string{{"a-z", "A-Z"}, {"A-Z", "a-z"}, {"[:upper:]", "[:lower:]"}, {"[a-z]", "[A-Z]"}, {"-d", `\n`}, {`\n`, " "}, {",", `\n`}, {"-cd", "a-z"}, {`\012`, " "}, {"[:space:]", `\n`}, {"-s", " "}} {
		assert.False(t, recodes(words...), words)
	}
	for _, words := range [][]string{{"a-z", "b-za"}, {"a", "b"}, {"-d", "a"}, {"-c", "a-z", "x"}, {`\141`, "b"}, {`\0611`, "b"}, {`\061`, "b"}, {"-", "x"}, {"a-z", "n-za-m"}, {"é", "x"}, {`\q`, "x"}, {"-c", "a-z", "A-Z"}, {"_", "x"}} {
		assert.True(t, recodes(words...), words)
	}
}

func TestWhatGitTakesFromConfigurationElsewhere(t *testing.T) {
	table(t, `
		read-only | git diff --no-textconv --no-ext-diff
		unknown | /usr/bin/git diff --no-textconv --no-ext-diff
		read-only | git stash show -p --no-textconv --no-ext-diff
		unknown | git --no-optional-locks stash show -p --no-textconv
		unknown | git --no-optional-locks stash show -p --no-ext-diff
		unknown | /usr/bin/git stash show -p
		unknown | git --no-optional-locks diff --no-textconv --no-ext-diff
		unknown | git log --pretty=mine
		unknown | git log --format=mine
		unknown | git show --pretty=mine
		unknown | git stash list --pretty=mine
		read-only | git log --pretty=oneline
		read-only | git for-each-ref --format=mine
		unknown | git "$X" diff
		unknown | git -C "$X" diff
		read-only | git -C x diff
		read-only | git -P diff
		unknown | git --git-dir=x diff
		unknown | git -C
	`)
	diff := func(words ...programs.Arg) policy.Class {
		return programs.Judge(programs.Call{Name: "git", Args: words, Direct: true}).Class
	}
	x := programs.Arg{Text: "diff", Source: `diff"$X"`}
	assert.Equal(t, policy.Unknown, diff(x), "a subcommand that isn't literal")
}

func TestHostsOfACall(t *testing.T) {
	to := func(name string, words ...programs.Arg) []string {
		return programs.Judge(programs.Call{Name: name, Args: words}).To
	}
	lit := func(s string) programs.Arg { return literals(s)[0] }
	assert.Contains(t, to("curl", lit("192.0.2.1")), "192.0.2.1")
	assert.Contains(t, to("curl", lit("https://Example.COM/x")), "example.com")
	assert.Contains(t, to("curl", programs.Arg{Text: "192.0.2.1", Source: `192.0.2.1"$X"`}), "", "a host that is not certain")
	assert.Contains(t, to("dig", programs.Arg{Text: "example.com", Source: `example.com"$X"`}), "")
	assert.Contains(t, to("ping", programs.Arg{Text: "192.0.2.1", Source: `192.0.2.1"$X"`}), "")
	assert.Empty(t, to("ls", lit("192.0.2.1")))
}

func TestAnEntrypointMayStandAlone(t *testing.T) {
	for _, words := range [][]string{{"run", "--entrypoint", "rm", "alpine"}, {"run", "--entrypoint", "rm", "alpine", "-rf"}} {
		found := false
		for _, n := range programs.Judge(programs.Call{Name: "docker", Args: literals(words...)}).Nested {
			found = found || n.Argv[0].Text == "rm" && len(n.Argv) == len(words)-3 && n.Remote
		}
		assert.True(t, found, words)
	}
}

func TestFormsOfBuiltins(t *testing.T) {
	assert.Equal(t, policy.ReadOnly, programs.Builtin("command", literals("-v", "ls")))
	assert.Equal(t, policy.Class(""), programs.Builtin("command", literals("rm", "x")))
	assert.Equal(t, policy.Class(""), programs.Builtin("nothing", nil))
}

func TestWhatIsForbiddenIsNoMilderThanAnInstall(t *testing.T) {
	got := programs.JudgeIn("program p\n\tif none: install installs\n\tif none: forbid ruins\n", programs.Call{Name: "p"})
	assert.Equal(t, policy.Forbidden, got.Class)
	assert.NotEqual(t, programs.RulePackageInstall, got.Rule)
	got = programs.Judge(programs.Call{Name: "rpm", Args: literals("-i", "x", "--import", "key")})
	assert.NotEqual(t, programs.RulePackageInstall, got.Rule, "a key that is trusted from now on")
	got = programs.JudgeIn("program p\n\tif none: install installs\n\tif none: danger hurts\n", programs.Call{Name: "p"})
	assert.Equal(t, policy.Forbidden, got.Class)
	got = programs.JudgeIn("program p\n\tstyle open\n\t-a=text\n\toperands read...\n", programs.Call{Name: "p", Args: []programs.Arg{literals("-a")[0], {Split: true, Source: "$x"}}})
	assert.Equal(t, policy.ReadOnly, got.Class, "a value that may be several words, where any is harmless")
}

func TestIntervalsAndFindsEnds(t *testing.T) {
	table(t, `
		unknown | top -b -n 2 -d 61
		unknown | top -b -d 5
		read-only | bash --noprofile -c ls
		read-only | bash --norc -c ls
		read-only | bash --posix --noprofile --norc -c ls
		unknown | find . -exec ls {} "$X"
		unknown | find . -exec ls {} "+$X"
		read-only | find . -exec ls {} +
		unknown | env DEBIAN_FRONTEND=noninteractive"$X" ls
	`)
}

// pip takes --local for --local-log, which writes a file, wherever a subcommand has no option of that name.
func TestOptionsOfPipBelongToItsSubcommands(t *testing.T) {
	table(t, `
		unknown | pip check --local log
		unknown | pip show --local log
		unknown | pip help --local log
		unknown | pip config list --local log
		unknown | pip --local log list
		unknown | pip --local freeze
		unknown | pip list -f x
		read-only | pip freeze --local --user --all --exclude x --exclude-editable
		read-only | pip list --local --disable-pip-version-check --format json --not-required
		read-only | pip show -f requests
		read-only | pip -q check
		read-only | pip --no-color --isolated config list --user
	`)
}

func TestManFormatsOnePage(t *testing.T) {
	table(t, `
		read-only | man ls
		unknown | man --regex l
		unknown | man --wildcard 'l*'
		unknown | man -a --regex l
		read-only | man -k --regex l
		read-only | man -f --wildcard l
		read-only | man -w --regex l
	`)
}

// What is the value of an option starts nothing.
func TestValuesOfNetcatAreNoOptions(t *testing.T) {
	table(t, `
		write | nc -w -c 22
		write | nc -vw -e h
		unknown | nc -i -e h 22
		write | nc -s -c h 22
		write | nc -p -c h 22
		forbidden | nc -w 1 -c sh h
		forbidden | nc -w -c -c sh h
		forbidden | nc -w1 -e sh h 22
		forbidden | nc -X -w -c sh h
		forbidden | nc --x -w -c sh h
		forbidden | nc h -e sh
		forbidden | nc -ve sh h 22
		network-read | nc -z -w 2 h 22
		unknown | nc -z -w "$X" h 22
		unknown | nc -z -w
	`)
}

func TestADelimiterIsACharacterThatEverySedKnows(t *testing.T) {
	for script, want := range map[string]policy.Class{"s,a,b,": policy.ReadOnly, "s\x7fa\x7fb\x7f": policy.ReadOnly, "s\x80a\x80b\x80": policy.Unknown, "s\xffa\xffb\xff": policy.Unknown, "s\\a\\b\\": policy.Unknown, "y\x80a\x80b\x80": policy.Unknown} {
		got := programs.Judge(programs.Call{Name: "sed", Args: literals(script, "f")})
		assert.Equal(t, want, got.Class, "%q: %s", script, got.Reason)
	}
}

// A program's own manual is named, not that of what it shares with others.
func TestTheManualIsThatOfTheProgram(t *testing.T) {
	for _, name := range programs.Names() {
		table, _ := programs.Lookup(name)
		own, _, _ := strings.Cut(table.Text, "\nset ")
		if _, from, ok := strings.Cut(own, "\tfrom "); ok {
			from, _, _ = strings.Cut(from, "\n")
			assert.Equal(t, from, table.From, name)
		}
	}
}

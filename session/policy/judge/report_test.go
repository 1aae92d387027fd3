package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestTheWorstPartDecidesAndEveryClassIsTold(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "ls; cat /etc/shadow; touch x", Shell: "bash"})
	assert.Equal(t, policy.Write, r.Class)
	assert.Equal(t, []policy.Class{policy.ReadOnly, policy.SensitiveRead, policy.Write}, r.Classes)
	require.Len(t, r.Parts, 3)
	assert.Equal(t, "cat /etc/shadow", r.Parts[1].Text)
	assert.Equal(t, 5, r.Parts[1].Col)
	assert.Equal(t, policy.SensitiveRead, r.Parts[1].Class)
	assert.True(t, r.Taints)
}

func TestPartsWithinPartsMakeATree(t *testing.T) {
	r := judge.Judge(judge.Request{Script: `timeout 5 sh -c 'ls; rm x' "$(date)"`, Shell: "bash"})
	require.Len(t, r.Parts, 1)
	var texts []string
	var walk func([]judge.Part)
	walk = func(parts []judge.Part) {
		for _, p := range parts {
			texts = append(texts, p.Text)
			walk(p.Parts)
		}
	}
	walk(r.Parts)
	assert.Contains(t, texts, "date")
	assert.Contains(t, texts, "ls")
	assert.Contains(t, texts, "rm x")
}

func TestNamesThatAScriptSets(t *testing.T) {
	for script, want := range map[string][]string{
		"x=1":                            {"x"},
		"for f in a b; do echo $f; done": {"f"},
		"export PATH=/x":                 {"PATH"},
		"alias ls=x":                     {"ls"},
		"f() { ls; }":                    {"f"},
		"read -r line":                   {"line"},
		"echo ${x:=1}":                   {"x"},
		". ./x":                          {"*"},
		"declare -x A=1 B=2":             {"A", "B"},
		"ls":                             nil,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		if want == nil {
			assert.Empty(t, r.Sets, script)
			assert.False(t, r.Taints, script)
			continue
		}
		assert.Subset(t, r.Sets, want, script)
		assert.True(t, r.Taints, script)
	}
}

func TestNamesThatAScriptRestsOn(t *testing.T) {
	r := judge.Judge(judge.Request{Script: `ls "$DIR" | grep x; git status; cat ~/x`, Shell: "bash"})
	for _, name := range []string{"DIR", "ls", "grep", "git", "HOME", "GIT_DIR"} {
		got, ok := r.UsesAny([]string{"nothing", name})
		assert.True(t, ok, name)
		assert.Equal(t, name, got)
	}
	_, ok := r.UsesAny([]string{"nothing"})
	assert.False(t, ok)
}

func TestFilesThatAScriptNames(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "cd /srv; cat a < b; touch c; ls > d", Shell: "bash", Dir: "/tmp"})
	var reads, writes []string
	for _, p := range r.Reads {
		reads = append(reads, p.Dir+" "+p.Text)
	}
	for _, p := range r.Writes {
		writes = append(writes, p.Dir+" "+p.Text)
	}
	assert.Subset(t, reads, []string{"/tmp /srv", "/srv a", "/srv b"})
	assert.Subset(t, writes, []string{"/srv c", "/srv d"})
}

func TestTheDirectoryDecidesWhatARelativePathIs(t *testing.T) {
	for dir, want := range map[string]policy.Class{"/etc": policy.SensitiveRead, "/srv": policy.ReadOnly} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: "head ./passwd ./shadow.txt ./opasswd", Shell: "bash", Dir: dir}).Class, dir)
	}
	assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf *", Shell: "bash", Dir: "/"}).Class)
	assert.NotEqual(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf *", Shell: "bash", Dir: "/srv/app"}).Class)
}

func TestStructuredModeTakesWordsAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		program string
		args    []string
		want    policy.Class
	}{
		{"ls", []string{"-l", "$(touch x)", "a;b", "*"}, policy.ReadOnly},
		{"echo", []string{"$(touch x)"}, policy.ReadOnly},
		{"touch", []string{"x"}, policy.Write},
		{"cat", []string{"/etc/shadow"}, policy.SensitiveRead},
		{"rm", []string{"-rf", "/"}, policy.Forbidden},
		{"sh", []string{"-c", "rm -rf /"}, policy.Forbidden},
		{"/bin/ls", nil, policy.Unknown},
		{"./ls", nil, policy.Unknown},
		{"ls ", nil, policy.Unknown},
		{"ls", []string{"a\x1b[2K"}, policy.Forbidden},
		{"ls", []string{"\u200b"}, policy.Unknown},
		{"ls", []string{"\xff"}, policy.Unknown},
	} {
		assert.Equal(t, c.want, judge.Judge(judge.Request{Program: c.program, Args: c.args}).Class, "%s %q", c.program, c.args)
	}
}

func TestCRLFIsANewlineAndTheCallerRunsTheSame(t *testing.T) {
	assert.Equal(t, "ls\npwd\n", judge.Normalize("ls\r\npwd\r\n"))
	assert.Equal(t, "ls\r", judge.Normalize("ls\r"))
	assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "ls\r\npwd\r\n"}).Class)
	assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "ls\r\r\npwd"}).Class)
}

func TestOverACapAsksAndForbiddenStaysForbidden(t *testing.T) {
	many := strings.Repeat("true;", 300)
	deep := strings.Repeat("(", 36) + "ls" + strings.Repeat(")", 36)
	for name, script := range map[string]string{
		"many commands": many, "deep": deep, "long word": "echo " + strings.Repeat("a", 5000),
		"long": "echo " + strings.Repeat("a\n#", 40000), "many words": "echo" + strings.Repeat(" a", 2000),
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Unknown, r.Class, name)
		assert.True(t, r.Capped, name)
		r = judge.Judge(judge.Request{Script: "rm -rf /;" + script, Shell: "bash"})
		assert.Equal(t, policy.Forbidden, r.Class, name)
	}
	assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: many + "rm -rf /"}).Class)
}

func TestAnUnknownShellAsks(t *testing.T) {
	assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "ls", Shell: "fish"}).Class)
}

func TestNothingIsReadOnly(t *testing.T) {
	for _, s := range []string{"", "\n", "# a comment", "  \t\n"} {
		r := judge.Judge(judge.Request{Script: s})
		assert.Equal(t, policy.ReadOnly, r.Class, "%q", s)
		assert.NotEmpty(t, r.Reason)
	}
}

func TestSeverity(t *testing.T) {
	assert.True(t, policy.Unknown.Worse(policy.Write))
	assert.True(t, policy.Dangerous.Worse(policy.Unknown))
	assert.Equal(t, policy.Unknown.Rank(), policy.Class("").Rank(), "a class that nobody set counts as unknown")
}

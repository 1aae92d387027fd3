package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func capped(script string) bool {
	return judge.Judge(judge.Request{Script: script, Shell: "bash"}).Capped
}

// What may nest and what makes words is counted wherever it stands: here in a text that no shell reads.
func TestEveryOpenerAndEveryWordIsCounted(t *testing.T) {
	text := func(s string) bool { return capped("cat <<'E'\n" + s + "\nE") }
	for opener := range strings.SplitSeq("( { [ ` ? ! ~", " ") {
		assert.False(t, text(strings.Repeat(opener, 1024)), opener)
		assert.True(t, text(strings.Repeat(opener, 1025)), opener)
	}
	for word := range strings.FieldsSeq("if while until for foreach case select time coproc function else elif then") {
		assert.False(t, text(strings.Repeat(" "+word, 1024)), word)
		assert.True(t, text(strings.Repeat(" "+word, 1025)), word)
		assert.False(t, text(strings.Repeat(" "+word+"x", 1025)), word)
		assert.False(t, text(strings.Repeat("x"+word, 1025)), word)
	}
	for _, sep := range []string{" ", "\t", "\n", ";", "&", "|", ")"} {
		assert.False(t, text(strings.Repeat(sep+"if", 1024)), "%q", sep)
		assert.True(t, text(strings.Repeat(sep+"if", 1025)), "%q", sep)
	}
	for _, sep := range []string{"(", "{", "`"} { // each is one itself
		assert.False(t, text(strings.Repeat(sep+"if", 512)), sep)
		assert.True(t, text(strings.Repeat(sep+"if", 513)), sep)
	}
	for _, token := range []string{" ", "\t", "\n", ";", "&", "|", "<", ">", "$", "'", `"`} {
		assert.False(t, text(strings.Repeat(token, 4000-7)), "%q", token) // seven of them make the text
		assert.True(t, text(strings.Repeat(token, 4000-6)), "%q", token)
	}
	assert.False(t, capped("time cat <<'E'\n"+strings.Repeat(" if", 1023)+"\nE"), "the first word counts")
	assert.True(t, capped("time cat <<'E'\n"+strings.Repeat(" if", 1024)+"\nE"))
	assert.True(t, capped("#"+strings.Repeat(" if", 1025)), "the last word counts")
}

func TestEachLimitIsExact(t *testing.T) {
	for name, tc := range map[string]struct {
		of     func(n int) string
		within int
	}{
		"bytes":           {func(n int) string { return "#" + strings.Repeat("a", n-1) }, 64 << 10},
		"bytes of a word": {func(n int) string { return "echo " + strings.Repeat("a", n) }, 4 << 10},
		"quoted bytes":    {func(n int) string { return "echo '" + strings.Repeat("a", n-2) + "'" }, 4 << 10},
		"words":           {func(n int) string { return strings.Repeat("echo ", n) }, 1024},
		"commands":        {func(n int) string { return strings.Repeat(":;", n) }, 256},
		"blocks":          {func(n int) string { return strings.Repeat("( ", n) + "ls" + strings.Repeat(" )", n) }, 30},
		"sums":            {func(n int) string { return "echo $((" + strings.Repeat("- ", n) + "1))" }, 30},
		"tests":           {func(n int) string { return "[[ " + strings.Repeat("( ", n) + "-f x" + strings.Repeat(" )", n) + " ]]" }, 29},
		"braces":          {func(n int) string { return "echo " + strings.Repeat("{", n) }, 32},
		"words of braces": {func(n int) string { return "echo {" + strings.Repeat("a,", n-1) + "a}" }, 64},
		"patterns":        {func(n int) string { return "for f in " + strings.Repeat("a* ", n) + "; do :; done" }, 256},
		"files":           {func(n int) string { return "tee " + strings.Repeat("f ", n) }, 512},
		"names":           {func(n int) string { return "unset " + strings.Repeat("f ", n) }, 512},
		"scripts":         {nested, 30},
	} {
		assert.False(t, capped(tc.of(tc.within)), name)
		assert.True(t, capped(tc.of(tc.within+1)), name)
	}
	// What ends is left again: no number of siblings is deep.
	for _, src := range []string{"echo $((1));", "[[ -f x ]];", "(ls);", "ls;", "sh -c ls;", "echo $(ls);"} {
		assert.False(t, capped(strings.Repeat(src, 36)), src)
	}
}

func nested(n int) string {
	if n == 0 {
		return "ls"
	}
	return "echo $(" + nested(n-1) + ")"
}

func TestWhatIsForbiddenIsLookedForBeyondTheLimits(t *testing.T) {
	deep := func(n int) policy.Class {
		return judge.Judge(judge.Request{Script: strings.Repeat("( ", n) + "rm -rf /" + strings.Repeat(" )", n), Shell: "bash"}).Class
	}
	assert.Equal(t, policy.Forbidden, deep(38))
	assert.Equal(t, policy.Unknown, deep(39))
	late := func(n int) policy.Class {
		return judge.Judge(judge.Request{Script: strings.Repeat(":;", n) + "rm -rf /", Shell: "bash"}).Class
	}
	assert.Equal(t, policy.Forbidden, late(1023))
	assert.Equal(t, policy.Unknown, late(1024))
	assert.Len(t, judge.Judge(judge.Request{Script: strings.Repeat(":;", 300), Shell: "bash"}).Parts, 256)
}

func TestStructuredModeHasTheSameLimits(t *testing.T) {
	capped := func(args ...string) bool { return judge.Judge(judge.Request{Program: "echo", Args: args}).Capped }
	assert.False(t, capped(strings.Repeat("a", 4<<10)))
	assert.True(t, capped(strings.Repeat("a", 4<<10+1)))
	assert.False(t, capped(make([]string, 1024)...))
	assert.True(t, capped(make([]string, 1025)...))
	long := strings.Split(strings.Repeat(strings.Repeat("a", 1023)+" ", 64), " ")[:64]
	long[0] = long[0][:1023-5+1] // with the name of the program it is exactly what is looked at
	assert.False(t, capped(long...))
	long[0] += "a"
	assert.True(t, capped(long...))
}

// A pattern of one segment that is too long to be compared may be any name.
func TestALongPatternMayBeAnyName(t *testing.T) {
	for _, n := range []int{200, 300, 1100, 3000} {
		r := judge.Judge(judge.Request{Script: "cat /etc/[" + strings.Repeat("s", n) + "]hadow", Shell: "bash"})
		assert.Contains(t, r.Classes, policy.SensitiveRead, n)
	}
	assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "cat /etc/zz" + strings.Repeat("?", 254), Shell: "bash"}).Class)
	assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: "cat /etc/zz" + strings.Repeat("?", 255), Shell: "bash"}).Class)
}

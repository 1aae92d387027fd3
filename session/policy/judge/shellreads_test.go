package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What shells run, and the parser does not see: each was found by running it (package oracle).
func TestWhatShellsRunAndTheParserDoesNotSee(t *testing.T) {
	for _, tc := range []struct {
		src  string
		want policy.Class
	}{
		// Within double quotes and here-documents, single quotes inside of ${…} are text, and what is between them runs.
		{`echo "${x:-'$(touch y)'}"`, policy.Unknown},
		{`echo "${x:-'$(rm -rf /)'}"`, policy.Forbidden},
		{"echo \"${x-'`rm -rf /`'}\"", policy.Forbidden},
		{`echo "${x:-${y:-'$(rm -rf /)'}}"`, policy.Forbidden},
		{`echo "${x:-a'b'$'c'"d"'$(rm -rf /)'}"`, policy.Forbidden},
		{`echo "${x+'$(rm -rf /)'}"`, policy.Forbidden},
		{`echo "${x/a/'$(rm -rf /)'}"`, policy.Unknown},
		{`echo "${x#'$(touch y)'}"`, policy.Unknown},
		{"cat <<E\n${x:-'$(rm -rf /)'}\nE", policy.Forbidden},
		{"cat <<E\n${x:-'\\'$(rm -rf /)}\nE", policy.Unknown},
		{`echo "${x:-$'$(touch y)'}"`, policy.Unknown},
		{`echo "${x:-'${y:=$(touch y)}'}"`, policy.Unknown},
		{`echo $(( '$(rm -rf /)' ))`, policy.Forbidden},
		{`echo ${x[ '$(rm -rf /)' ]}`, policy.Unknown},
		{`echo ${x:'$(rm -rf /)'}`, policy.Unknown},
		{`cat $'\U0001F600'`, policy.Unknown},
		{`cat $'/etc/shadow\0x'`, policy.Unknown},
		{`cat $'/etc/\x073hadow'`, policy.Unknown},
		{`cat $'/etc/shadow\c\\'`, policy.Unknown},
		{`cat <$'/etc/shadow\0x'`, policy.Unknown},
		{`repeat 2 rm -rf /`, policy.Forbidden},
		{`trap reboot EXIT`, policy.Dangerous},
		{`trap 'rm -rf /' EXIT`, policy.Forbidden},
		// In backquotes within double quotes, some shells end the quotes at the first quote.
		{"echo \"`: u\"${x:-'$(rm -rf /)'}\"l`\"", policy.Unknown},
		{"echo \"`echo \"a\" b`\"", policy.Unknown},
		// Only bash reads two digits as the number of a descriptor: for the others they are one more word.
		{"uniq f 10>/dev/null", policy.Unknown},
		{"uniq f 01>/dev/null", policy.Unknown},
		// A substitution in backquotes ends at the next backquote, also in the middle of a here-document.
		{"echo `cat <<\\E\n`; rm -rf /; echo `\nE\n`", policy.Forbidden},
		{"echo `cat <<'E'\n`; touch x; echo `\nE\n`", policy.Unknown},
		{"echo \"`cat <<\\E\n`\"; rm -rf /; echo \"`\nE\n`\"", policy.Forbidden},
		{"echo `cat <<E\n`; rm -rf /; echo `\nE\n`", policy.Unknown},
		{"echo ${x:-`cat <<\\E\n`} ; rm -rf /; echo `\nE\n`", policy.Unknown},
		{"echo `cat <<\\E\n`\nrm -rf / #`\nE\n`", policy.Forbidden},
		// ksh93 ends an expansion that it does not need at a brace in backquotes.
		{"x=a; echo \"${x:-`echo '}' '$(rm -rf /)'`}\"", policy.Forbidden},
		{"x=a; echo \"$(echo \"${x:-`echo } '$(touch y)'`}\")\"", policy.Unknown},
		{"x=; echo \"${x:+`echo #} '$(touch y)'`}\"", policy.Unknown},
		// Within quotes in an expansion in quotes, bash and ksh93 leave backslashes in backquotes as they are, and mksh and zsh in arithmetic.
		{"echo \"${y-\"`echo \\\"a; rm -rf /; b\\\"`\"}\"", policy.Forbidden},
		{"cat <<A\n${y-\"`echo \\\"; touch q; \\\"`\"}\nA", policy.Unknown},
		{"echo \"${x:-a\"`echo \\\"a; touch q; b\\\"`\"b}\"", policy.Unknown},
		{"[ \"${y-\"`echo '\\$(touch q)'`\"}\" ]", policy.Unknown},
		{"echo $((\"`echo \\\"; rm -rf /; \\\"|wc -l`\"))", policy.Forbidden},
		// mksh ends a comment at the newline, also within backquotes.
		{"echo $(echo \"`true #`\nrm -rf /\n#`\n`\")", policy.Forbidden},
		{"x=$(echo \"`true $(:)\n# c`\ntouch q\n#`\n`\")", policy.Unknown},
		// ksh93 has labels.
		{"foo: rm -rf /", policy.Forbidden},
		{"! foo: bar: reboot", policy.Dangerous},
		// ksh93 joins lines in single quotes within backquotes.
		{"echo `cat '/etc/sha\\\ndow'`", policy.Unknown},
	} {
		for _, shell := range shells {
			if shell == "bash" && strings.Contains(tc.src, "uniq") {
				continue
			}
			rep := judge.Judge(judge.Request{Script: tc.src, Shell: shell})
			assert.Equal(t, tc.want, worst(tc.want, rep.Class), "%q on %q is %s (%s)", tc.src, shell, rep.Class, rep.Reason)
		}
	}
}

// The same signs without a doubt stay what they are.
func TestQuotesInExpansionsThatAreOnlyText(t *testing.T) {
	for _, src := range []string{
		`echo "${x:-'a b'}"`, `echo "${x:-a}" '$(b)'`, `echo ${x:-'a b'}`, "echo `ls | wc -l`", "echo \"`ls -l`\"", "cat <<E\n${x:-'a'} it's\nE", `echo "$(grep '$x' f)"`,
		`echo "${x:-$(grep 'a$' f)}"`, "echo \"${x:-`ls | wc -l`}\"", "echo \"`echo '}'`\"", "echo \"`echo \\$HOME`\"", "echo \"`grep '\\.' f`\"", "echo `grep -v '^ #' f`", "echo `ls # c\n`", "echo `echo $#`", "echo ${x:-`echo '}' '$(b)'`}",
	} {
		rep := judge.Judge(judge.Request{Script: src, Shell: "bash"})
		assert.Equal(t, policy.ReadOnly, rep.Class, "%q: %s", src, rep.Reason)
	}
}

func TestWhatStandsBetweenBackquotesIsReadFromItsFirstByte(t *testing.T) {
	for _, shell := range []string{"", "bash", "zsh", "dash", "mksh"} {
		verdicts(t, shell, "forbidden | echo `echo '`rm -rf /`'`")
	}
}

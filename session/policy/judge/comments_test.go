package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// All shells end a comment at the newline, whatever stands before it, and run the next line.
func TestACommentThatEndsInABackslashHidesNothing(t *testing.T) {
	for _, shell := range shells {
		for _, tc := range []struct {
			src  string
			want policy.Class
		}{
			{"ls #\\\ntouch x", policy.Unknown},
			{"ls #\\\nls", policy.Unknown},
			{"ls # a\\\n-l", policy.Unknown},
			{"ls #\\\nsudo id", policy.Privileged},
			{"ls #\\\nrm -rf /", policy.Forbidden},
			{"ls #\\\r\nrm -rf /", policy.Forbidden},
			{"#\\\nrm -rf /", policy.Forbidden},
			{"ls #\\\n#\\\nrm -rf /", policy.Forbidden},
			{"echo \"$(ls #\\\nrm -rf /\n)\"", policy.Forbidden},
			{"if ls; then #\\\nrm -rf /; fi", policy.Forbidden},
			{"f() { #\\\nrm -rf /; }; f", policy.Forbidden},
			{"sh -c 'ls #\\\nrm -rf /'", policy.Forbidden},
			{"eval 'ls #\\\nrm -rf /'", policy.Forbidden},
			{"ls # it's \\\nrm -rf / # '", policy.Forbidden},
			{"{ #\\\nls; }; touch x", policy.Unknown},
			// Nor does one begin in the middle of a word.
			{"(echo ''#; touch x\n)", policy.Unknown},
			{"echo $(echo \"\"#; rm -rf /\n)", policy.Forbidden},
			{"echo $(echo $x#; rm -rf /\n)", policy.Forbidden},
			{"echo `echo ${x}#; rm -rf /\n`", policy.Forbidden},
			{"echo $(x=$(:)#; rm -rf /\n)", policy.Forbidden},
			{"echo $(x=`:`#; rm -rf /\n)", policy.Forbidden},
			{"(echo $((1))#; rm -rf /\n)", policy.Forbidden},
			{"(echo ''\\\n#; rm -rf /\n)", policy.Forbidden},
			{"(echo ''\\ #; rm -rf /\n)", policy.Forbidden},
			{"cat <<E\n$(echo $''#; rm -rf /\n)\nE", policy.Forbidden},
			{"(echo a#; rm -rf /\n)", policy.Forbidden},
			{"(echo ''#; (echo ''#; rm -rf /\n)\n)", policy.Forbidden},
		} {
			rep := judge.Judge(judge.Request{Script: tc.src, Shell: shell})
			assert.Equal(t, tc.want, worst(tc.want, rep.Class), "%q on %q is %s (%s)", tc.src, shell, rep.Class, rep.Reason)
		}
	}
}

// worst returns want where got is at least as bad.
func worst(want, got policy.Class) policy.Class {
	if got == want || got.Worse(want) {
		return want
	}
	return got
}

func TestHashesThatAreNoCommentsChangeNothing(t *testing.T) {
	for _, src := range []string{
		"ls \\\n -l # all", "echo '# \\\n x'", "grep '^#' f \\\n | wc -l", "# first\nls \\\n -l", "awk '{ print } # x\\\n' f",
		"grep -c \"# \\\n\" f",
	} {
		rep := judge.Judge(judge.Request{Script: src, Shell: "bash"})
		assert.Equal(t, policy.ReadOnly, rep.Class, "%q: %s", src, rep.Reason)
	}
}

// Where lines of a here-document are joined, ksh93 and others disagree which line ends it.
func TestAHereDocumentWithJoinedLinesNeedsApproval(t *testing.T) {
	for _, shell := range shells {
		for _, src := range []string{"cat <<E\na\\\nE\nE", "cat <<E\nE\\\n\nE", "cat <<-E\n\ta\\\n\tE\nls\n\tE", "sh -c 'cat <<E\na\\\nE\nE'"} {
			r := judge.Judge(judge.Request{Script: src, Shell: shell})
			assert.Equal(t, policy.Unknown, r.Class, "%q for %q", src, shell)
			assert.Equal(t, "shell/heredoc", r.Rule, "%q for %q", src, shell)
		}
		r := judge.Judge(judge.Request{Script: "cat <<'E'\na\\\nE", Shell: shell})
		assert.Equal(t, policy.ReadOnly, r.Class, "quoted, for %q: %s", shell, r.Reason)
	}
}

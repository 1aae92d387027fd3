package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What a script runs and does not say is reported, so that a rule that denies by what is run can ask.
func TestWhatRunsAndIsNotSaidIsHidden(t *testing.T) {
	for _, shell := range []string{"", "bash", "zsh", "mksh", "dash"} {
		for script, want := range map[string]bool{
			`$x`: true, `"$x" a`: true, `$(cmd)`: true, `exec $x`: true, `command $x`: true, `nohup $x`: true, `sudo $x`: true,
			`eval $x`: true, `eval "a $x"`: true, `eval ls`: false, `eval 'echo $x'`: false, `eval 'eval "$x"'`: true,
			`sh -c "$x"`: true, `sh -c 'echo $x'`: false, `sh -c 'eval $x'`: true, `ssh h "$x"`: true, `ssh h ls`: false, `su -c "$x"`: true,
			`trap "$x" EXIT`: true, `trap 'ls' EXIT`: false, `alias a="$x"`: true, `alias a=ls`: false, `alias a='eval $x'`: true,
			`. ./f`: false, `. "$f"`: false, `. /dev/stdin`: true, `sh f`: false, `sh "$f"`: true, `./f`: false,
			`echo ls | sh`: true, `sh </tmp/f`: true, `sh`: false, `sh </dev/null`: false, "sh <<E\nls\nE": false, "sh <<E\n$x\nE": true, "sh <<'E'\n$x\nE": true,
			`watch "$x"`: true, `watch ls`: false, `chroot / $x`: true, `chroot / ls`: false, `tmux new "$x"`: true, `parallel "$x"`: true,
			`find . -exec $x {} +`: true, `find . -exec ls {} +`: false, `find . -name "$x"`: false, `xargs $x`: true, `xargs ls`: false,
			`awk "$x"`: true, `python3 -c "$x"`: true, `make "$x"`: true, `make all`: false, `printf %s "$x"`: false, `[ -n "$x" ]`: false,
			`ls "$x"`: false, `deploy "$x"`: false, `sudo ls "$x"`: false, `rm "$f"`: false, `ls; $x`: true, `echo "$(eval $x)"`: true,
		} {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			assert.Equal(t, want, r.Hidden, "%s: %s", shell, script)
		}
	}
	assert.True(t, judge.Judge(judge.Request{Script: `. <(cmd)`, Shell: "bash"}).Hidden)
	assert.False(t, judge.Judge(judge.Request{Program: "ls", Args: []string{"$x"}}).Hidden)
}

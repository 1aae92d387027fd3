package mcpserver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// poisonings are commands after which a harmless one does something else, in some shell or other: $DO is what it does
// then, $DIR a directory that holds programs called ls and cat which do it.
var poisonings = []string{
	"alias ls='$DO; true' cat='$DO; true' cd='$DO; true'; shopt -s expand_aliases 2>/dev/null",
	"alias -g /='; $DO' 2>/dev/null || alias echo='$DO'",
	"ls() { $DO; }",
	"cd() { $DO; command cd \"$@\"; }",
	"[() { $DO; }",
	"'['() { $DO; }",
	"pwd() { $DO; }; echo() { $DO; }; true() { $DO; }; test() { $DO; }",
	"printf() { $DO; }; cat() { $DO; }; git() { $DO; }",
	"export PATH=$DIR:$PATH",
	"PATH=$DIR:$PATH",
	"printf -v PATH %s $DIR:$PATH",
	"read PATH <<EOF\n$DIR:$PATH\nEOF",
	"for PATH in $DIR:$PATH; do :; done",
	"for PATH in $DIR; do :; done; hash -r",
	"hash -p $DIR/ls ls; hash ls=$DIR/ls",
	"PROMPT_COMMAND='$DO'",
	"PS1='$($DO)'; PS2='$($DO)'; setopt promptsubst 2>/dev/null",
	"PS4='$($DO)'; set -x",
	"trap '$DO' DEBUG",
	"trap '$DO' CHLD",
	"trap '$DO' EXIT",
	"trap '$DO' ERR RETURN",
	"shopt -s extdebug; trap '$DO; false' DEBUG",
	"export BASH_ENV=$DIR/env ENV=$DIR/env ZDOTDIR=$DIR",
	"complete -C '$DO' ls; complete -F ls -D",
	"bind -x '\"l\": $DO'; bind -x '\"\\C-m\": $DO'",
	"command_not_found_handle() { $DO; }; command_not_found_handler() { $DO; }",
	"export GIT_PAGER='$DO' PAGER='$DO' MANPAGER='$DO'",
	"export LESSOPEN='|$DO' LESSCLOSE='$DO'",
	"exec 2> >($DO; : >$DIR/ran)",
	"preexec() { $DO; }; precmd() { $DO; }; chpwd() { $DO; }; TRAPDEBUG() { $DO; }; TRAPEXIT() { $DO; }",
	"enable -n echo pwd true test '['; PATH=$DIR:$PATH",
	"disable echo pwd true test; path=($DIR $path)",
	"set -o vi; set -A PATH $DIR 2>/dev/null; typeset -x PATH=$DIR:$PATH",
	"export LD_PRELOAD=$DIR/none.so IFS=/ SHELLOPTS 2>/dev/null; export CDPATH=$DIR",
}

// reads are commands that an agent may run unasked: one on its own, and several in one, since each costs a start of programs.
var reads = []string{"ls", "ls -d /nonexistent; true; [ -f x ] || pwd; echo hi; test -d / && git --version; cd / && cat /etc/hostname"}

// What a session has run before never changes what an agent's unasked command does, in any shell. The payload works only
// once it is armed, so that it counts from the first read on.
func TestNothingThatWasAllowedMakesAnUnaskedCommandRunSomethingElse(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "dash", "busybox", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal("CI has no " + shell)
				}
				t.Skip("there is no " + shell + " here")
			}
			t.Parallel()
			poison(t, shell)
		})
	}
}

func poison(t *testing.T, shell string) {
	dir := t.TempDir()
	mark, armed, payload := filepath.Join(dir, "mark"), filepath.Join(dir, "armed"), filepath.Join(dir, "payload")
	script := fmt.Sprintf("#!/bin/sh\n[ -e %s ] && : >%s\nexit 0\n", armed, mark)
	for _, name := range []string{"payload", "ls", "cat", "git", "env", ".zshenv", "sed", "tr"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700))
	}
	as := shell
	if shell == "busybox" {
		as = "ash"
	}
	// Everything but what nobody can tell; that only where it is brought in by these.
	p := newPlace(t, "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev, shell: "+as+"}\n", `version: 1
rules:
  - name: dev-is-free
    hosts: "tier=dev"
    principals: ["role=agent"]
    classes: [read-only, write, dangerous]
    verdict: allow
    reason: "a machine to try things"
  - name: poison
    hosts: "tier=dev"
    principals: ["role=agent"]
    programs: [". *", "eval *", "alias *", "hash *", "trap *", "export *", "complete *", "bind *", "shopt *", "set *"]
    verdict: allow
    reason: "a machine to try things"
`)
	p.env = append(p.env, "SHELL=/bin/sh")
	if shell == "mksh" { // among the shells of its kind
		bin := t.TempDir()
		path, err := exec.LookPath(shell)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, "ksh")))
		p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"))
	}
	c := p.start(t, nil)
	if shell == "mksh" {
		require.Contains(t, c.exec(c.open("here"), "echo $KSH_VERSION").Stdout, "MIRBSD")
	}
	brought := 0
	for i, text := range poisonings {
		text = strings.NewReplacer("$DO", payload, "$DIR", dir).Replace(text)
		file := filepath.Join(dir, fmt.Sprintf("poison%d", i))
		require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
		ways := []string{". " + file}
		if i%3 == 0 {
			ways = append(ways, "eval '"+strings.ReplaceAll(text, "'", `'\''`)+"'")
		}
		for _, way := range ways {
			id := c.open("here")
			r := c.exec(id, way, args{"wait_s": 20, "timeout_s": 10})
			if r.State == "awaiting_approval" || r.Error != nil && r.Error.Code == "denied" {
				c.call("session_close", args{"session_id": id})
				continue
			}
			brought++
			if strings.Contains(text, ">(") && r.Status == "ok" { // that runs at once, beside the shell
				require.Eventually(t, func() bool { return os.Remove(filepath.Join(dir, "ran")) == nil }, 20*time.Second, time.Millisecond)
			}
			require.NoError(t, os.WriteFile(armed, nil, 0o600))
			for _, read := range reads {
				r := c.exec(id, read, args{"wait_s": 20, "timeout_s": 10})
				require.Equal(t, "done", r.State, "%s: then %s: %s", way, read, r.Raw)
				assert.NotEqual(t, "lost", r.Status, "%s: then %s: %s", way, read, r.Raw)
				if !assert.NoFileExists(t, mark, "%s: then %s: %s", way, read, r.Raw) {
					os.Remove(mark)
				}
			}
			require.NoError(t, os.Remove(armed))
			c.call("session_close", args{"session_id": id})
			os.Remove(mark)
		}
	}
	assert.GreaterOrEqual(t, brought, len(poisonings), "they are brought in")
}

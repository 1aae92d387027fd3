package programs_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Programs put together by chance from pieces that make a file: what is judged a read makes none, in any awk that is
// installed.
func TestNoAwkWritesWhereThisReaderSawARead(t *testing.T) {
	var awks [][]string
	for _, awk := range [][]string{{"mawk"}, {"gawk"}, {"busybox", "awk"}, {"original-awk"}} {
		if _, err := exec.LookPath(awk[0]); err == nil {
			awks = append(awks, awk)
		}
	}
	if len(awks) == 0 {
		needs.Part(t, "no awk")
	}
	r := rand.New(rand.NewPCG(3, 5))
	pieces := []string{`"`, `/`, `/`, "[", "]", "\\", ";", "\n", "{", "}", "(", ")", `system("echo >M")`, ` > "M"`, `print `, `print 1 > "M"`,
		`"x" | "cat > M"`, `"echo >M" | getline`, "#", "x", "1", "+", "++", "--", "$", "$1", "if (1) ", "else ", "for(;i++<2;) ", " in ", "a[1]", "length ",
		"~", "!", "=", ",", "?", ":", "BEGIN", "END", "function f(x) ", "return ", "getline ", "\\\n", "/=", "print /x/", ">", "|", "e", ".", "0x"}
	dir := t.TempDir()
	made := filepath.Join(dir, "M")
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	reads := 0
	for range rounds {
		var b strings.Builder
		b.WriteString([]string{"BEGIN{", "{", ""}[r.IntN(3)])
		for range 1 + r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteString([]string{"}", ""}[r.IntN(2)])
		script := b.String()
		if !strings.Contains(script, "M") || programs.Judge(programs.Call{Name: "awk", Args: []programs.Arg{{Text: script, Literal: true}}}).Class != policy.ReadOnly {
			continue
		}
		reads++
		for _, awk := range awks {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			cmd := exec.CommandContext(ctx, awk[0], append(awk[1:], script)...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("a b c\n1 2 3\n")
			_ = cmd.Run()
			cancel()
			_, err := os.Stat(made)
			require.ErrorIs(t, err, os.ErrNotExist, "%v writes for %q", awk, script)
		}
	}
	t.Logf("%d programs were reads", reads)
}

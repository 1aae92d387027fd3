package judge_test

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

var (
	traceRuns = flag.Int("judge.runs", 60, "how many allowed commands TestWhatIsAllowedChangesNothing runs per shell")
	traceSeed = flag.Uint64("judge.seed", 1, "which commands it makes up")
)

// realShell is a shell on this machine, and what the judge calls it.
type realShell struct {
	name string
	argv []string
}

var realShells = []realShell{
	{"bash", []string{"bash", "--norc", "--noprofile", "-c"}},
	{"zsh", []string{"zsh", "-f", "-c"}},
	{"dash", []string{"dash", "-c"}},
	{"ash", []string{"busybox", "sh", "-c"}},
}

// pieces are put into commands: whatever slips through touches a file named pwned, and nothing else.
var pieces = []string{
	";", "\n", "\r\n", "&&", "||", "|", "&", "|&", "$(touch pwned)", "`touch pwned`", "; touch pwned", "\ntouch pwned", "> pwned", ">>pwned",
	">|pwned", ">! pwned", "&>pwned", "<>pwned", "2>pwned", " -o pwned", " --output=pwned", " -opwned", "'", "\"", "\\", "{", "}", "{a,b}", "(", ")",
	"#", "$'\\x3b'", "<<E\n", "\nE\n", "=ls", "*(e:'touch pwned':)", "!", "!!", "$x", "${x:=y}", "${x@P}", "$((", "))", "$[1]", "[", "]", "[[", "]]",
	" -exec touch pwned ;", "touch pwned", "eval touch pwned", "\\\n", "$\\\n(touch pwned)", "-v 'a[$(touch pwned)]'", " x=1 ", "PATH=. ", "~", "*", "?",
	"<(touch pwned)", ">(touch pwned)", "=(touch pwned)", " | tee pwned", " | xargs touch", " | sh", " w pwned", " | sed 'w pwned'",
	" | awk '{print > \"pwned\"}'", " | sort -o pwned", "if ", " then ", " fi", "for x in ", "; do ", " done", "case ", " esac", "f() ", "time ", "! ", "command ",
	"env ", "nice ", "timeout 1 ", "xargs ", "find . ", "-delete", "sort ", "echo ", "cat ", "printf ", "%n", "test ", "{ ", " }", "|| touch pwned",
}

// tooReal are words that no run of this test may hold, whatever the judge says.
var tooReal = regexp.MustCompile(`\b(rm|mv|dd|mkfs\S*|reboot|shutdown|halt|poweroff|kill|pkill|killall|chmod|chown|shred|wipefs|sysrq\S*|mount|umount|init|su|sudo|crontab|systemctl|docker|kubectl|curl|wget|nc|ssh|apt\S*|dpkg|rpm|yum|top|vmstat|iostat|while|until|sleep|lsof)\b|/dev/[^n]`)

// allowedCorpus returns commands that are likely to be allowed, and commands that nearly are.
func allowedCorpus(t *testing.T) []string {
	var out []string
	for _, c := range rows(t) {
		if c.verdict == policy.Allow || c.verdict == policy.Ask && strings.Contains(c.command, "pwned") {
			if !tooReal.MatchString(c.command) {
				out = append(out, c.command)
			}
		}
	}
	return out
}

func mutate(r *rand.Rand, corpus []string) string {
	s := corpus[r.IntN(len(corpus))]
	for range r.IntN(4) {
		i := r.IntN(len(s) + 1)
		switch r.IntN(4) {
		case 0, 1:
			s = s[:i] + pieces[r.IntN(len(pieces))] + s[i:]
		case 2:
			j := min(len(s), i+1+r.IntN(4))
			s = s[:i] + s[j:]
		default:
			s += pieces[r.IntN(len(pieces))] + corpus[r.IntN(len(corpus))]
		}
	}
	return s
}

func TestWhatIsAllowedChangesNothing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "strace is needed to show that allowed commands change nothing")
		t.Skip("strace is not installed")
	}
	corpus := allowedCorpus(t)
	for _, sh := range realShells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(sh.argv[0]); err != nil {
				require.Empty(t, os.Getenv("CI"), "%s is needed", sh.argv[0])
				t.Skipf("%s is not installed", sh.argv[0])
			}
			r := rand.New(rand.NewPCG(*traceSeed, uint64(len(sh.name))))
			ran, tried := 0, 0
			for ran < *traceRuns && tried < 400**traceRuns {
				var script string
				if script = mutate(r, corpus); tried < len(corpus) && ran < *traceRuns/3 {
					script = corpus[tried]
				}
				tried++
				if tooReal.MatchString(script) {
					continue
				}
				rep := judge.Judge(judge.Request{Script: script, Shell: sh.name})
				if rep.Class != policy.ReadOnly {
					continue
				}
				ran++
				runTraced(t, strace, sh, judge.Normalize(script))
			}
			t.Logf("%d runs of %d candidates", ran, tried)
		})
	}
}

func runTraced(t *testing.T, strace string, sh realShell, script string) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "1\n", "f": "x y\n", "f.txt": "a|b > c\n", "x.json": "{}\n", "names.txt": "b\na\n", "list.txt": "a\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	log := filepath.Join(t.TempDir(), "trace")
	before := snapshot(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	args := append([]string{"-f", "-qq", "-o", log, "-e",
		"trace=open,openat,openat2,creat,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat," +
			"truncate,ftruncate,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,utimensat,setxattr,connect", "--"}, sh.argv...)
	cmd := exec.CommandContext(ctx, strace, append(args, script)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // what it answers is its own affair
	trace, err := os.ReadFile(log)
	require.NoError(t, err)
	for line := range bytes.Lines(trace) {
		if changes(string(line)) {
			assert.Failf(t, "an allowed command changed something", "%s: %q\n%s", sh.name, script, line)
		}
	}
	assert.Equal(t, before, snapshot(t, dir), "%s: %q left traces", sh.name, script)
}

var syscallLine = regexp.MustCompile(`^\d+\s+(\w+)\((.*)\)\s+= (-?\d+)`)

// changes reports whether a traced system call changed something outside /dev and /proc, or connected to a network.
func changes(line string) bool {
	m := syscallLine.FindStringSubmatch(line)
	if m == nil {
		return false // unfinished, a signal, the end of a process
	}
	name, args, failed := m[1], m[2], strings.HasPrefix(m[3], "-")
	if name == "connect" {
		return strings.Contains(args, "AF_INET")
	}
	if failed {
		return false
	}
	switch name {
	case "open", "openat", "openat2":
		if !strings.Contains(args, "O_WRONLY") && !strings.Contains(args, "O_RDWR") && !strings.Contains(args, "O_CREAT") && !strings.Contains(args, "O_TRUNC") {
			return false
		}
	}
	for _, inert := range []string{`"/dev/`, `"/proc/`, `"/tmp/zsh`, `"/tmp/sh-thd`} { // the last two: where shells keep here-documents
		if strings.Contains(args, inert) {
			return false
		}
	}
	return true
}

func snapshot(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[p] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			out[p] += string(text)
			return err
		}
		return nil
	}))
	return out
}

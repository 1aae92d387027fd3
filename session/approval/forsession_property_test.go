package approval_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// pieces are what random commands are made of: spellings of the approved words, arguments, and all that makes more of a
// command than it says.
var (
	spellings = []string{"svctool", "svctool", "svctool", `"svctool"`, `'svctool'`, `s\vctool`, "SVCTOOL", "./svctool", "svctool2", "env svctool", "sudo svctool", "command svctool", "exec svctool", "A=1 svctool", "! svctool", "time svctool", "eval svctool"}
	verbs     = []string{"restart", "restart", "restart", `"restart"`, `re'start'`, "stop", "restarter", "-x restart", "$v", "re*", "${v:-restart}", "{restart,stop}"}
	arguments = []string{
		"", "nginx", "a b", "-f", "--", "'a b'", `"x"`, `\ `, "a=b", "ü", "%1", "@x", "+x", "./x", "a:b", "1>&2", "*", "?", "[a-z]*", "~", "=ls", "{a,b}", "!!", "^a^b", "$HOME", `"$v"`, "$(touch made)", "`touch made`", "<(touch made)",
		"${x:=y}", "$((1))", "$'a\\nb'", "#x", "# touch made", "> made", ">made", "2>made", ">>made", "< /dev/null", "<<<x", "&> made", "a\\", "a\\\n", "'a\nb'", "\t",
	}
	joints = []string{
		"", "", "", "", "", "", ";", "; touch made", "\ntouch made", "\n", "&", "& touch made", "&& touch made", "|| touch made", "| touch made", "|& touch made", " # x\ntouch made", " #\\\ntouch made", "\r\ntouch made", "\rtouch made",
		"\\\ntouch made", ") touch made", "<<E\n$(touch made)\nE", "\x00", "\u2028touch made", "\u00a0touch made",
	}
	heads = []string{"", "", "", "", "", "", "cd /; ", "cd / && ", "touch made; ", "svctool() { touch made; }; ", "alias svctool='touch made'\n", "PATH=. ", "export PATH=.; ", "(", "{ ", "if ", "# x\n", "set -x; ", "trap 'touch made' EXIT; ", "\n", " ", "\t"}
)

func randomCommand(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	text := pick(heads) + pick(spellings) + " " + pick(verbs)
	for range r.IntN(3) {
		text += " " + pick(arguments)
	}
	return text + pick(joints)
}

// runsOnly reports what a command does in a shell where nothing but svctool and touch exists: the words of every svctool
// that ran, and whether anything else was done.
func runsOnly(t *testing.T, shell, command string) (calls [][]string, else_ bool) {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	log := filepath.Join(bin, "log")
	sh, err := exec.LookPath("dash")
	if err != nil {
		sh = "/bin/sh"
	}
	program := func(name, mark string) {
		text := "#!" + sh + "\n{ printf '%s\\0' " + mark + ` "$@"; printf '\036'; } >>'` + log + "'\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755))
	}
	program("svctool", "svctool")
	program("touch", "touch")
	cmd := exec.CommandContext(t.Context(), shell, "-c", command)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "v=stop"}
	_ = cmd.Run()
	text, _ := os.ReadFile(log)
	for call := range strings.SplitSeq(strings.TrimSuffix(string(text), "\036"), "\036") {
		if call != "" {
			calls = append(calls, strings.Split(strings.TrimSuffix(call, "\x00"), "\x00"))
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	return calls, len(left) > 0
}

// An approval for a session never allows a command that it does not name: what it covers is, in every shell, one run of the
// program with the approved words first, and nothing else.
func TestAnApprovalForASessionNeverCoversWhatItDoesNotName(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var shells []string
	for _, name := range []string{"bash", "dash", "zsh", "mksh", "ksh"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		} else if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
	}
	prefix := []string{"svctool", "restart"}
	d := newDesk(t, approval.Config{})
	judged := func(q policy.Question) policy.Question {
		dec, err := rules.New(rules.Config{}).Decide(t.Context(), policy.Request{Principal: q.Principal, Host: q.Host, Shell: q.Shell, Command: q.Command, Dir: q.Dir, Interactive: q.Interactive})
		require.NoError(t, err)
		q.Decision = dec
		return q
	}
	first := judged(inSession("svctool restart nginx"))
	exact := judged(inSession("svctool stop && touch x"))
	p := forSession(t, d, first, approval.Scope{Prefix: prefix})
	e := forSession(t, d, exact, approval.Scope{})

	places := []func(q *policy.Question){
		func(q *policy.Question) { q.Session = "s_2" }, func(q *policy.Question) { q.Session = "" }, func(q *policy.Question) { q.Principal = "agent/y" },
		func(q *policy.Question) { q.Dir = "/" }, func(q *policy.Question) { q.Host = hosts.Host{Name: "web2", Addr: "10.0.0.1", Tier: "dev"} },
		func(q *policy.Question) { q.Host.User = "root" }, func(q *policy.Question) { q.Interactive = true }, func(q *policy.Question) { q.Decision.Rests = "svctool" },
		func(q *policy.Question) { q.Sandbox = "b_1" }, func(q *policy.Question) { q.StdinSHA256 = "00" },
	}
	covered := map[string]bool{}
	for range 20_000 {
		q := inSession(randomCommand(r))
		if r.IntN(50) == 0 {
			q.Command = []string{first.Command, exact.Command}[r.IntN(2)]
		}
		q = judged(q)
		elsewhere := r.IntN(4) == 0
		if elsewhere {
			places[r.IntN(len(places))](&q)
		}
		a, ok := d.ForSession(q)
		switch {
		case !ok:
			assert.False(t, !elsewhere && (q.Command == first.Command || q.Command == exact.Command), "%q is what was approved", q.Command)
		case elsewhere:
			t.Errorf("%q is covered at another place: %+v", q.Command, q)
		case q.Decision.Verdict != policy.Ask:
			t.Errorf("%q is %s", q.Command, q.Decision.Verdict)
		case a.ID == e.ID:
			assert.Equal(t, exact.Command, q.Command)
		default:
			assert.Equal(t, p.ID, a.ID)
			covered[q.Command] = true
		}
	}
	all := slices.Sorted(func(yield func(string) bool) {
		for c := range covered {
			if !yield(c) {
				return
			}
		}
	})
	require.NotEmpty(t, all, "some commands are what was approved")
	for _, command := range all {
		for _, shell := range shells {
			calls, more := runsOnly(t, shell, command)
			ok := !more && len(calls) == 1 && len(calls[0]) >= len(prefix) && slices.Equal(calls[0][:len(prefix)], prefix)
			assert.True(t, ok, "%s runs %s for %q", filepath.Base(shell), fmt.Sprintf("%q", calls), command)
		}
	}
	t.Logf("%d commands of the prefix, in %d shells", len(all), len(shells))
}

package ssh_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Whole processes, with the policy and the audit file that users have: the program as it is built, one real sshd that has a
// hundred addresses, a keeper, and OpenSSH's masters beside it. Each benchmark takes turns with what it compares to.

// BenchmarkRunOfOneHost is `fairlead run HOST -- true`, against `ssh HOST true` over the master of a connection: with pauses, as
// people and agents run them, and one right after the other.
func BenchmarkRunOfOneHost(b *testing.B) {
	w := newWarm(b, 1)
	ours := func() { w.fairlead("run", "node001", "--", "true") }
	theirs := func() { w.ssh("node001", "true") }
	for range 5 {
		ours()
		theirs()
	}
	var paced, rows, peer, peerRows, ratios, rowRatios []float64
	for b.Loop() {
		for range 5 {
			t, o := took(10, 100*time.Millisecond, theirs), took(10, 100*time.Millisecond, ours)
			tr, or := took(10, 0, theirs), took(10, 0, ours)
			paced, peer, ratios = append(paced, o), append(peer, t), append(ratios, o/t)
			rows, peerRows, rowRatios = append(rows, or), append(peerRows, tr), append(rowRatios, or/tr)
		}
	}
	report(b, "paced-ms", paced)
	report(b, "ssh-paced-ms", peer)
	report(b, "paced/ssh", ratios)
	report(b, "unpaced-ms", rows)
	report(b, "ssh-ms", peerRows)
	report(b, "unpaced/ssh", rowRatios)
}

// BenchmarkRunOfAHundredHosts is `fairlead run all -- uname -a` on a hundred warm hosts, against clush with connections of its own,
// and over masters.
func BenchmarkRunOfAHundredHosts(b *testing.B) {
	if _, err := exec.LookPath("clush"); err != nil {
		needs.Part(b, "clush (package clustershell) is not installed")
	}
	const fleet = 100
	w := newWarm(b, fleet)
	ours := func() {
		out := w.fairlead("run", "all", "--", "uname -a")
		require.Equal(b, fleet, strings.Count(out, " | Linux "), out)
	}
	clush := func(options string) func() {
		return func() {
			out := w.command("clush", "-f", "64", "-w", "node[001-100]", "-o", options, "uname -a")
			require.Equal(b, fleet, strings.Count(out, ": Linux "), out)
		}
	}
	cold, over := clush("-F "+w.config+" -o ControlPath=none"), clush("-F "+w.config)
	for range 3 {
		ours()
	}
	var own, alone, masters, byCold, byMasters, ofKeeper, ofClient []float64
	for b.Loop() {
		var runs []float64
		for range 5 {
			w.settle()
			before, _ := w.cpu()
			runs = append(runs, took(1, 0, ours))
			after, client := w.cpu()
			ofKeeper, ofClient = append(ofKeeper, (after-before)*1e6/fleet), append(ofClient, client*1e6/fleet)
		}
		w.settle()
		slices.Sort(runs)
		o, c, m := runs[len(runs)/2], took(1, 0, cold), took(3, 0, over)
		own, alone, masters = append(own, o), append(alone, c), append(masters, m)
		byCold, byMasters = append(byCold, c/o), append(byMasters, m/o)
	}
	report(b, "ms", own)
	report(b, "clush-ms", alone)
	report(b, "clush-masters-ms", masters)
	report(b, "clush/ours", byCold)
	report(b, "clush-masters/ours", byMasters)
	report(b, "keeper-cpu-µs/host", ofKeeper)
	report(b, "client-cpu-µs/host", ofClient)
}

// took runs f n times, with a pause before each, and returns the median of what it took in milliseconds.
func took(n int, pause time.Duration, f func()) float64 {
	all := make([]float64, n)
	for i := range all {
		time.Sleep(pause)
		began := time.Now()
		f()
		all[i] = time.Since(began).Seconds() * 1e3
	}
	slices.Sort(all)
	return all[n/2]
}

// report reports the median of what one run saw.
func report(b *testing.B, unit string, values []float64) {
	slices.Sort(values)
	b.ReportMetric(values[len(values)/2], unit)
	b.ReportMetric(0, "ns/op") // of everything together: it says nothing
}

// warm is a fleet of addresses of one sshd, a keeper that is connected to them, and an OpenSSH master for each.
type warm struct {
	b         *testing.B
	home      string
	program   string
	config    string // of ssh
	inventory string
	used      time.Duration // the processor time of the last command
}

func newWarm(b *testing.B, fleet int) *warm {
	if _, err := exec.LookPath("ssh"); err != nil {
		needs.Part(b, "ssh is not installed")
	}
	sshd := sessiontest.OpenSSHD(b, "ListenAddress 0.0.0.0")
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(b, err)
	home, err := os.MkdirTemp("", "fl") // not b.TempDir: a socket's name has 103 bytes at most
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(home) })
	w := &warm{b: b, home: home, program: fairleadtest.Compiled(b, fairleadtest.Source), config: filepath.Join(home, "ssh_config"), inventory: filepath.Join(home, "inventory.yaml")}
	write := func(path, text string) { require.NoError(b, os.WriteFile(path, []byte(text), 0o600)) }
	write(filepath.Join(home, "known_hosts"), fmt.Sprintf("[127.0.0.*]:%s %s", port, ssh.MarshalAuthorizedKey(sshd.HostKey)))
	var text strings.Builder
	for i := range fleet {
		fmt.Fprintf(&text, "Host node%03d\n\tHostName 127.0.0.%d\n", i+1, i+1)
	}
	fmt.Fprintf(&text, "Host *\n\tPort %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s/known_hosts\n\tGlobalKnownHostsFile none\n"+
		"\tControlPath %s/ctl-%%n\n\tBatchMode yes\n", port, sshd.User, sshd.KeyFile, home, home)
	write(w.config, text.String())
	write(w.inventory, fmt.Sprintf("version: 1\nhosts:\n  - {name: \"node[001-%03d]\", ssh_config: %s, tier: dev}\n", fleet, w.config))

	places := listen.Places{Socket: filepath.Join(home, "fairlead", "keeper.sock")}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), fairleadtest.AwaitAtMost)
		defer cancel()
		require.NoError(b, reach.Stop(ctx, places))
	})
	w.fairlead("run", "all", "--", "true")
	for i := range fleet {
		name := fmt.Sprintf("node%03d", i+1)
		b.Cleanup(func() { exec.Command("ssh", "-F", w.config, "-O", "exit", name).Run() })
		w.ssh("-M", "-N", "-f", "-o", "ControlPersist=no", name)
	}
	return w
}

// fairlead runs our program, and returns what it prints.
func (w *warm) fairlead(args ...string) string {
	return w.command(w.program, append([]string{"-i", w.inventory}, args...)...)
}

func (w *warm) ssh(args ...string) { w.command("ssh", append([]string{"-F", w.config}, args...)...) }

func (w *warm) command(program string, args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "XDG_RUNTIME_DIR=" + w.home, "TERM=dumb", "FAIRLEAD_KEEPER=require"}
	var out, errOut bytes.Buffer
	cmd.Stdout = &out
	if program != "ssh" || !slices.Contains(args, "-f") { // a master keeps it open
		cmd.Stderr = &errOut
	}
	require.NoError(w.b, cmd.Run(), "%s %s", args, &errOut)
	w.used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return out.String()
}

// settle waits until the shells that a run has used are gone, and those for the next one are there: the hosts of this fleet are one
// machine, which would be busy with that while it is measured. Each shell has a pseudoterminal.
func (w *warm) settle() {
	var last []os.DirEntry
	for calm, end := 0, time.Now().Add(time.Minute); calm < 5 && time.Now().Before(end); calm++ {
		time.Sleep(200 * time.Millisecond)
		now, _ := os.ReadDir("/dev/pts")
		if !slices.EqualFunc(last, now, func(a, b os.DirEntry) bool { return a.Name() == b.Name() }) {
			calm = 0
		}
		last = now
	}
}

// cpu is the processor time, in seconds, that the keeper has used until now, and that the last command has.
func (w *warm) cpu() (ofKeeper, last float64) {
	c := client.New(client.Config{Socket: filepath.Join(w.home, "fairlead", "keeper.sock")})
	defer c.Close()
	h, err := c.Health(w.b.Context())
	require.NoError(w.b, err)
	// Ten fields before utime and stime stand behind the name, which is in parentheses.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.PID))
	if err != nil {
		return 0, w.used.Seconds()
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var u, s float64
	fmt.Sscan(fields[11], &u)
	fmt.Sscan(fields[12], &s)
	return (u + s) / 100, w.used.Seconds()
}

package session_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Every benchmark here compares two things in one run, over OpenSSH's sshd on loopback, and reports the ratio.

// recorded is a configuration as programs use it: a policy and an audit file.
func recorded(b *testing.B) session.Config {
	f, err := audit.Open(b.TempDir()+"/audit", audit.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	return session.Config{Policy: policy.AllowAll, Audit: f}
}

// median runs f n times.
func median(n int, f func()) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2]
}

// BenchmarkWarmRun is the round trip of `true` through everything, against a bare printf typed at a shell on a terminal
// of the same connection.
func BenchmarkWarmRun(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b)
	tr := dial(b, sshd.ClientKey, sshd.HostKeys(b), sshd.Host(b, "sshd"))
	s, err := session.Open(tr, hosts.Host{Name: "sshd", Shell: "bash"}, recorded(b))
	require.NoError(b, err)
	defer s.Close()
	bare, err := tr.Open(b.Context(), session.Program{Line: `exec bash -c 'while IFS= read -r l; do eval "$l"; done'`})
	require.NoError(b, err)
	defer bare.Close()
	buf := make([]byte, 4096)
	roundTrip := func() {
		io.WriteString(bare, "printf endmark\n")
		for got := buf[:0]; !bytes.Contains(got, []byte("endmark")); {
			n, err := bare.Read(buf[len(got):])
			require.NoError(b, err)
			got = buf[:len(got)+n]
		}
	}
	run := func() {
		if r, err := s.Run(b.Context(), session.Command{Script: "true"}); err != nil || r.Status != session.StatusOK {
			b.Fatal(r.Status, err)
		}
	}
	median(100, roundTrip)
	median(100, run)
	var ratios, warm, plain []float64
	for b.Loop() {
		// In short turns: a machine that others use too is faster at one time than at another.
		for range 30 {
			p, w := median(100, roundTrip), median(100, run)
			plain, warm, ratios = append(plain, float64(p.Nanoseconds())/1e3), append(warm, float64(w.Nanoseconds())/1e3), append(ratios, float64(w)/float64(p))
		}
	}
	report(b, "bare-µs", plain)
	report(b, "run-µs", warm)
	report(b, "run/bare", ratios)
}

// report reports the median of what one run saw.
func report(b *testing.B, unit string, values []float64) {
	slices.Sort(values)
	b.ReportMetric(values[len(values)/2], unit)
}

// BenchmarkOneOff is a command in a shell of its own, against ssh(1) over the master of a connection that there is: with pauses, as
// people and agents run them, and one right after the other.
func BenchmarkOneOff(b *testing.B) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(b, "ssh is not installed")
	}
	sshd := sessiontest.OpenSSHD(b)
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(b, err)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	cfg := recorded(b)
	cfg.Policy, cfg.Principal = rules.New(rules.Config{}), "operator/bench" // the policy that people have
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: cfg})
	require.NoError(b, err)
	defer pool.Close()
	ctl := sshd.Dir + "/ctl"
	over := []string{"-F", sshd.Config, "-p", port, "-o", "BatchMode=yes", "-o", "ControlPath=" + ctl}
	master := exec.Command(client, append(over, "-M", "-N", "-f", "-o", "ControlPersist=no", "sshd")...)
	out, err := master.CombinedOutput()
	require.NoError(b, err, "%s", out)
	defer exec.Command(client, append(over, "-O", "exit", "sshd")...).Run()
	h := sshd.Host(b, "sshd")
	h.Shell = "bash"
	ours := func() {
		if r, err := pool.Run(b.Context(), h, session.Command{Script: "true"}); err != nil || r.Status != session.StatusOK {
			b.Fatal(r.Status, err)
		}
	}
	theirs := func() {
		if out, err := exec.Command(client, append(over, "sshd", "true")...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	paced := func(n int, f func()) time.Duration {
		took := make([]time.Duration, n)
		for i := range took {
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			f()
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[n/2]
	}
	ours()
	ours()
	theirs()
	var own, peer, ratios, rows []float64
	for b.Loop() {
		for range 5 {
			t, o, row := paced(10, theirs), paced(10, ours), median(10, ours)
			own, peer, ratios = append(own, o.Seconds()*1e3), append(peer, t.Seconds()*1e3), append(ratios, float64(o)/float64(t))
			rows = append(rows, row.Seconds()*1e3)
		}
	}
	report(b, "paced-ms", own)
	report(b, "unpaced-ms", rows)
	report(b, "ssh-ms", peer)
	report(b, "paced/ssh", ratios)
}

// BenchmarkStdout is the time for standard output through the decoder, against the same bytes through a raw terminal.
func BenchmarkStdout(b *testing.B) {
	const size = 64 << 20
	sshd := sessiontest.OpenSSHD(b)
	tr := dial(b, sshd.ClientKey, sshd.HostKeys(b), sshd.Host(b, "sshd"))
	s, err := session.Open(tr, hosts.Host{Name: "sshd", Shell: "bash"}, recorded(b))
	require.NoError(b, err)
	defer s.Close()
	script := fmt.Sprintf("head -c %d /dev/zero", size)
	raw := func() {
		st, err := tr.Open(b.Context(), session.Program{Line: script})
		require.NoError(b, err)
		defer st.Close()
		n, _ := io.CopyBuffer(io.Discard, struct{ io.Reader }{st}, make([]byte, 64<<10))
		require.EqualValues(b, size, n)
	}
	decoded := func() {
		r, err := s.Run(b.Context(), session.Command{Script: script, Stdout: io.Discard})
		require.NoError(b, err)
		require.EqualValues(b, size, r.StdoutBytes)
	}
	raw()
	decoded()
	var rate, ratios []float64
	for b.Loop() {
		r, d := median(3, raw), median(3, decoded)
		rate, ratios = append(rate, size/1e6/d.Seconds()), append(ratios, float64(r)/float64(d))
	}
	report(b, "MB/s", rate)
	report(b, "decoded/raw", ratios)
}

// BenchmarkIdleSession is what one more idle session costs in the controller, its connection included.
func BenchmarkIdleSession(b *testing.B) {
	const count = 50
	srv := sessiontest.OpenSSHD(b)
	measure := func() uint64 {
		for range 6 { // stacks shrink by half with each
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	d, err := sshconn.Static([]ssh.Signer{srv.ClientKey}, srv.HostKeys(b))
	require.NoError(b, err)
	var each []float64
	for b.Loop() {
		before := measure()
		var open []io.Closer
		for range count {
			tr, err := d.Dial(b.Context(), srv.Host(b, "sshd"))
			require.NoError(b, err)
			s, err := session.Open(tr, hosts.Host{Name: "sshd", Shell: "bash"}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
			require.NoError(b, err)
			_, err = s.Run(b.Context(), session.Command{Script: "true"})
			require.NoError(b, err)
			open = append(open, s, tr)
		}
		each = append(each, float64(measure()-before)/1024/count)
		for _, c := range open {
			c.Close()
		}
	}
	report(b, "KiB/session", each)
}

// cpu is the processor time of this process, or of its ended children.
func cpu(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkColdConnect is the processor time of a connection and one command, against that of ssh(1).
func BenchmarkColdConnect(b *testing.B) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(b, "ssh is not installed")
	}
	const count = 20
	sshd := sessiontest.OpenSSHD(b)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(b, err)
	ours := func() {
		tr, err := d.Dial(b.Context(), sshd.Host(b, "sshd"))
		require.NoError(b, err)
		defer tr.Close()
		s, err := session.Open(tr, hosts.Host{Name: "sshd"}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
		require.NoError(b, err)
		defer s.Close()
		_, err = s.Run(b.Context(), session.Command{Script: "true"})
		require.NoError(b, err)
	}
	theirs := func() {
		out, err := exec.Command(client, "-F", sshd.Config, "-p", port, "-o", "BatchMode=yes", "sshd", "true").CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
	ours()
	theirs()
	var own, peer, ratios []float64
	for b.Loop() {
		before := cpu(syscall.RUSAGE_SELF)
		for range count {
			ours()
		}
		o := cpu(syscall.RUSAGE_SELF) - before
		before = cpu(syscall.RUSAGE_CHILDREN)
		for range count {
			theirs()
		}
		t := cpu(syscall.RUSAGE_CHILDREN) - before
		own, peer, ratios = append(own, o.Seconds()*1e3/count), append(peer, t.Seconds()*1e3/count), append(ratios, float64(o)/float64(t))
	}
	report(b, "own-cpu-ms", own)
	report(b, "ssh-cpu-ms", peer)
	report(b, "own/ssh", ratios)
}

// BenchmarkHundredHosts runs `uname -a` on 100 warm sessions of 100 addresses at once, against one of them alone.
func BenchmarkHundredHosts(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b, "ListenAddress 0.0.0.0")
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(b, err)
	keys, err := knownhosts.Static(knownhosts.StaticKey{Host: "[127.0.1.*]:" + port, Key: sshd.HostKey})
	require.NoError(b, err)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, keys)
	require.NoError(b, err)
	sessions := make([]*session.Session, 100)
	cfg := recorded(b)
	for i := range sessions {
		h := sshd.Host(b, fmt.Sprintf("h%d", i))
		h.Addr = fmt.Sprintf("127.0.1.%d", i+1)
		tr, err := d.Dial(b.Context(), h)
		require.NoError(b, err)
		defer tr.Close()
		sessions[i], err = session.Open(tr, h, cfg)
		require.NoError(b, err)
		defer sessions[i].Close()
	}
	run := func(s *session.Session) {
		if r, err := s.Run(context.Background(), session.Command{Script: "uname -a"}); err != nil || r.Status != session.StatusOK {
			b.Error(r.Status, err)
		}
	}
	for _, s := range sessions { // one after the other: the shells of 100 hosts share two cores here
		run(s)
	}
	all := func() {
		done := make(chan struct{}, len(sessions))
		for _, s := range sessions {
			go func() { run(s); done <- struct{}{} }()
		}
		for range sessions {
			<-done
		}
	}
	all()
	var hundred, ratios []float64
	for b.Loop() {
		a, one := median(5, all), median(20, func() { run(sessions[0]) })
		hundred, ratios = append(hundred, a.Seconds()*1e3), append(ratios, float64(a)/float64(one))
	}
	report(b, "ms/100-hosts", hundred)
	report(b, "100-hosts/one", ratios)
}

// Most of a test's time is waiting for another process, so that more of them run at once than there are processors.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // before the command line, which wins
	goleak.VerifyTestMain(m)
}

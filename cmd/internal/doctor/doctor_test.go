package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestTerminalsAreToldBeforeThereAreNone(t *testing.T) {
	for name, tt := range map[string]struct {
		nr, most string
		want     Status // "" is that nothing is said
	}{
		"few": {"3", "4096\n", OK}, "many": {"3300", "4096", Warn}, "all": {"4096", "4096", Fail}, "more than all": {"5000", "4096", Fail},
		"no number": {"x", "4096", ""}, "no file": {"", "4096", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.nr != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "nr"), []byte(tt.nr), 0o600))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "max"), []byte(tt.most), 0o600))
			all := ptys(dir)
			if tt.want == "" {
				assert.Empty(t, all)
				return
			}
			require.Len(t, all, 1)
			assert.Equal(t, tt.want, all[0].Status)
			assert.Equal(t, tt.want != OK, all[0].Next != "")
		})
	}
}

func TestWhatAHostPrintsIsTold(t *testing.T) {
	begun := time.Unix(1_800_000_000, 500_000_000)
	const heading = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
	for name, tt := range map[string]struct {
		stdout string
		mode   string
		want   string // statuses of shell, clock, bubblewrap and space
		says   []string
	}{
		"all is well":    {"shell=bash\nclock=1800000001\nbwrap=yes\n" + heading + "/dev/sda1 100 1 20000000 1% /\n", "live", "ok ok ok ok", []string{"bash on a terminal", "installed", "19 GiB"}},
		"another clock":  {"shell=\nclock=1800000100\nbwrap=no\n" + heading + "tmpfs 100 1 20000000 1% /tmp\n", "live", "ok warn ok ok", []string{"sh on", "1m38s ahead of", "checked, and not enforced"}},
		"one behind":     {"shell=zsh\nclock=1799990000\nbwrap=no\n" + heading + "tmpfs 100 1 20000000 1% /tmp\n", "lines", "warn warn ok ok", []string{"line by line", "behind"}},
		"little space":   {"shell=ksh\nclock=1800000000\nbwrap=yes\n" + heading + "tmpfs 100 1 2000 1% /tmp\n", "live", "ok ok ok warn", []string{"only 2000 KiB"}},
		"a broken host":  {"date: not found\n", "live", "ok warn ok warn", []string{"date printed no time", "df printed no figure"}},
		"a hostile host": {"shell=\x1b[31mbash\nclock=99999999999999999999\nbwrap=maybe\na b c -5 e f\n", "live", "ok warn ok warn", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Options{Now: time.Now}
			var got, said []string
			for _, c := range o.around(session.Result{Stdout: []byte(tt.stdout), StderrMode: tt.mode, Started: begun, Duration: 2 * time.Second}) {
				got, said = append(got, string(c.Status)), append(said, c.Detail)
			}
			assert.Equal(t, tt.want, strings.Join(got, " "))
			text := strings.Join(said, "\n")
			for _, s := range tt.says {
				assert.Contains(t, text, s)
			}
			assert.NotContains(t, text, "\x1b")
		})
	}
}

func FuzzAround(f *testing.F) {
	f.Add([]byte("shell=bash\nclock=1\nbwrap=yes\n/dev/sda1 100 1 20000000 1% /\n"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		o := &Options{Now: time.Now}
		all := o.around(session.Result{Stdout: stdout, StderrMode: "live"})
		require.Len(t, all, 4)
		for _, c := range all {
			assert.NotContains(t, c.Detail, "\n")
			assert.NotContains(t, c.Detail, "\x1b")
		}
	})
}

func TestTheStepThatFailedIsNamedAndThoseBeforeItAreWell(t *testing.T) {
	wrong := errors.New("no")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"a setting":       {&sshconn.Error{Err: wrong}, "fail config"},
		"the name":        {&sshconn.Error{Addr: "x:22", Step: sshconn.StepResolve, Err: wrong}, "fail resolve"},
		"the network":     {&sshconn.Error{Addr: "x:22", Step: sshconn.StepReach, Err: wrong}, "ok resolve, fail tcp"},
		"the greeting":    {&sshconn.Error{Addr: "x:22", Step: sshconn.StepGreet, Err: wrong}, "ok resolve, ok tcp, fail greeting"},
		"the exchange":    {&sshconn.Error{Addr: "x:22", Step: sshconn.StepExchange, Err: wrong}, "ok resolve, ok tcp, ok greeting, fail key exchange"},
		"the host's key":  {&sshconn.Error{Addr: "x:22", Step: sshconn.StepHostKey, Err: wrong}, "ok resolve, ok tcp, ok greeting, ok key exchange, fail host key"},
		"the login":       {&sshconn.Error{Addr: "x:22", Step: sshconn.StepLogin, Err: wrong}, "ok resolve, ok tcp, ok greeting, ok key exchange, ok host key, fail login"},
		"at a jump host":  {&sshconn.Error{Hop: "bastion", Addr: "x:22", Step: sshconn.StepLogin, Err: wrong}, "ok resolve, ok tcp, ok greeting, ok key exchange, ok host key, fail login"},
		"no key is lent":  {&session.NoLoginError{Reason: "none"}, "fail login"},
		"no SSH":          {wrong, "fail connect"},
		"wrapped in ours": {fmt.Errorf("x: %w", &sshconn.Error{Step: sshconn.StepReach, Err: wrong}), "ok resolve, fail tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range unconnected(hosts.Host{Name: "web1"}, tt.err) {
				got = append(got, string(c.Status)+" "+c.Name)
				assert.Equal(t, c.Status == Fail, c.Next != "", c.Name)
			}
			assert.Equal(t, tt.want, strings.Join(got, ", "))
		})
	}
}

func TestADirectoryIsTriedAndLeftAsItWas(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"as it should be":  {func(*testing.T, string) {}, "ok"},
		"open to others":   {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o755)) }, "fail ok"},
		"not there yet":    {func(t *testing.T, dir string) { require.NoError(t, os.Remove(dir)) }, "ok"},
		"no directory":     {func(t *testing.T, dir string) { require.NoError(t, os.Remove(dir)); write(t, dir, "x", 0o600) }, "fail"},
		"no way to get in": {func(t *testing.T, dir string) { require.NoError(t, os.Remove(dir)); write(t, dir, "x", 0o600) }, "fail"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			require.NoError(t, os.Mkdir(dir, 0o700))
			tt.prepare(t, dir)
			at := dir
			if strings.HasPrefix(name, "no way") {
				at = filepath.Join(dir, "below")
			}
			var got []string
			for _, c := range directory("audit log", at, Fail) {
				got = append(got, string(c.Status))
			}
			assert.Equal(t, tt.want, strings.Join(got, " "))
			if left, err := os.ReadDir(dir); err == nil {
				assert.Empty(t, left)
			}
		})
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), mode))
}

func TestTheAgentSaysHowManyKeysItHolds(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl") // the name of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	listen := func(name string, serve func(net.Conn)) string {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				serve(c)
				c.Close()
			}
		}()
		t.Cleanup(func() { l.Close(); <-done })
		return l.Addr().String()
	}
	empty := listen("empty", func(c net.Conn) { _ = agent.ServeAgent(agent.NewKeyring(), c) })
	other := listen("other", func(c net.Conn) { fmt.Fprint(c, "220 mail\r\n") })
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	for socket, want := range map[string]Status{"": OK, empty: Warn, other: Fail, stale: Fail, filepath.Join(dir, "none"): Fail} {
		o := &Options{Getenv: func(string) string { return socket }}
		all := o.agent(t.Context())
		require.Len(t, all, 1, socket)
		assert.Equal(t, want, all[0].Status, "%q: %s", socket, all[0].Detail)
		assert.Equal(t, want != OK, all[0].Next != "", socket)
	}
}

func TestKeysAreLookedAtAndNotShown(t *testing.T) {
	dir := t.TempDir()
	open, bad, gone := filepath.Join(dir, "open"), filepath.Join(dir, "bad"), filepath.Join(dir, "gone")
	write(t, open, "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n", 0o644)
	write(t, bad, "no key, but secret", 0o600)
	var b strings.Builder
	all := keys(map[string]bool{open: true, bad: true, gone: true, filepath.Join(dir, "default"): false})
	for _, c := range all {
		fmt.Fprintln(&b, c.Status, c.Detail)
	}
	assert.Len(t, all, 3, "of a default file that is not there nothing is said")
	assert.NotContains(t, b.String(), "secret")
	assert.Contains(t, b.String(), "warn "+gone+": there is no such file")
}

func TestEveryErrorIsALineOfItsOwn(t *testing.T) {
	err := &cmdutil.UsageError{Err: errors.Join(errors.New("a:1: x"), errors.Join(errors.New("a:2: y"), errors.New("a:3: z\nand more")))}
	var got []string
	for _, c := range each(err, func(err error) Check { return fail("policy", "", "%s", why(err)) }) {
		got = append(got, c.Detail)
	}
	assert.Equal(t, []string{"a:1: x", "a:2: y", "a:3: z; and more"}, got)
	assert.Len(t, each(fmt.Errorf("wrapped: %w", err.Err), func(err error) Check { return fail("x", "", "%s", why(err)) }), 1)
}

func TestPrintedForPeopleForPipesAndForPrograms(t *testing.T) {
	c := fail("chain", "look", "it is %s", "damaged")
	c.Host = "web1"
	print := func(change func(*iostreams.IOStreams, *printer)) (string, int) {
		ios, _, out, _ := iostreams.Test()
		p := &printer{io: ios, counts: map[Status]int{}}
		change(ios, p)
		p.print(c)
		code, err := p.end()
		require.NoError(t, err)
		return out.String(), code
	}
	text, code := print(func(*iostreams.IOStreams, *printer) {})
	assert.Equal(t, "fail\tweb1\tchain\tit is damaged\tlook\n", text)
	assert.Equal(t, 1, code)
	text, _ = print(func(ios *iostreams.IOStreams, _ *printer) { ios.OutTTY, ios.NoColor = true, true })
	assert.Equal(t, "fail  web1 chain      it is damaged → look\n", text)
	text, _ = print(func(ios *iostreams.IOStreams, _ *printer) { ios.OutTTY = true })
	assert.True(t, strings.HasPrefix(text, "\x1b[31mfail\x1b[0m  "), text)
	text, _ = print(func(_ *iostreams.IOStreams, p *printer) { p.json = true })
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	var check Check
	require.NoError(t, dec.Decode(&check))
	assert.Equal(t, c, check)
	var end struct{ Summary summary }
	require.NoError(t, dec.Decode(&end))
	assert.Equal(t, summary{Fail: 1, ExitCode: 1}, end.Summary)
}

func TestFlagsSayWhereToLook(t *testing.T) {
	for name, tt := range map[string]struct {
		argv []string
		want Options
		err  string
	}{
		"here":                  {},
		"there":                 {argv: []string{"web*", "-x", "web1", "--connect-timeout", "2s", "--json"}, want: Options{Selector: "web*", Except: "web1", ConnectTimeout: 2 * time.Second, JSON: true}},
		"nowhere":               {argv: []string{""}, err: "the selector is empty: leave it out, or name hosts"},
		"two":                   {argv: []string{"a", "b"}, err: "doctor takes at most one selector, got 2 arguments"},
		"nothing to leave out":  {argv: []string{"-x", "a"}, err: "--except, --connect-timeout and the options of ssh go with hosts"},
		"a time that is no one": {argv: []string{"a", "--connect-timeout", "-1s"}, err: "--connect-timeout must be between 0 and 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, _ := iostreams.Test()
			var got *Options
			cmd := NewCmd(&cmdutil.Factory{IO: ios}, func(_ context.Context, o *Options) error {
				got = o
				return nil
			})
			cmd.SetArgs(append([]string{}, tt.argv...))
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(t.Context())
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, Options{Selector: got.Selector, Except: got.Except, ConnectTimeout: got.ConnectTimeout, JSON: got.JSON})
		})
	}
}

func TestTheMachineIsLookedAt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	o := &Options{Now: time.Now}
	box := o.sandbox(t.Context())
	require.Len(t, box, 1)
	assert.NotEqual(t, Fail, box[0].Status)
	require.NotEmpty(t, o.openFiles(t.Context()))
	if runtime.GOOS == "linux" {
		assert.NotEmpty(t, o.terminals(t.Context()))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAKeeperThatIsNotThereIsNoMistake(t *testing.T) {
	dir := t.TempDir()
	none, dead := listen.Places{Socket: filepath.Join(dir, "none")}, listen.Places{Socket: filepath.Join(dir, "dead")}
	write(t, dead.Socket, "", 0o600)
	for name, tt := range map[string]struct {
		places listen.Places
		err    error
		want   Status
		next   string
	}{
		"none":  {none, fmt.Errorf("%w at x", reach.ErrNone), OK, ""},
		"dead":  {dead, fmt.Errorf("%w at x", reach.ErrNone), Warn, "nothing: the next one that starts replaces it"},
		"stuck": {dead, fmt.Errorf("%w within 10s: kill -9 7 ends it", reach.ErrStuck), Fail, "kill -9 7 ends it"},
		"other": {listen.Places{Socket: dead.Socket, Log: "/k.log"}, errors.New("keeper: no"), Fail, "see /k.log"},
	} {
		c := noKeeper(tt.places, config.Auto, tt.err)
		assert.Equal(t, tt.want, c.Status, name)
		assert.Equal(t, tt.next, c.Next, name)
	}
}

func TestARecordThatIsTooLongIsReadAtItsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ID: "e_1", Host: "web1"}))
	require.NoError(t, f.Close())
	o := &Options{Now: time.Now}
	assert.Equal(t, ok("chain", "whole: 1 entry; 1 request without a result"), o.chain(dir, 1<<20))
	assert.Contains(t, o.chain(dir, 10).Detail, "its end can be read; fairlead audit verify looks at all of its ")
	o.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	assert.Equal(t, Warn, o.chain(dir, 1<<20).Status, "a record from the future")
	file := filepath.Join(dir, "000001.jsonl")
	require.NoError(t, os.Truncate(file, 20))
	assert.Equal(t, Fail, o.chain(dir, 1<<20).Status)
}

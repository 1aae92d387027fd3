package framing

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
)

// Update makes tests write what they compare with.
var Update = flag.Bool("update", false, "write what the tests compare with")

var perl = []string{"perl"}

type hostFile struct {
	name   string
	sent   func() string // nil: it is only a part of others
	max    int           // bytes that are sent of it
	shells []string
	parts  []string // names and files
}

// hostFiles are all files of the directory host. The sizes are those of the texts as they were when each was one literal, and no
// more: what is sent for every shell is what its start takes. That of read_bootstrap.sh is: it saves thousands of system calls. So is
// that of driver_call.sh, which leaves a command's trap on EXIT its streams, that of driver_posix.sh, without which a limit has busybox
// run for ever, and that of supervisor.pl, which knows a shell that was stopped from one that has ended, and undoes modes of the terminal
// that would change the next command.
var hostFiles = []hostFile{
	{"loader.sh", loaderText, 113, hostcodetest.All, nil},
	{"read_bootstrap.sh", readBootstrapText, 330, hostcodetest.All, nil},
	{"bootstrap.sh", bootstrapText, 2450, hostcodetest.All, []string{"environment", "environment.sh", "pick_shell", "pick_shell.sh", "supervise", "supervise.sh", "forget_shell", ""}},
	{"bootstrap.sh", bootstrapCleanText, 2500, hostcodetest.All, []string{"environment", "environment_clean.sh", "pick_shell", "pick_shell.sh", "supervise", "supervise.sh", "forget_shell", "forget_shell.sh"}},
	{"environment.sh", nil, 570, hostcodetest.All, nil},
	{"environment_clean.sh", nil, 640, hostcodetest.All, nil},
	{"pick_shell.sh", nil, 840, hostcodetest.All, nil},
	{"forget_shell.sh", nil, 11, hostcodetest.All, nil},
	{"supervise.sh", nil, 511, hostcodetest.All, nil},
	{"shell_clean.sh", shellCleanText, 9, hostcodetest.All, nil},
	{"driver.sh", driverText, 6177, hostcodetest.All, []string{"driver_bash", "driver_bash.sh", "driver_zsh", "driver_zsh.sh", "driver_ksh", "driver_ksh.sh",
		"driver_mksh", "driver_mksh.sh", "driver_ksh93", "driver_ksh93.sh", "driver_posix", "driver_posix.sh"}},
	{"driver_bash.sh", nil, 680, []string{"bash"}, nil},
	{"driver_zsh.sh", nil, 742, []string{"zsh"}, nil},
	{"driver_ksh.sh", nil, 130, []string{"mksh", "ksh93"}, nil},
	{"driver_mksh.sh", nil, 660, []string{"mksh"}, nil},
	{"driver_ksh93.sh", nil, 190, []string{"ksh93"}, nil},
	{"driver_posix.sh", nil, 524, []string{"sh", "dash", "busybox"}, nil},
	{"driver_call.sh", driverCallText, 303, hostcodetest.All, nil},
	{"supervisor.pl", perlSupervisorText, 2370, perl, []string{"hold_begin", "", "hold_child", "", "hold_told", "", "hold_calls", "", "hold_over", ""}},
	{"supervisor.pl", perlSupervisorHeldText, 3945, perl, []string{"hold_begin", "hold_begin.pl", "hold_child", "hold_child.pl", "hold_told", "hold_told.pl",
		"hold_calls", "hold_calls.pl", "hold_over", "hold_over.pl"}},
	{"hold_begin.pl", nil, 960, perl, nil},
	{"hold_child.pl", nil, 300, perl, nil},
	{"hold_told.pl", nil, 640, perl, nil},
	{"hold_calls.pl", nil, 160, perl, nil},
	{"hold_over.pl", nil, 360, perl, nil},
	{"hold_pick.sh", holdPickText, 420, hostcodetest.All, nil},
	{"hold_begin.py", pythonHoldBeginText, 2000, []string{"python3"}, nil},
	{"supervisor.py", pythonSupervisorText, 4640, []string{"python3"}, nil},
	{"supervisor.sh", shellSupervisorText, 1170, hostcodetest.All, nil},
	{"feeder.sh", feederText, 1120, hostcodetest.All, nil},
	{"feeder.pl", perlFeederText, 318, perl, nil},
	{"start_feeder.sh", startFeederText, 80, hostcodetest.All, nil},
	{"descendants.sh", nil, 420, hostcodetest.All, nil},
	{"hearing.sh", nil, 142, hostcodetest.All, nil},
	{"signal.sh", signalText, 650, hostcodetest.All, []string{"descendants", "descendants.sh", "hearing", "hearing.sh"}},
	{"interrupt.sh", interruptText, 985, hostcodetest.All, []string{"descendants", "descendants.sh", "hearing", "hearing.sh"}},
	{"unheard.sh", unheardText, 715, hostcodetest.All, []string{"descendants", "descendants.sh"}},
	{"leaves.sh", leavesText, 800, hostcodetest.All, []string{"descendants", "descendants.sh"}},
	{"kill.sh", killText, 430, hostcodetest.All, []string{"descendants", "descendants.sh"}},
	{"trace.sh", traceText, 16, hostcodetest.All, nil},
	{"trace_after_failure.sh", traceAfterFailureText, 63, hostcodetest.All, nil},
	{"refresh.sh", refreshText, 85, hostcodetest.All, nil},
	{"snapshot.sh", snapshotText, 40, hostcodetest.All, nil},
	{"unframed.sh", unframedText, 1700, hostcodetest.All, []string{"environment", "environment.sh", "pick_shell", "pick_shell.sh", "forget_shell", ""}},
	{"unframed.sh", unframedCleanText, 1800, hostcodetest.All, []string{"environment", "environment_clean.sh", "pick_shell", "pick_shell.sh", "forget_shell", "forget_shell.sh"}},
}

func readHostFile(t *testing.T, name string) string {
	if name == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join("host", name))
	require.NoError(t, err)
	return string(text)
}

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	t.Parallel()
	for _, f := range hostFiles {
		t.Run(strings.Join(append([]string{f.name}, f.parts...), ","), func(t *testing.T) {
			t.Parallel()
			var pairs []string
			for i := 0; i < len(f.parts); i += 2 {
				pairs = append(pairs, f.parts[i], readHostFile(t, f.parts[i+1]))
			}
			source := hostcode.Fill(readHostFile(t, f.name), pairs...)
			sent := hostcode.Shell(source)
			if f.sent != nil {
				sent = f.sent()
			}
			hostcodetest.Check(t, hostcodetest.File{Name: f.name, Source: source, Sent: sent, Max: f.max, Shells: f.shells})
		})
	}
}

func TestEveryHostFileIsTested(t *testing.T) {
	all, err := os.ReadDir("host")
	require.NoError(t, err)
	for _, e := range all {
		if strings.HasSuffix(e.Name(), ".md") {
			continue
		}
		known := slices.ContainsFunc(hostFiles, func(f hostFile) bool { return f.name == e.Name() })
		assert.True(t, known, e.Name())
	}
}

// A name that a part of the driver gives to another is sent as the same one.
func TestPartsOfTheDriverAgreeOnNames(t *testing.T) {
	short := map[string]string{}
	for _, f := range hostFiles {
		for name, s := range hostcode.Names(readHostFile(t, f.name)) {
			if strings.HasPrefix(f.name, "driver") || strings.HasPrefix(f.name, "trace") {
				if other, known := short[name]; known {
					assert.Equal(t, other, s, "%s in %s", name, f.name)
				}
				short[name] = s
			}
		}
	}
}

// What is sent to start a shell, to the byte. A change of it is seen here; its sizes are what a start costs.
func TestWhatStartsAShellIsSentAsBefore(t *testing.T) {
	var nonce Token
	copy(nonce[:], "abcdefghijkABCDEFGHIJK")
	for name, sh := range map[string]Shell{
		"usual": {Name: "bash"},
		"clean": {Name: "zsh", Clean: true, Env: []string{"A=b c"}},
		"held":  {Name: "dash", Hold: `"by a test"`},
		"login": {Login: true, Dir: "/a'b", Env: []string{"A=1", "B=x y"}, Prelude: "f() { :; }\n", Reader: "hexdump"},
	} {
		text, err := Bootstrap(nonce, sh)
		require.NoError(t, err)
		golden(t, "bootstrap_"+name, string(text))
	}
	text, err := BootstrapPython(nonce, Shell{Name: "dash", HoldPython: "by = 'a'\nb", WatchPython: "c"})
	require.NoError(t, err)
	golden(t, "bootstrap_held_python", string(text))
	golden(t, "loader", Loader(nonce))
	golden(t, "feeder", string(FeedScript(nonce, false)))
	golden(t, "signal", Signal(4711, "TERM"))
	golden(t, "interrupt", Signal(4711, "INT"))
	golden(t, "interrupt_alone", Interrupt(4711, Mksh))
	golden(t, "unheard", Unheard(4711))
	golden(t, "leaves", Leaves(4711))
	golden(t, "kill", Kill(4711))
	golden(t, "snapshot", SnapshotScript(Bash))
}

// golden compares text with a file in testdata/sent.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "sent", name+".txt")
	if *Update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "go test ./framing -run %s -update, if that is meant", t.Name())
}

// Login shells of all kinds read these: one line, and nothing that ends or changes the quotes around it.
func TestLinesForLoginShellsHoldNothingThatOneOfThemExpands(t *testing.T) {
	for _, text := range []string{Loader(NewToken()), Signal(1, "INT"), Signal(1, "TERM"), Signal(1, ""), Interrupt(1, Bash), Interrupt(1, POSIX), Unheard(1), Kill(1)} {
		assert.NotContains(t, text, "\n")
		assert.NotContains(t, text, `\`)
		assert.NotContains(t, strings.ReplaceAll(text, " != ", ""), "!")
		assert.Equal(t, 2, strings.Count(text, "'"), text)
		assert.NotRegexp(t, `@[a-z0-9_]+@`, text, "a value is missing")
	}
}

// The terminal is made raw in the same way by the loader, by the driver and by a repair.
func TestTheTerminalIsMadeRawInOneWay(t *testing.T) {
	const raw = "stty raw -echo isig -iexten noflsh"
	for _, text := range []string{loaderText(), driverText(), Repair} {
		assert.Contains(t, text, raw)
	}
}

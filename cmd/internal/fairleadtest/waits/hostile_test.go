package waits_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// hostile is what a host may print in order to write over the lines of others, as printf takes it.
var hostile = map[string]string{
	"erases the line":     `x\033[2K\rweb2 | FORGED\n`,
	"goes up":             `x\033[3A\rFORGED\033[3B\n`,
	"goes home":           `\033[H\033[2JFORGED\n`,
	"goes to a row":       `\033[2;1HFORGED\n\0337\033[1;1HFORGED\0338\n`,
	"reverse line feed":   `\033M\033M\033MFORGED\n`,
	"resets the terminal": `\033cFORGED\n`,
	"another screen":      `\033[?1049hFORGED\n`,
	"a scrolling region":  `\033[1;3r\033[1;1HFORGED\n`,
	"scrolls":             `\033[5T\033[5LFORGED\n`,
	"title and clipboard": `\033]0;FORGED\007\033]52;c;QUJD\033\\\n`,
	"device control":      `\033P+q544e\033\\\033_FORGED\033\\\n`,
	"backspaces":          `\010\010\010\010\010\010\010FORGED\n`,
	"carriage returns":    `one\rFORGED\r\n`,
	"vertical tabs":       `a\013b\014FORGED\n`,
	"C1":                  `\2333A\302\233` + `3AFORGED\302\205FORGED\n`,
	"character sets":      `\016\033(0FORGED\n`,
	"colours":             `\033[31;8mFORGED\n`,
	"no end":              `\033[`,
	"an open string":      `\033]0;`,
	"a forged prefix":     `web2 | FORGED\nweb2 + FORGED\n`,
	"a forged group":      `== web2 (1 host): FORGED\n-- stderr\n`,
	"a wrapped prefix":    `%0200dweb2 | FORGED\n`,
	"wide letters":        `\346\274\242\346\274\242\346\274\242\346\274\242\346\274\242\346\274\242\346\274\242%070dweb2 | FORGED\n`,
	"writing order":       `\342\200\256FORGED\342\200\250FORGED\n`,
}

// canary is on the terminal before the program runs.
const canary = "$ first line\r\n$ second line\r\n$ third line\r\n"

const ptyCols, ptyRows = 80, 400

// fleetHome has an inventory of two hosts, and of one that prints a banner instead of being a shell.
type fleetHome struct {
	dir string
	env []string
}

func newFleetHome(t *testing.T, mode string) *fleetHome {
	t.Helper()
	var dir string
	if mode == "off" {
		dir = t.TempDir()
	} else {
		dir, _ = fairleadtest.KeeperHome(t)
	}
	banner := filepath.Join(dir, "banner")
	inventory := `version: 1
hosts:
  - {name: web1, transport: command, tier: dev, command: [env, WHO=web1, sh]}
  - {name: web2, transport: command, tier: dev, command: [env, WHO=web2, sh]}
  - {name: bad, transport: command, tier: dev, command: [sh, -c, "cat ` + banner + ` >&2; cat ` + banner + `; exit 1"]}
`
	file := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(file, []byte(inventory), 0o600))
	return &fleetHome{dir: dir, env: []string{
		fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "SHELL=/bin/sh", "TERM=xterm-256color", "LANG=C.UTF-8",
		"FAIRLEAD_KEEPER=" + mode, "FAIRLEAD_INVENTORY=" + file,
	}}
}

func (h *fleetHome) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("fairlead", args...)
	cmd.Env = h.env
	return cmd
}

// onPTY runs the program with its streams on a terminal, and returns what came to it.
func (h *fleetHome) onPTY(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := h.command(t, args...)
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: ptyRows, Cols: ptyCols})
	require.NoError(t, err)
	defer master.Close()
	late := time.AfterFunc(fairleadtest.AwaitAtMost, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, master) // ends with EIO
	_ = cmd.Wait()
	return seen.Bytes()
}

// rows is what a terminal shows after the canary and data.
func rows(data []byte) []string {
	p := emulate.Render(screen.Picture{Cols: ptyCols, Rows: ptyRows}, append([]byte(canary), data...))
	if p.Modes.Alternate {
		return []string{"another screen"}
	}
	return p.Main.Lines
}

// ownLines fails unless the canary is as it was, and nothing but colours and Fairlead's own status line is obeyed.
func ownLines(t *testing.T, data []byte) []string {
	t.Helper()
	all := rows(data)
	require.GreaterOrEqual(t, len(all), 3, "%q", data)
	assert.Equal(t, strings.Split(strings.TrimSuffix(strings.ReplaceAll(canary, "\r", ""), "\n"), "\n"), all[:3], "%q", data)
	left := statusLine.ReplaceAll(data, nil)
	left = colour.ReplaceAll(left, nil)
	left = bytes.ReplaceAll(left, []byte("\r\n"), []byte("\n"))
	for i, c := range left {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			assert.Failf(t, "a control character is obeyed", "%q in %q", c, left[max(0, i-40):min(len(left), i+40)])
			break
		}
	}
	assert.NotRegexp(t, "[\u0080-\u009f]", string(left))
	return all[3:]
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;:]*m")
	// It is only ever erased, or drawn to be erased.
	statusLine = regexp.MustCompile("(?:[0-9]+/[0-9]+ done[^\r\n\x1b]*)?\r\x1b\\[K")
)

// Whatever web1 prints, each row that it fills begins with its name, and the row of web2 is web2's.
func TestNoHostWritesOnTheRowOfAnother(t *testing.T) {
	t.Parallel()
	h := newFleetHome(t, "off")
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			script := fmt.Sprintf(`if [ "$WHO" = web1 ]; then printf '%s'; printf '%s' >&2; else echo good; fi`, text, text)
			own := 0
			for _, row := range ownLines(t, h.onPTY(t, "run", "web1,web2", "--yes", "--", script)) {
				assert.Regexp(t, `^(web1 [|+] .*|web2 \| good|)$`, row)
				if row == "web2 | good" {
					own++
				}
			}
			assert.Equal(t, 1, own)
			own = 0
			for _, row := range ownLines(t, h.onPTY(t, "run", "web1,web2", "--fold", "--yes", "--", script)) {
				assert.Regexp(t, `^(  .*|== web[12] \(1 host\): ok|-- stderr|)$`, row)
				if row == "  good" || row == "== web2 (1 host): ok" {
					own++
				}
			}
			assert.Equal(t, 2, own)
		})
	}
	t.Run("raw output and pipes are exact", func(t *testing.T) {
		all := strings.Join(slices.Sorted(maps.Values(hostile)), "")
		exact, err := exec.Command("printf", all).Output()
		require.NoError(t, err)
		out, err := h.command(t, "run", "web1", "--yes", "--", "printf '"+all+"'").Output()
		require.NoError(t, err)
		assert.Equal(t, exact, out)
		shown := string(h.onPTY(t, "run", "web1,web2", "--raw", "--yes", "--", "printf '"+all+"'"))
		for line := range bytes.Lines(exact) {
			assert.Contains(t, shown, string(bytes.TrimSuffix(line, []byte("\n"))))
		}
	})
}

// A host that never ends its line costs no memory, and its rows are its own.
func TestALineOfTenMegabytesIsBroken(t *testing.T) {
	t.Parallel()
	h := newFleetHome(t, "off")
	long, most := 10_000_000, int64(150<<10)
	switch {
	case needs.Detector:
		long, most = 1_000_000, 1<<20 // the detector multiplies time and memory
	case needs.Sample:
		long = 2_000_000
	}
	script := fmt.Sprintf(`if [ "$WHO" = web1 ]; then head -c %d /dev/zero | tr '\0' x; else echo good; fi`, long)
	var peak int64
	for _, how := range []string{"--", "--fold"} {
		args := []string{"run", "web1,web2", "--yes", how}
		if how != "--" {
			args = append(args, "--")
		}
		cmd := h.command(t, append(args, script)...)
		master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: ptyCols})
		require.NoError(t, err)
		late := time.AfterFunc(fairleadtest.AwaitAtMost, func() { _ = cmd.Process.Kill() })
		in, xs, goods, rows := bufio.NewReader(master), 0, 0, 0
		for {
			line, err := in.ReadString('\n')
			line = strings.TrimRight(string(statusLine.ReplaceAll(colour.ReplaceAll([]byte(line), nil), nil)), "\r\n")
			if ours := strings.HasPrefix(line, "fairlead: "); !ours && !assert.LessOrEqual(t, len(line), ptyCols, "%q", line) {
				break
			}
			xs += strings.Count(line, "x")
			if strings.HasSuffix(line, "good") {
				goods++
			}
			if how == "--" {
				assert.Regexp(t, `^(web1 [|+] x+|web2 \| good|)$`, line)
			}
			if rows++; rows%500 == 0 {
				peak = max(peak, highWater(cmd.Process.Pid))
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait()
		late.Stop()
		master.Close()
		assert.Equal(t, 1, goods)
		if how == "--" {
			assert.Equal(t, long, xs)
		}
	}
	assert.Less(t, peak, most, "KiB")
	if _, err := os.Stat("/proc/self/status"); err == nil {
		assert.Positive(t, peak)
	}
}

// highWater is the most memory that a process had since its program began, in KiB, or 0 once it has ended. What the system says of one
// that was waited for counts the memory of this test too, from which it was forked.
func highWater(pid int) (kib int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	_, _ = fmt.Sscan(rest, &kib)
	return kib
}

// What hosts and agents make Fairlead show elsewhere: names of directories, commands, reasons, banners.
func TestNothingThatIsListedMovesTheCursor(t *testing.T) {
	t.Parallel()
	h := newFleetHome(t, "require")
	const evil = "\x1b[2A\rFORGED\x1b]52;c;QUJD\a\u009b3A\x9bA\x0b\x7f\u2028"
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "banner"), []byte(evil), 0o600))
	dir := filepath.Join(h.dir, "d"+evil)
	require.NoError(t, os.Mkdir(dir, 0o700))

	// A session in a directory of that name, and a command that has it in its text.
	ownLines(t, h.onPTY(t, "exec", "-s", "box", "web1", "--yes", "--", "cd "+filepath.Join(h.dir, "d*")))
	ownLines(t, h.onPTY(t, "run", "web1,web2", "--yes", "--", "ls -d '"+dir+"'"))

	// An agent's command is pending. Control characters in it are refused.
	agent := h.command(t, "exec", "web2", "--reason", "why \u202eFORGED\u2028", "--", "touch 'web1 | FORGED\n== web1: ok "+strings.Repeat("x", 100)+"'")
	// A shell starts it, which counts as the program that hosts the agent: this test ends the keeper.
	agent.Args = append([]string{"sh", "-c", `CLAUDECODE=1 "$0" "$@"; exit`}, agent.Args...)
	agent.Path = "/bin/sh"
	said, err := agent.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, agent.Start())
	defer func() { _ = agent.Process.Kill(); _ = agent.Wait() }()
	for lines := bufio.NewScanner(said); lines.Scan() && !strings.Contains(lines.Text(), "waiting for an approval"); {
	}
	var id string
	require.Eventually(t, func() bool { // it is said to wait a moment before it is listed
		pending, err := h.command(t, "approvals", "list").Output()
		id = regexp.MustCompile(`a_[a-z0-9]+`).FindString(string(pending))
		return err == nil && id != ""
	}, fairleadtest.AwaitAtMost, 50*time.Millisecond)

	fixed := strings.Fields
	for _, args := range [][]string{
		fixed("sessions"), fixed("approvals list"), fixed("approvals show " + id), fixed("approvals reject " + id),
		fixed("audit tail -n 100"), fixed("audit search"), fixed("audit verify"), fixed("hosts list"), fixed("hosts show web1"),
		fixed("doctor bad"), fixed("hosts ping bad"), fixed("run bad -- true"), fixed("run bad,web1 --fold -- true"), fixed("exec bad -- true"),
		fixed("jobs start bad -- true"), fixed("jobs list"),
		{"policy", "check", "--", "ls", evil}, {evil}, {"help", evil}, {"hosts", evil}, {"run", evil, "--", "true"}, {"run", "web1", "--" + evil}, {"sessions", "close", evil},
		{"approvals", "show", evil}, {"jobs", "output", evil}, {"jobs", "output", "web1/" + evil}, {"exec", "web1", "-s", evil, "--", "true"}, {"setup", evil},
		{"hosts", "show", evil}, {"audit", "show", evil}, {"run", "web1", "--timeout", evil, "--", "true"}, {"run", "web1", "--script", evil}, {"-i", evil, "hosts", "list"},
		{"audit", "tail", "--dir", evil}, {"run", "web1", "--policy", evil, "--", "true"}, {"audit", "export", "--json", "-o", "/nowhere/" + evil}, {"--keeper", evil, "sessions"},
	} {
		name := strings.ReplaceAll(strings.Join(args, " "), evil, "EVIL")
		t.Run(strings.ReplaceAll(name, id, "ID"), func(t *testing.T) {
			assert.NotEmpty(t, ownLines(t, h.onPTY(t, args...)))
		})
	}
}

// What a single host prints is as exact on a terminal as with ssh.
func TestASingleHostIsExactOnATerminal(t *testing.T) {
	t.Parallel()
	h := newFleetHome(t, "require")
	const text = `\033[31mred\033[0m\rx\033[2K\233\302\233m\007end`
	exact, err := exec.Command("printf", text).Output()
	require.NoError(t, err)
	script := fmt.Sprintf("printf '%s'", text)
	for _, args := range [][]string{{"run", "web1", "--yes"}, {"exec", "web1", "--yes"}, {"exec", "-s", "box", "web1", "--yes"}} {
		assert.Equal(t, string(exact), string(h.onPTY(t, append(args, "--", script)...)), args)
	}
	job, err := h.command(t, "jobs", "start", "web1", "--yes", "--", script).Output()
	require.NoError(t, err)
	id := strings.TrimSpace(string(job))
	assert.Equal(t, string(exact), string(h.onPTY(t, "jobs", "follow", id)))
	assert.Equal(t, string(exact), string(h.onPTY(t, "jobs", "output", id)))
	ownLines(t, h.onPTY(t, "jobs", "list"))
	ownLines(t, h.onPTY(t, "jobs", "show", id))
}

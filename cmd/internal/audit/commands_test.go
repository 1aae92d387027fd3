package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	record "github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// program is the command with a state directory of its own.
type program struct {
	t     *testing.T
	state string // holds audit, outputs and recordings
	tty   bool
	env   map[string]string
	in    string

	out, err bytes.Buffer
}

func newProgram(t *testing.T) *program {
	return &program{t: t, state: filepath.Join(t.TempDir(), "fairlead"), env: map[string]string{"HOME": "/nowhere"}}
}

func (p *program) dir() string { return filepath.Join(p.state, "audit") }

func (p *program) run(args ...string) error {
	p.t.Helper()
	p.out.Reset()
	p.err.Reset()
	ios := iostreams.New(strings.NewReader(p.in), &p.out, &p.err)
	ios.OutTTY = p.tty
	env := func(name string) string {
		if name == "XDG_STATE_HOME" {
			return filepath.Dir(p.state)
		}
		return p.env[name]
	}
	cmd := audit.NewCmd(&cmdutil.Factory{IO: ios, Getenv: env})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(p.t.Context())
}

func (p *program) ok(args ...string) string {
	p.t.Helper()
	require.NoError(p.t, p.run(args...), p.err.String())
	return p.out.String()
}

func (p *program) record(cfg record.Config, events ...record.Event) {
	p.t.Helper()
	f, err := record.Open(p.dir(), cfg)
	require.NoError(p.t, err)
	for _, e := range events {
		require.NoError(p.t, f.Record(context.Background(), e))
	}
	require.NoError(p.t, f.Close())
}

func TestShowSaysWhatBecameOfAnOutput(t *testing.T) {
	p := newProgram(t)
	store := record.NewOutputDir(filepath.Join(p.state, "outputs"), nil)
	require.NoError(t, os.MkdirAll(p.state, 0o700))
	sum, err := store.Put(t.Context(), []byte("hello \x1b[31mred\n"))
	require.NoError(t, err)
	p.record(record.Config{}, record.Event{Kind: record.CommandRequest, ID: "e_1", Command: "greet"},
		record.Event{Kind: record.CommandResult, ID: "e_1", Status: "ok", StdoutKept: sum},
		record.Event{Kind: record.CommandResult, ID: "e_2", Status: "ok", StdoutKept: strings.Repeat("ab", 32)},
		record.Event{Kind: record.CommandResult, ID: "e_3", Status: "ok"})
	assert.Contains(t, p.ok("show", "e_1"), "stdout\tkept: 15 bytes\n")
	assert.Equal(t, "hello \x1b[31mred\n", p.ok("show", "e_1", "--output"))
	p.tty = true
	assert.Equal(t, "hello red\n", p.ok("show", "e_1", "--output"))
	p.tty = false
	assert.Contains(t, p.ok("show", "e_2"), "stdout\tmissing, and no entry says that it was purged\n")
	require.ErrorContains(t, p.run("show", "e_3", "--output"), "no output of it was kept")

	assert.Equal(t, "removed 1 output, 15 bytes\n", p.ok("purge", "--before", "0s"))
	assert.Regexp(t, `stdout\tpurged at .* by operator/`, p.ok("show", "e_1"))
	require.ErrorContains(t, p.run("show", "e_1", "--output"), "its stdout is not kept any more: purged at ")
	assert.Contains(t, p.ok("verify"), "the audit log is whole: 5 entries in 1 file\n")
}

// What agents printed in sandboxes is in the store.
func TestPurgeRemovesOutputsFromTheStore(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandResult, ID: "e_1"})
	cfg := store.Config{Path: filepath.Join(p.state, "store.db")}
	s, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	c, _, err := s.Create(t.Context(), store.NewCommand{Claim: "k", Command: store.Command{Host: "web1", RequestedBy: "agent/x", Status: store.Approved}})
	require.NoError(t, err)
	_, err = s.Finish(t.Context(), c.ID, "k", store.End{Status: store.Executed, Outcome: "ok", Stdout: "printed"})
	require.NoError(t, err)
	assert.Equal(t, "removed 1 output, 7 bytes\n", p.ok("purge", "--before", "0s"))
	c, err = s.Command(t.Context(), c.ID)
	require.NoError(t, err)
	assert.Empty(t, c.Stdout)
	assert.False(t, c.Purged.IsZero())
	require.NoError(t, s.Close())
	assert.Contains(t, p.ok("tail"), "chain.purge")
	assert.Equal(t, "removed 0 outputs, 0 bytes\n", p.ok("purge", "--before", "0s"))
}

func TestTheBeginningOfAnIDMustBeThatOfOne(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandRequest, ID: "e_ab"}, record.Event{Kind: record.CommandRequest, ID: "e_ac"})
	assert.Contains(t, p.ok("show", "e_ab"), "e_ab")
	var usage *cmdutil.UsageError
	err := p.run("show", "e_a")
	require.ErrorAs(t, err, &usage)
	assert.EqualError(t, err, `audit: several ids: 2 of them begin with "e_a"; give more of it`)
	require.ErrorAs(t, p.run("show", "e_x"), &usage)
}

func TestPurgedRecordsAreTold(t *testing.T) {
	p := newProgram(t)
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	cfg := record.Config{MaxAge: time.Hour, Now: func() time.Time { at = at.Add(40 * time.Minute); return at }}
	var events []record.Event
	for i := range 6 {
		events = append(events, record.Event{Kind: record.CommandResult, ID: fmt.Sprint("e_", i)})
	}
	p.record(cfg, events...)
	files := len(glob(t, p.dir()))
	require.Greater(t, files, 2)
	assert.Regexp(t, `^removed the audit log up to 0000\d\d.jsonl: \d+ entries, \d+ bytes\n$`, p.ok("purge", "--records", "--before", "2026-12-01"))
	assert.Len(t, glob(t, p.dir()), 1)
	assert.Regexp(t, `\n\d+ entries in the oldest \d+ files were purged, as the log says\n`, p.ok("verify"))
	assert.Contains(t, p.ok("tail"), "chain.purge")
}

func glob(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	return names
}

func TestAgentsDoNotPurge(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandResult, ID: "e_1"})
	p.env["CLAUDECODE"] = "1"
	var exit *cmdutil.ExitError
	require.ErrorAs(t, p.run("purge", "--before", "0s"), &exit)
	assert.Equal(t, exitcode.Denied, exit.Code)
}

func TestAPageHoldsNothingThatActs(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandRequest, ID: "e_1", Host: `"><img src=x onerror=alert(1)>`,
		Principal: "agent/<b>", Command: "echo '</code><script>alert(1)</script>' \u202e\x1b[31m", Reason: "be\u200bcause\nof <i>", Verdict: "deny"})
	page := p.ok("export", "--html")
	for _, not := range []string{"<script", "<img", "<b>", "<i>", "http:", "https:", "\u202e", "\u200b", "\x1b"} {
		assert.NotContains(t, page, not)
	}
	assert.Contains(t, page, "&lt;script&gt;")
	assert.Contains(t, page, `default-src 'none'`)
	assert.Contains(t, page, "The audit log is whole: 1 entry.")
}

func TestADamagedRecordIsExportedAndTold(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandResult, ID: "e_1"}, record.Event{Kind: record.CommandResult, ID: "e_2"})
	path := glob(t, p.dir())[0]
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text = bytes.Replace(text, []byte("e_1"), []byte("e_9"), 1)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	var exit *cmdutil.ExitError
	require.ErrorAs(t, p.run("export", "--json"), &exit)
	assert.Equal(t, exitcode.Failed, exit.Code)
	assert.Equal(t, string(text), p.out.String())
	assert.Contains(t, p.err.String(), "the audit log is damaged")
	require.ErrorAs(t, p.run("export", "--html"), &exit)
	assert.Contains(t, p.out.String(), "The audit log is damaged: ")
}

func TestRecordingsAreFoundByID(t *testing.T) {
	p := newProgram(t)
	name := "20261121T020000Z-web1-e_1.cast"
	p.record(record.Config{},
		record.Event{Kind: record.SessionOpen, ID: "e_1", Session: "s_1", Command: "recording: " + name},
		record.Event{Kind: record.SessionOpen, ID: "e_2", Session: "s_2", Command: "not recorded: --no-record"},
		record.Event{Kind: record.SessionOpen, ID: "e_3", Session: "s_3", Command: "recording: ../audit/key"})
	require.ErrorContains(t, p.run("replay", "e_1"), "is not in")
	dir := filepath.Join(p.state, "recordings")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	cast := `{"version":2,"width":80,"height":24}` + "\n" + `[0.0,"o","hi\u001b]0;t\u0007\u001b[6n\r\n"]` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(cast), 0o600))
	assert.Equal(t, "hi\n", p.ok("replay", "e_1"))
	assert.Equal(t, "hi\n", p.ok("replay", "s_1"))
	require.ErrorContains(t, p.run("replay", "e_2"), "e_2 was not recorded")
	require.ErrorContains(t, p.run("replay", "s_3"), "s_3 was not recorded", "no name leads out of the directory")
	p.tty = true
	out := p.ok("replay", "e_1")
	assert.True(t, strings.HasPrefix(out, "hi\r\n\x1b[?1049l"), "%q", out)
	assert.True(t, strings.HasSuffix(out, "\x1b[0m\r\n"), "%q", out)
}

func TestATornRecordingIsPlayedUpToItsEnd(t *testing.T) {
	p := newProgram(t)
	path := filepath.Join(t.TempDir(), "torn.cast")
	cast := `{"version":2,"width":80,"height":24}` + "\n" + `[0.1,"o","hello\r\n"]` + "\n" + `[0.2,"o","wor`
	require.NoError(t, os.WriteFile(path, []byte(cast), 0o600))
	assert.Equal(t, "hello\n", p.ok("replay", path))
	assert.Contains(t, p.err.String(), "ends in the middle of a line")
}

func TestAnchorsComeFromFilesAndStandardInput(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandResult, ID: "e_1"})
	r, err := record.Verify(p.dir())
	require.NoError(t, err)
	p.record(record.Config{}, record.Event{Kind: record.CommandResult, ID: "e_2"})
	p.in = "noise\n" + r.Anchor + "\n"
	out := p.ok("verify", "--anchors", "-")
	assert.Regexp(t, `\nanchored: entries 1 to 1, at .* \(1 anchor\)\nnot anchored: entries 2 to 2\n`, out)
	assert.Contains(t, p.err.String(), "-: 1 line holds no anchor\n")
	assert.Contains(t, p.ok("verify", "--anchors", "-", "--json"), `"anchors":{"through":1,`)
}

func TestWhatWasTypedAndApprovedWithInputIsTold(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.ApprovalRequest, ID: "e_1", Typed: true, Command: "ada", Verdict: "ask"},
		record.Event{Kind: record.CommandInput, ID: "e_2", WithInput: true, Command: "eve", Verdict: "allow", ApprovedBy: "operator/ada"})
	out := p.ok("tail")
	assert.Contains(t, out, "approval.request  e_1  ask  typed  ada\n")
	assert.Contains(t, out, "command.input  e_2  allow  with input  eve\n")
	assert.Contains(t, p.ok("show", "e_1"), "\ntyped\ttrue\n")
	assert.Contains(t, p.ok("show", "e_2"), "\nwith_input\ttrue\n")
}

// A log with very many open requests is no page of them.
func TestVerifyListsTheOldestOpenRequests(t *testing.T) {
	p := newProgram(t)
	var all []record.Event
	for i := range 150 {
		all = append(all, record.Event{Kind: record.CommandRequest, ID: fmt.Sprint("r", i), Host: "web1", Principal: "operator/kim"})
	}
	p.record(record.Config{}, all...)
	said := p.ok("verify")
	assert.Contains(t, said, "150 requests without a result")
	assert.Contains(t, said, "  r99  web1\n  and 50 later ones: fairlead audit verify --json lists all\n")
	assert.NotContains(t, said, "  r100  ")
	assert.Contains(t, p.ok("verify", "--json"), `"id":"r149"`)
}

// Whoever reads the end of a damaged log, or one exec of it, learns that, and sees what is whole.
func TestDamageIsReportedWhereEntriesArePrinted(t *testing.T) {
	p := newProgram(t)
	p.record(record.Config{}, record.Event{Kind: record.CommandRequest, ID: "e_1", Command: "first"},
		record.Event{Kind: record.CommandResult, ID: "e_1", Status: "ok"}, record.Event{Kind: record.CommandResult, ID: "e_2", Status: "ok"})
	for _, args := range [][]string{{"tail"}, {"show", "e_1"}} {
		p.ok(args...)
		assert.Empty(t, p.err.String(), args)
	}
	path := filepath.Join(p.dir(), "000001.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte("first"), []byte("other"), 1), 0o600))
	for _, args := range [][]string{{"tail"}, {"tail", "--json"}, {"search"}, {"show", "e_1"}, {"show", "e_1", "--json"}} {
		out := p.ok(args...)
		assert.Contains(t, out, "e_1", args)
		assert.NotContains(t, out, "other", args)
		assert.Equal(t, "fairlead: "+path+":1 is not an entry; run `fairlead audit verify`\n", p.err.String(), args)
	}
	assert.Contains(t, p.ok("tail"), "e_2")
}

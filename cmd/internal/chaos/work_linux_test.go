package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// token is what one command appends to the file "ran".
type token struct {
	text string
	tier string // of the hosts that it runs on

	keep    *member // that was asked first
	yes     bool    // what a person says to it
	box     string  // of a command in a sandbox
	command string  // the id of that, once it is known
	answer  string  // what was acknowledged of a person's answer: "approve" or "reject"
	state   string  // what was acknowledged of its end; "" is nothing
	exit    *int
	last    error // why there is no answer
}

// Ends that were acknowledged.
const (
	ran   = "ran"   // once
	never = "never" // it has not run, and will not
	ended = "ended" // it may have
)

// script appends a token.
func (c *run) script(tok *token) string { return fmt.Sprintf("echo %s >>%s", tok.text, c.file("ran")) }

// new makes a token.
func (c *run) new(kind string, k *member) *token {
	c.mu.Lock()
	defer c.mu.Unlock()
	tok := &token{text: fmt.Sprintf("%s-%07d", kind, len(c.sent)), keep: k}
	c.sent = append(c.sent, tok)
	return tok
}

// heard is what a record says of a token's end.
func (t *token) heard(status string, exit *int) {
	switch {
	case status == "executed" && exit != nil && *exit == 0:
		t.state = ran
	case status == "rejected":
		t.state = never
	default:
		t.state = ended
	}
	t.exit = exit
}

// commands runs commands as an agent: allowed on the first hosts, approved by a person at either keeper on "there".
func (c *run) commands(ctx context.Context, rnd *rand.Rand, host string) {
	for sleep(ctx, time.Duration(rnd.IntN(100))*time.Millisecond) {
		tok := c.new(host, c.any(rnd))
		tok.tier, tok.yes = host, rnd.IntN(4) > 0
		for tok.state == "" && ctx.Err() == nil {
			if tok.last = c.ask(ctx, rnd, tok); tok.last != nil {
				sleep(ctx, 100*time.Millisecond)
			}
		}
	}
}

// ask asks for a command, always with the same key, at either keeper, and answers for the person.
func (c *run) ask(ctx context.Context, rnd *rand.Rand, tok *token) error {
	const agent = "agent/claude"
	k := c.any(rnd)
	if tok.box == "" {
		var box wire.Sandbox
		if err := k.call(ctx, "", "POST", "/agent/terminal/sandboxes", "", wire.NewSandbox{Owner: agent, Host: tok.tier, Label: "chaos", Path: c.work}, &box); err != nil {
			return err
		}
		tok.box = box.ID
	}
	var cmd wire.Command
	if err := k.call(ctx, agent, "POST", "/agent/terminal/commands", tok.text, wire.NewCommand{Sandbox: tok.box, Command: c.script(tok)}, &cmd); err != nil {
		return err
	}
	if tok.command != "" && tok.command != cmd.ID {
		c.fault("%s: two commands for one key: %s and %s", tok.text, tok.command, cmd.ID)
	}
	tok.command = cmd.ID
	for cmd.Status == "pending" || cmd.Status == "approved" {
		if cmd.Status == "pending" {
			answer := "reject"
			if tok.yes {
				answer = "approve"
			}
			err := c.any(rnd).call(ctx, "", "POST", "/agent/terminal/commands/"+cmd.ID+"/"+answer, "", nil, nil)
			if err == nil {
				tok.answer = answer
			} else if r := new(refused); !errors.As(err, &r) || r.status != http.StatusConflict {
				return err
			}
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return context.Cause(ctx)
		}
		if err := c.any(rnd).call(ctx, agent, "GET", "/agent/terminal/commands/"+cmd.ID, "", nil, &cmd); err != nil {
			return err
		}
	}
	tok.heard(cmd.Status, cmd.ExitCode)
	return nil
}

// sessions opens sessions and runs commands in them.
func (c *run) sessions(ctx context.Context, rnd *rand.Rand, host string) {
	for sleep(ctx, 50*time.Millisecond) {
		k := c.any(rnd)
		var s wire.Session
		if err := k.call(ctx, "", "POST", "/v1/sessions", "", wire.Open{Host: host}, &s); err != nil {
			continue
		}
		for range rnd.IntN(8) {
			tok := c.new("session", k)
			var r wire.Result
			if tok.last = k.call(ctx, "", "POST", "/v1/sessions/"+s.ID+"/execs", tok.text, wire.Run{Command: c.script(tok)}, &r); tok.last != nil {
				// With the same key it is the same command.
				if tok.last = k.call(ctx, "", "POST", "/v1/sessions/"+s.ID+"/execs", tok.text, wire.Run{Command: c.script(tok)}, &r); tok.last != nil {
					break
				}
			}
			if r.Status == "ok" {
				tok.state = ran
			}
		}
		_ = k.call(ctx, "", "DELETE", "/v1/sessions/"+s.ID, "", nil, nil)
	}
}

// jobs starts jobs under ids of its own, waits for their ends and collects them.
func (c *run) jobs(ctx context.Context, rnd *rand.Rand, host string) {
	for sleep(ctx, 300*time.Millisecond) {
		k := c.any(rnd)
		tok := c.new("job", k)
		id := "j_" + letters(rnd, 13)
		var j wire.Job
		tok.last = k.call(ctx, "", "POST", "/v1/jobs", "", wire.NewJob{Host: host, Command: c.script(tok), ID: id}, &j)
		for tok.last == nil && j.State != "ended" && j.State != "lost" && j.State != "canceled" && sleep(ctx, 100*time.Millisecond) {
			tok.last = c.any(rnd).call(ctx, "", "GET", "/v1/jobs/"+url.PathEscape(host+"/"+id), "", nil, &j)
		}
		if tok.last == nil && j.State == "ended" && j.ExitCode != nil && *j.ExitCode == 0 {
			tok.state = ran
		}
		for n := 0; n < 20 && c.any(rnd).call(ctx, "", "DELETE", "/v1/jobs/"+url.PathEscape(host+"/"+id), "", nil, nil) != nil; n++ {
			if !sleep(ctx, 200*time.Millisecond) {
				return
			}
		}
	}
}

// fleets runs commands on two hosts at once, twice with one key where the first answer is lost.
func (c *run) fleets(ctx context.Context, rnd *rand.Rand) {
	for sleep(ctx, 100*time.Millisecond) {
		k := c.any(rnd)
		var toks []*token
		for range 2 {
			toks = append(toks, c.new("fleet", k))
		}
		// One script for both hosts: each appends its own.
		script := fmt.Sprintf(`if [ "$HOME" = %s ]; then echo %s; else echo %s; fi >>%s`, c.home, toks[0].text, toks[1].text, c.file("ran"))
		for n := range 2 {
			var lines bytes.Buffer
			err := k.call(ctx, "", "POST", "/v1/runs", toks[0].text, wire.NewRun{ID: fmt.Sprint(toks[0].text, "-", n), Hosts: []string{"here", "far"}, Command: script}, &lines)
			for i := range toks {
				toks[i].last = err
				for line := range strings.Lines(lines.String()) {
					if strings.Contains(line, `"status":"ok"`) && strings.Contains(line, fmt.Sprintf(`"host":%d,`, i)) {
						toks[i].state = ran
					}
				}
			}
			if err == nil {
				break
			}
		}
	}
}

// slot is one line of a file that others change too.
type slot struct {
	member     *member
	host, path string
	line       int
	acked      string   // the last text that was acknowledged
	maybe      []string // what was sent since, and not answered
	edits      int      // that were acknowledged
}

func (s *slot) url() string {
	return "/v1/files/edit?" + url.Values{"host": {s.host}, "path": {s.path}}.Encode()
}

// edit is one that is waited for as long as may be. On a slow machine its answer may still be that it is running.
func (s *slot) edit(before, after string) wire.FileEdit {
	wait := 50.0
	return wire.FileEdit{Old: before, New: after, WaitS: &wait}
}

// edits changes a line of a file, which others change too. All edits of a file go to one keeper, as product.md says.
func (c *run) edits(ctx context.Context, s *slot) {
	for n := 0; sleep(ctx, 20*time.Millisecond); n++ {
		before, ok := c.standing(s)
		if !ok {
			return
		}
		after := fmt.Sprintf("slot %d: text %d.", s.line, n)
		s.maybe = append(s.maybe, after)
		var f wire.File
		if err := s.member.call(ctx, "", "POST", s.url(), "", s.edit(before, after), &f); err == nil && f.State == "done" {
			s.acked, s.maybe = after, nil
			s.edits++
		}
	}
}

// standing is what the line is now. It is what was acknowledged, or sent since.
func (c *run) standing(s *slot) (string, bool) {
	text, err := os.ReadFile(s.path)
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != slotsPerFile+1 {
		c.fault("%s: not the file that it was: %v: %q", s.path, err, text)
		return "", false
	}
	if now := lines[s.line]; now == s.acked || slices.Contains(s.maybe, now) {
		return now, true
	}
	c.fault("%s: an edit was lost: %q was acknowledged, and the line is %q", s.path, s.acked, lines[s.line])
	return "", false
}

func letters(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz234567"[rnd.IntN(32)]
	}
	return string(b)
}

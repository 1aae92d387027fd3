package sshserver

import (
	"context"
	"io"
	"sync"

	"golang.org/x/crypto/ssh"
)

// Session is one program's channel, for Config.Program. Reading gives what the client types, writing prints.
type Session struct {
	io.ReadWriter
	Line       string   // what to run; "" asks for an interactive shell
	PTY        bool     // a terminal was asked for
	Term       string   // its name
	Rows, Cols int      // its size
	Env        []string // what the client set, "KEY=value"

	modes []byte
}

// Exit is how a program ended.
type Exit struct {
	Code   int
	Signal string // without SIG; "" means that Code counts
}

// running is a program that a channel's requests can reach.
type running interface {
	begin() // is called once, after the client has been told that the program runs: it may end at once
	resize(rows, cols int)
	signal(name string)
	hangUp() // ends it, and returns once it is gone
}

// session serves a channel of that type. It is called in the order in which channels were asked for.
func (c *conn) session(nc ssh.NewChannel, wg *sync.WaitGroup) {
	limit := c.s.cfg.MaxSessions
	full := limit > 0 && int(c.sessions.Add(1)) > limit
	if full || c.faults.RefuseOpen {
		if limit > 0 {
			c.sessions.Add(-1)
		}
		_ = nc.Reject(ssh.ConnectionFailed, "open failed")
		return
	}
	ch, requests, err := nc.Accept()
	if err != nil {
		return
	}
	wg.Go(func() {
		if limit > 0 {
			defer c.sessions.Add(-1)
		}
		c.requests(ch, requests)
	})
}

// requests serves a channel until it closes.
func (c *conn) requests(ch ssh.Channel, requests <-chan *ssh.Request) {
	s := &Session{ReadWriter: ch}
	var program running
	for r := range requests {
		ok, before := false, program
		switch r.Type {
		case "pty-req":
			ok = program == nil && !c.faults.RefusePTY && s.terminal(r.Payload)
		case "env":
			var m struct{ Name, Value string }
			if ok = program == nil && ssh.Unmarshal(r.Payload, &m) == nil; ok {
				s.Env = append(s.Env, m.Name+"="+m.Value)
			}
		case "exec", "shell":
			var m struct{ Line string }
			if r.Type == "exec" && ssh.Unmarshal(r.Payload, &m) != nil || program != nil || c.faults.RefuseExec {
				break
			}
			s.Line = m.Line
			if p, err := c.start(s, ch); err == nil {
				program, ok = p, true
			}
		case "subsystem":
			var m struct{ Name string }
			serve := c.s.cfg.Subsystems[""]
			if ssh.Unmarshal(r.Payload, &m) == nil {
				serve = c.s.cfg.Subsystems[m.Name]
			}
			if ok = serve != nil && program == nil; ok {
				program = c.call(ch, func(context.Context) Exit {
					if serve(ch) != nil {
						return Exit{Code: 1}
					}
					return Exit{}
				})
			}
		case "window-change":
			var m struct{ Cols, Rows, Width, Height uint32 }
			if ok = program != nil && ssh.Unmarshal(r.Payload, &m) == nil; ok {
				program.resize(int(m.Rows), int(m.Cols))
			}
		case "signal":
			var m struct{ Name string }
			if ok = program != nil && ssh.Unmarshal(r.Payload, &m) == nil; ok {
				program.signal(m.Name)
			}
		}
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if program != before {
			program.begin()
		}
	}
	if program != nil {
		program.hangUp()
	}
}

// terminal takes a pty-req.
func (s *Session) terminal(payload []byte) bool {
	var m struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	if ssh.Unmarshal(payload, &m) != nil {
		return false
	}
	s.PTY, s.Term, s.Rows, s.Cols, s.modes = true, m.Term, int(m.Rows), int(m.Cols), []byte(m.Modes)
	return true
}

func (c *conn) start(s *Session, ch ssh.Channel) (running, error) {
	if c.s.cfg.Program != nil {
		return c.call(ch, func(ctx context.Context) Exit { return c.s.cfg.Program(ctx, s) }), nil
	}
	return c.spawn(s, ch)
}

// end says how a program ended and closes its channel.
func (c *conn) end(ch ssh.Channel, e Exit) {
	if !c.faults.NoExit {
		if e.Signal != "" {
			_, _ = ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
				Name          string
				Core          bool
				Message, Lang string
			}{Name: e.Signal}))
		} else {
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(e.Code)}))
		}
	}
	_ = ch.CloseWrite()
	_ = ch.Close()
}

// called is a Go function in a program's place.
type called struct {
	run    func()
	cancel context.CancelFunc
	done   chan struct{} // closed once run has returned
}

func (c *conn) call(ch ssh.Channel, f func(context.Context) Exit) running {
	ctx, cancel := context.WithCancel(c.s.ctx)
	return &called{run: func() { c.end(ch, f(ctx)) }, cancel: cancel, done: make(chan struct{})}
}

func (p *called) begin() {
	go func() {
		defer close(p.done)
		p.run()
	}()
}

func (p *called) resize(int, int) {}
func (p *called) signal(string)   { p.cancel() }
func (p *called) hangUp()         { p.cancel(); <-p.done }

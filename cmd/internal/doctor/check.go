package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// Status is how a check ended.
type Status string

// The ways. Only Fail makes the program end with 1.
const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, and somebody should know
	Fail Status = "fail" // something that people count on does not work
)

// Check is one thing that was looked at. It is a stable format, and never holds a secret.
type Check struct {
	Host   string `json:"host,omitempty"` // "" is this machine
	Name   string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`         // what was found
	Next   string `json:"next,omitempty"` // what to do
}

func ok(name, format string, args ...any) Check {
	return Check{"", name, OK, text(format, args...), ""}
}

func warn(name, next, format string, args ...any) Check {
	return Check{"", name, Warn, text(format, args...), next}
}

func fail(name, next, format string, args ...any) Check {
	return Check{"", name, Fail, text(format, args...), next}
}

func text(format string, args ...any) string { return cmdutil.OneLine(fmt.Sprintf(format, args...)) }

// why is an error in one line, without the name of the package that it comes from.
func why(err error) string { return cmdutil.OneLine(cmdutil.Text(err)) }

// each makes a check of every error that err joins.
func each(err error, check func(err error) Check) (all []Check) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		if parts := joined.Unwrap(); len(parts) > 0 && errors.Join(parts...).Error() == err.Error() {
			for _, e := range parts {
				all = append(all, each(e, check)...)
			}
			return all
		}
	}
	return []Check{check(err)}
}

// printer prints checks as they come, and counts them.
type printer struct {
	io     *iostreams.IOStreams
	json   bool
	counts map[Status]int
	err    error // of the first that could not be printed
}

var colors = map[Status]string{OK: "\x1b[32m", Warn: "\x1b[33m", Fail: "\x1b[31m"}

func (p *printer) print(c Check) {
	p.counts[c.Status]++
	if p.err != nil {
		return
	}
	switch {
	case p.json:
		p.err = json.NewEncoder(p.io.Out).Encode(c)
	case p.io.OutTTY:
		where := c.Name
		if c.Host != "" {
			where = c.Host + " " + c.Name
		}
		status := fmt.Sprintf("%-4s", c.Status)
		if p.io.ColorOut() {
			status = colors[c.Status] + status + "\x1b[0m"
		}
		line := fmt.Sprintf("%s  %-14s  %s", status, where, c.Detail)
		if c.Next != "" {
			line += " → " + c.Next
		}
		_, p.err = io.WriteString(p.io.Out, line+"\n")
	default:
		host, next := c.Host, c.Next
		if host == "" {
			host = "-"
		}
		if next == "" {
			next = "-"
		}
		_, p.err = io.WriteString(p.io.Out, strings.Join([]string{string(c.Status), host, c.Name, c.Detail, next}, "\t")+"\n")
	}
}

// summary is the last line in JSON.
type summary struct {
	OK       int `json:"ok"`
	Warn     int `json:"warn"`
	Fail     int `json:"fail"`
	ExitCode int `json:"exit_code"`
}

// end prints what it came to, and returns the exit code.
func (p *printer) end() (code int, err error) {
	s := summary{OK: p.counts[OK], Warn: p.counts[Warn], Fail: p.counts[Fail]}
	if s.Fail > 0 {
		s.ExitCode = 1
	}
	if p.err == nil && p.json {
		p.err = json.NewEncoder(p.io.Out).Encode(map[string]summary{"summary": s})
	}
	if p.err == nil && !p.json {
		fmt.Fprintf(p.io.Err, "fairlead: %d ok, %s, %d failed\n", s.OK, cmdutil.Count(s.Warn, "warning"), s.Fail)
	}
	return s.ExitCode, p.err
}

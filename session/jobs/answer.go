package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// State says how far a job has come.
type State string

// The states.
const (
	Running State = "running"
	Ended   State = "ended"
	Lost    State = "lost" // it does not run any more, and nobody saw how it ended: the host began anew, or the waiter was killed
)

// Job is what its host knows of a job.
type Job struct {
	Host  string // its name; filled in by Host
	ID    string
	Owner string // the principal
	State State

	// ExitCode is nil unless the job has ended. Signal is what a code above 128 stands for by the shells' habit; a program
	// that exits with such a code looks the same.
	ExitCode *int
	Signal   string

	StoppedBy string // the signal that it was last stopped with: "TERM", "KILL"; "" if nobody did
	MayRun    bool   // something that it has started may still run, although it has ended or was stopped

	Damaged string // what of its files on the host cannot be read, a full disk may have emptied them; "" if all can

	Command       string        // its beginning on one line, without secrets; "" where the host does not have it
	CommandSHA256 string        // in hexadecimal
	Started       time.Time     // by the host's clock, as Ended is
	Ended         time.Time     // zero unless it has ended
	Age           time.Duration // since Started, by the same clock

	Stdout, Stderr Stream
}

// Stream is one output of a job.
type Stream struct {
	Bytes   int64 // that are kept
	Omitted int64 // that came after those and were thrown away; known once Done
	Done    bool  // nothing comes any more
}

// Ref is the job's name.
func (j Job) Ref() Ref { return Ref{j.Host, j.ID} }

// answer is what a script has said.
type answer struct {
	fault, why     string // the code and words of a failure
	jobs           []Job
	more           bool // there are more jobs than are told
	stdout, stderr []byte
}

// maxHeader bounds what an answer says besides output.
const maxHeader = 4 << 20

// errGarbled is wrapped by the errors of answers that say nothing of what was asked for.
var errGarbled = errors.New("the host's answer is not well formed")

func garbled(what string) error { return fmt.Errorf("%w: %s", errGarbled, what) }

// parse reads an answer. It is bytes from another machine: nothing in it is believed that does not fit.
func parse(text []byte) (a answer, err error) {
	lines := liner{rest: text[:min(len(text), maxHeader)]}
	if line, ok := lines.next(); !ok || line != "fairlead-job 1" {
		return a, garbled("it does not begin as one")
	}
	var (
		j    *Job
		data []int64
	)
	for {
		line, ok := lines.next()
		if !ok {
			return a, garbled("it is truncated")
		}
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "end":
			if j != nil {
				return a, garbled("a job is truncated")
			}
			return a, a.take(text[lines.at:], data)
		case key == "error":
			a.fault, a.why, _ = strings.Cut(value, " ")
		case key == "more":
			a.more = true
		case key == "id":
			if j != nil {
				return a, garbled("a job begins in another one")
			}
			j = &Job{ID: value}
		case key == "data":
			if data, ok = numbers(value, 2); !ok {
				return a, garbled("it does not say how much output there is")
			}
		case j == nil:
			return a, garbled("an answer names no job")
		case key == ".":
			if ValidID(j.ID) { // else it is a directory of that name, and no job
				j.check()
				a.jobs = append(a.jobs, *j)
			}
			j = nil
		case !j.note(key, value):
			j.damaged(key)
		}
	}
}

// take cuts the outputs out of what follows.
func (a *answer) take(rest []byte, data []int64) error {
	if data == nil {
		return nil
	}
	if n := int64(len(rest)); data[0] > n || data[1] > n-data[0] {
		return garbled("output is missing")
	}
	a.stdout, a.stderr = rest[:data[0]:data[0]], rest[data[0]:data[0]+data[1]]
	return nil
}

// parts are what lines about a job are called for people.
var parts = map[string]string{
	"owner": "owner", "sum": "command's hash", "started": "start time", "now": "host's time", "ended": "end time", "code": "exit code",
	"stopped": "stop signal", "stdout": "length of stdout", "stderr": "length of stderr",
}

// damaged notes a part of the job that cannot be read.
func (j *Job) damaged(key string) {
	switch part := parts[key]; {
	case part == "":
	case j.Damaged == "":
		j.Damaged = "not readable on the host: " + part
	case len(j.Damaged) < maxDamaged:
		j.Damaged += ", " + part
	}
}

// maxTitleBytes bounds what a host says of a command.
const maxTitleBytes = 4 * maxTitle

// maxDamaged bounds what is said of one damaged job.
const maxDamaged = 200

// check looks at a job when all of it was read.
func (j *Job) check() {
	switch {
	case j.State != Running && j.State != Ended && j.State != Lost:
		j.State = Lost
		if j.Damaged == "" {
			j.Damaged = "not readable on the host: state"
		}
	case j.State == Ended && j.ExitCode == nil && j.Damaged == "":
		j.damaged("code")
	}
}

// note takes one line about a job, and keeps nothing of one that cannot be read. Unknown ones may come from a later version.
func (j *Job) note(key, value string) bool {
	n, isNumber := numbers(value, 1)
	switch key {
	case "owner":
		ok := value != "" && len(value) <= 200 && isPrintable(value)
		if ok {
			j.Owner = value
		}
		return ok
	case "sum":
		ok := len(value) == 64 && strings.Trim(value, "0123456789abcdef") == ""
		if ok {
			j.CommandSHA256 = value
		}
		return ok
	case "state":
		j.State = State(value)
	case "started":
		if isNumber {
			j.Started = time.Unix(n[0], 0).UTC()
		}
		return isNumber
	case "now":
		if isNumber && !j.Started.IsZero() {
			j.Age = max(0, time.Unix(n[0], 0).Sub(j.Started))
		}
		return isNumber
	case "ended":
		if isNumber {
			j.Ended = time.Unix(n[0], 0).UTC()
		}
		return isNumber
	case "code":
		if !isNumber || n[0] > math.MaxInt32 {
			return false
		}
		code := int(n[0])
		j.ExitCode, j.Signal = &code, signalOf(code)
	case "stopped":
		ok := value == "TERM" || value == "KILL"
		if ok {
			j.StoppedBy = value
		}
		return ok
	case "damaged":
		if len(value) <= maxDamaged && isPrintable(value) {
			j.Damaged = value
		}
	case "command":
		if len(value) <= maxTitleBytes && isPrintable(value) {
			j.Command = value
		}
	case "may-run":
		j.MayRun = true
	case "stdout":
		return j.Stdout.note(value)
	case "stderr":
		return j.Stderr.note(value)
	}
	return true
}

// note reads how much there is, and how much was thrown away: "-" is not known yet. Without a number the output has ended, and
// how much was thrown away was not kept.
func (s *Stream) note(value string) bool {
	kept, rest, _ := strings.Cut(value, " ")
	size, ok := numbers(kept, 1)
	if !ok {
		s.Done = true
		return false
	}
	s.Bytes = size[0]
	if rest == "-" {
		return true
	}
	omitted, ok := numbers(rest, 1)
	if ok {
		s.Omitted = omitted[0]
	}
	s.Done = true
	return ok
}

// maxNumber bounds all numbers, so that sums of them do not overflow and times can be written.
const maxNumber = 1 << 40

// numbers reads exactly n of them, none negative.
func numbers(text string, n int) ([]int64, bool) {
	f := strings.Fields(text)
	if len(f) != n {
		return nil, false
	}
	all := make([]int64, n)
	for i, word := range f {
		v, err := strconv.ParseInt(word, 10, 64)
		if err != nil || v < 0 || v > maxNumber {
			return nil, false
		}
		all[i] = v
	}
	return all, true
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// liner cuts lines off.
type liner struct {
	rest []byte
	at   int // where rest begins
}

func (l *liner) next() (string, bool) {
	line, rest, ok := bytes.Cut(l.rest, []byte{'\n'})
	if ok {
		l.at += len(line) + 1
		l.rest = rest
	}
	return string(line), ok
}

// signals are those whose numbers are the same everywhere.
var signals = map[int]string{1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 8: "FPE", 9: "KILL", 11: "SEGV", 13: "PIPE", 14: "ALRM", 15: "TERM"}

// signalOf is the signal that an exit code stands for; "" for others. ksh93 adds 256 instead of 128.
func signalOf(code int) string {
	if code > 256 {
		return signals[code-256]
	}
	return signals[code-128]
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestErrorsBecomeExitCodesAndLines(t *testing.T) {
	mistake := func(line int) error {
		return &hosts.ParseError{Pos: hosts.Pos{File: "i.yaml", Line: line}, Msg: "wrong"}
	}
	for name, tt := range map[string]struct {
		err  error
		code int
		said string
	}{
		"none":                   {nil, 0, ""},
		"a code alone":           {cmdutil.Exit(141), 141, ""},
		"code 0 is not an error": {cmdutil.Exit(0), 0, ""},
		"usage":                  {cmdutil.Usagef("run needs %s", "TARGETS"), 2, "fairlead: run needs TARGETS\n"},
		"all mistakes at once":   {&cmdutil.UsageError{Err: errors.Join(mistake(3), mistake(9))}, 2, "fairlead: i.yaml:3: wrong\nfairlead: i.yaml:9: wrong\n"},
		"no record":              {&audit.Error{Op: "open", Path: "/a", Err: syscall.ENOSPC, Do: "free space"}, 6, "fairlead: cannot open /a: no space left on device; free space\n"},
		"interrupted":            {&cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2}, 130, ""},
		"terminated":             {&cmdutil.SignalError{Signal: syscall.SIGTERM, Number: 15}, 143, ""},
		"canceled":               {fmt.Errorf("x: %w", context.Canceled), 130, "fairlead: x: context canceled\n"},
		"anything else":          {errors.New("session: strange"), 6, "fairlead: strange\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, errOut := iostreams.Test()
			assert.Equal(t, tt.code, finish(ios, tt.err))
			assert.Equal(t, tt.said, errOut.String())
		})
	}
}

// The command's own exit code hides nothing that the audit log lacks.
func TestWhatTheAuditLogLacksIsSaidWhateverACommandEndsWith(t *testing.T) {
	lacks := &audit.Error{Op: "write", Path: "/a", Err: syscall.ENOSPC}
	const said = "fairlead: cannot write /a: no space left on device\n"
	for name, tt := range map[string]struct {
		err, closing error
		code         int
		said         string
	}{
		"a command that did well":     {nil, lacks, 6, said},
		"one that failed":             {cmdutil.Exit(3), lacks, 6, said},
		"one in place of ssh":         {&cmdutil.ExitError{Code: 3, Exact: true}, lacks, 3, said},
		"an interrupt":                {&cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2}, lacks, 130, said},
		"another error":               {errors.New("strange"), lacks, 6, said + "fairlead: strange\n"},
		"nothing lacks":               {cmdutil.Exit(3), nil, 3, ""},
		"another fault at the end":    {cmdutil.Exit(3), errors.New("closed"), 3, ""},
		"another fault, and all well": {nil, errors.New("closed"), 6, "fairlead: closed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, errOut := iostreams.Test()
			assert.Equal(t, tt.code, finish(ios, afterClosing(ios, tt.err, tt.closing)))
			assert.Equal(t, tt.said, errOut.String())
		})
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestAReaderThatWentAwayEndsTheProgramQuietly(t *testing.T) {
	var errOut strings.Builder
	ios := iostreams.New(strings.NewReader(""), broken{syscall.EPIPE}, &errOut)
	_, err := ios.Out.Write([]byte("x"))
	assert.Equal(t, 141, finish(ios, err))
	assert.Empty(t, errOut.String())
}

func TestOutputThatCannotBeWrittenIsAnErrorEvenIfNobodyLooked(t *testing.T) {
	var errOut strings.Builder
	ios := iostreams.New(strings.NewReader(""), broken{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}, &errOut)
	_, err := ios.Out.Write([]byte("x"))
	assert.Equal(t, 6, finish(ios, nil))
	assert.Equal(t, "fairlead: cannot write to standard output: no space left on device\n", errOut.String())
	errOut.Reset()
	assert.Equal(t, 6, finish(ios, err), "a command that returns it says no more")
	assert.Equal(t, "fairlead: cannot write to standard output: no space left on device\n", errOut.String())
}

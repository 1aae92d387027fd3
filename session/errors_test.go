package session_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Whatever a caller would branch on has an error of its own, and is no other.
func TestEveryKindOfFailureIsAnErrorToBranchOn(t *testing.T) {
	all := []error{
		session.ErrClosed, session.ErrBusy, session.ErrFull, session.ErrUnreachable, session.ErrAuth, session.ErrHostKey, session.ErrInvalid, session.ErrDenied,
		session.ErrRejected, session.ErrExpired, session.ErrVoid, session.ErrNotReady, session.ErrTimeout, session.ErrCanceled, session.ErrNeedsTerminal,
		session.ErrOutput, session.ErrUnknownOutcome, session.ErrAudit, session.ErrNotInteractive,
	}
	run := func(d *sessiontest.Dialer, t *testing.T, cfg session.Config, cmd session.Command) error {
		_, err := poolOn(t, d, session.PoolConfig{Session: cfg}).Run(t.Context(), web1, cmd)
		return err
	}
	for name, c := range map[string]struct {
		want error
		run  func(t *testing.T, d *sessiontest.Dialer) error
	}{
		"unreachable": {session.ErrUnreachable, func(t *testing.T, d *sessiontest.Dialer) error {
			d.Fault("web1", sessiontest.Faults{Dial: errors.New("no route")})
			return run(d, t, permissive(), session.Command{Script: "x"})
		}},
		"auth": {session.ErrAuth, func(t *testing.T, d *sessiontest.Dialer) error {
			d.Fault("web1", sessiontest.Faults{Dial: session.ErrAuth})
			return run(d, t, permissive(), session.Command{Script: "x"})
		}},
		"host key": {session.ErrHostKey, func(t *testing.T, d *sessiontest.Dialer) error {
			d.Fault("web1", sessiontest.Faults{Dial: session.ErrHostKey})
			return run(d, t, permissive(), session.Command{Script: "x"})
		}},
		"denied": {session.ErrDenied, func(t *testing.T, d *sessiontest.Dialer) error {
			return run(d, t, session.Config{Policy: says(policy.Deny, ""), Audit: audit.Discard{}}, session.Command{Script: "x"})
		}},
		"invalid": {session.ErrInvalid, func(t *testing.T, d *sessiontest.Dialer) error {
			return run(d, t, permissive(), session.Command{Script: "x\x00"})
		}},
		"audit": {session.ErrAudit, func(t *testing.T, d *sessiontest.Dialer) error {
			cfg := permissive()
			cfg.Audit = audit.SinkFunc(func(context.Context, audit.Event) error { return errors.New("disk full") })
			return run(d, t, cfg, session.Command{Script: "x"})
		}},
		"timeout": {session.ErrTimeout, func(t *testing.T, d *sessiontest.Dialer) error {
			d.On("x", reply{Hang: true})
			return run(d, t, permissive(), session.Command{Script: "x", Timeout: time.Second})
		}},
		"idle": {session.ErrTimeout, func(t *testing.T, d *sessiontest.Dialer) error {
			d.On("x", reply{Hang: true})
			return run(d, t, permissive(), session.Command{Script: "x", Idle: time.Second})
		}},
		"canceled": {session.ErrCanceled, func(t *testing.T, d *sessiontest.Dialer) error {
			d.On("x", reply{Hang: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := poolOn(t, d, session.PoolConfig{}).Run(ctx, web1, session.Command{Script: "x"})
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			return err
		}},
		"output": {session.ErrOutput, func(t *testing.T, d *sessiontest.Dialer) error {
			d.On("x", reply{Stdout: "x"})
			return run(d, t, permissive(), session.Command{Script: "x", Stdout: failingWriter{}})
		}},
		"output, without an error of the writer's": {session.ErrOutput, func(t *testing.T, d *sessiontest.Dialer) error {
			d.On("x", reply{Stdout: "xy"})
			return run(d, t, permissive(), session.Command{Script: "x", Stdout: lazyWriter{}})
		}},
		"closed": {session.ErrClosed, func(t *testing.T, d *sessiontest.Dialer) error {
			p := poolOn(t, d, session.PoolConfig{})
			require.NoError(t, p.Close())
			_, err := p.Run(t.Context(), web1, session.Command{Script: "x"})
			return err
		}},
		"lost": {session.ErrUnknownOutcome, func(t *testing.T, d *sessiontest.Dialer) error {
			d.OnFunc("x", func(*sessiontest.Call) reply { d.Break("web1"); return reply{} })
			return run(d, t, permissive(), session.Command{Script: "x"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				err := c.run(t, d)
				for _, kind := range all {
					assert.Equal(t, kind == c.want, errors.Is(err, kind), "%v is %v", err, kind)
				}
				var e *session.Error
				require.ErrorAs(t, err, &e)
				assert.NotErrorIs(t, &session.Error{Code: "of another package", Err: errors.New("x")}, c.want)
			})
		})
	}
}

// An Error is what its Code stands for also where it was made from what another process said.
func TestAnErrorIsWhatItsCodeSays(t *testing.T) {
	for code, want := range map[string]error{
		"closed": session.ErrClosed, "busy": session.ErrBusy, "unreachable": session.ErrUnreachable, "shell": session.ErrUnreachable, "auth": session.ErrAuth, "hostkey": session.ErrHostKey,
		"invalid": session.ErrInvalid, "denied": session.ErrDenied, "rejected": session.ErrRejected, "expired": session.ErrExpired, "void": session.ErrVoid,
		"not_ready": session.ErrNotReady, "timeout": session.ErrTimeout, "idle": session.ErrTimeout, "canceled": session.ErrCanceled,
		"needs_terminal": session.ErrNeedsTerminal, "write": session.ErrOutput, "lost": session.ErrUnknownOutcome, "broken": session.ErrUnknownOutcome,
		"audit": session.ErrAudit,
	} {
		err := fmt.Errorf("around: %w", &session.Error{Code: code, Err: errors.New("text")})
		assert.ErrorIs(t, err, want, code)
	}
	assert.NotErrorIs(t, &session.Error{Code: "", Err: errors.New("x")}, nil)
}

// The package comment names every error, so that a reader finds what to branch on.
// A loop over the Results of many hosts asks this of all of them.
func TestTheErrorOfAnAnswerIsNoKindOfError(t *testing.T) {
	var r session.Result
	assert.NotErrorIs(t, r.Err, session.ErrTimeout)
	assert.NotErrorIs(t, r.Err, context.Canceled)
	var exit *session.ExitError
	assert.False(t, errors.As(r.Err, &exit))
}

func TestThePackageCommentListsEveryError(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	text := f.Doc.Text()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl, *ast.SelectorExpr: // errors of other packages stand in their comments
				return false
			case *ast.Ident:
				if n.Name != "StatusError" && regexp.MustCompile(`^Err[A-Z]|^[A-Z]\w*Error$`).MatchString(n.Name) {
					assert.Contains(t, text, n.Name, name+":"+strconv.Itoa(fset.Position(n.Pos()).Line))
				}
			}
			return true
		})
	}
}

// lazyWriter takes half of what it gets, and says so without an error.
type lazyWriter struct{}

func (lazyWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

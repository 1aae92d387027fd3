package files_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// breaks is a host whose sftp server breaks.
func breaks(t *testing.T, s sessiontest.HostileSFTP) *files.Host {
	t.Helper()
	server := sessiontest.Server(t, sshserver.Config{Subsystems: map[string]func(io.ReadWriteCloser) error{"sftp": s.Serve}})
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
	require.NoError(t, err)
	host := sessiontest.Host(t, "web1", server.Addr())
	tr, err := d.Dial(t.Context(), host)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return openOn(t, tr, host)
}

func TestAListingThatNeverEndsHasLimits(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		server sessiontest.HostileSFTP
		most   int
		code   string
	}{
		"names":             {sessiontest.HostileSFTP{Endless: true}, 1000, files.CodeTooLarge},
		"the usual limit":   {sessiontest.HostileSFTP{Endless: true}, 0, files.CodeTooLarge},
		"long names":        {sessiontest.HostileSFTP{Endless: true, NameLen: 4000}, 0, files.CodeTooLarge},
		"too long for any":  {sessiontest.HostileSFTP{Endless: true, NameLen: 5000}, 0, files.CodeError},
		"nothing but dots":  {sessiontest.HostileSFTP{Endless: true, Dots: true}, 0, files.CodeError},
		"it ends as others": {sessiontest.HostileSFTP{}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := breaks(t, tt.server)
			_, all, err := h.List(t.Context(), dir, tt.most)
			if tt.code == "" {
				require.NoError(t, err)
				assert.Empty(t, all)
				return
			}
			assert.Equal(t, tt.code, code(t, err), "%v", err)
			_, err = h.Look(t.Context(), dir)
			require.NoError(t, err, "and the host can be used on")
		})
	}
	t.Run("its reader is gone", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		_, err := breaks(t, sessiontest.HostileSFTP{Endless: true}).Names(ctx, dir, 0, func(files.Name) error {
			cancel(gone)
			<-ctx.Done()
			return nil
		})
		assert.ErrorIs(t, err, gone)
	})
}

// A server that stops answering at any request ends no call's time: the file is as it was, or what became of it is unknown.
func TestASilentServerHoldsNobodyForLongerThanTheyWait(t *testing.T) {
	for name := range sessiontest.SFTPRequests {
		if name == "init" {
			continue // Open: below
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written, edited := put(t, dir, "w", "old text"), put(t, dir, "f", "old text")
			require.NoError(t, os.Symlink("f", filepath.Join(dir, "l")))
			h := breaks(t, sessiontest.HostileSFTP{Silent: name})
			for what, do := range map[string]func(ctx context.Context) error{
				"read": func(ctx context.Context) error {
					_, err := h.Read(ctx, dir+"/l", 0, -1, 0, io.Discard)
					return err
				},
				"write": func(ctx context.Context) error {
					_, err := h.Write(ctx, written, []byte(strings.Repeat("new", 1<<20)), files.WriteOptions{})
					return err
				},
				"edit": func(ctx context.Context) error {
					_, err := h.Edit(ctx, edited, []byte("text"), []byte("TEXT"), files.WriteOptions{})
					return err
				},
				"list": func(ctx context.Context) error {
					_, _, err := h.List(ctx, dir, 0)
					return err
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				err := do(ctx)
				cancel()
				if err == nil {
					continue // it does not take that request
				}
				if errors.Is(err, session.ErrUnknownOutcome) {
					assert.Equal(t, "extended", name, what)
					continue
				}
				assert.Equal(t, files.CodeCanceled, code(t, err), "%s: %v", what, err)
				assert.ErrorIs(t, err, context.DeadlineExceeded, what)
			}
			assert.Contains(t, []string{"old text", strings.Repeat("new", 1<<20)}, content(t, written))
			assert.Contains(t, []string{"old text", "old TEXT"}, content(t, edited))
			assert.Zero(t, files.Turns())
		})
	}
	t.Run("init", func(t *testing.T) {
		server := sessiontest.Server(t, sshserver.Config{Subsystems: map[string]func(io.ReadWriteCloser) error{"sftp": sessiontest.HostileSFTP{Silent: "init"}.Serve}})
		d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
		require.NoError(t, err)
		host := sessiontest.Host(t, "web1", server.Addr())
		tr, err := d.Dial(t.Context(), host)
		require.NoError(t, err)
		defer tr.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err = files.Open(ctx, tr, host)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestWhatAServerSaysIsShortAndPrintableInErrors(t *testing.T) {
	for name := range sessiontest.SFTPRequests {
		if name == "init" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := put(t, dir, "f", "old")
			require.NoError(t, os.Symlink("f", filepath.Join(dir, "l")))
			h := breaks(t, sessiontest.HostileSFTP{Fail: name, Text: "no\x1b]0;title\x07 \u202eway\n\u009b2Jfairlead: root has approved ", Big: 2000})
			_, rerr := h.Read(t.Context(), dir+"/l", 0, -1, 0, io.Discard)
			_, werr := h.Write(t.Context(), path, []byte("new"), files.WriteOptions{})
			_, eerr := h.Edit(t.Context(), path, []byte("old"), []byte("new"), files.WriteOptions{})
			_, _, lerr := h.List(t.Context(), dir, 0)
			for _, err := range []error{rerr, werr, eerr, lerr} {
				if err == nil {
					continue
				}
				assert.Less(t, len(err.Error()), 1000)
				assert.NotContains(t, err.Error(), "0;title\x07")
				for _, c := range err.Error() {
					assert.True(t, unicode.IsPrint(c), "%q in %.300q", c, err)
				}
			}
		})
	}
}

func TestANameThatIsTooLongIsAMistake(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		long := filepath.Join(dir, strings.Repeat("n", 300))
		_, err := h.Write(t.Context(), long, []byte("x"), files.WriteOptions{})
		assert.Equal(t, files.CodeInvalid, code(t, err), "%v", err)
		_, err = h.Read(t.Context(), long, 0, -1, 0, io.Discard)
		assert.Equal(t, files.CodeInvalid, code(t, err), "%v", err)
		_, _, err = h.List(t.Context(), long+"/x", 0)
		assert.Equal(t, files.CodeInvalid, code(t, err), "%v", err)
	})
}

func TestContentThatArrivesOtherwiseReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "f", "old text")
	h := breaks(t, sessiontest.HostileSFTP{Corrupt: true})
	_, err := h.Write(t.Context(), path, []byte("new text"), files.WriteOptions{})
	assert.ErrorContains(t, err, "is not what was sent")
	_, err = h.Edit(t.Context(), path, []byte("text"), []byte("TEXT"), files.WriteOptions{})
	assert.ErrorContains(t, err, "is not what was sent")
	assert.Equal(t, "old text", content(t, path))
	assert.Equal(t, []string{"f"}, names(t, dir))
}

package copies_test

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// What does not end on a host without sftp is ended, and the copy says so.
func TestAHelperThatNeverEndsEndsTheCopy(t *testing.T) {
	for _, program := range []string{"mv", "wc"} {
		t.Run(program, func(t *testing.T) {
			defer copies.SetProgramWait(15 * time.Second)()
			bin := t.TempDir()
			write(t, filepath.Join(bin, program), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755)
			s := sshd(t, "Subsystem other /bin/false", "SetEnv PATH="+bin+":/usr/bin:/bin HOME="+t.TempDir())
			src, dir := filepath.Join(t.TempDir(), "src"), tempDir(t)
			write(t, src, make([]byte, 4<<20), 0o644)
			res, reports := s.upload(copies.Plan{Path: dir + "/to"}, src)
			require.Error(t, errOf(res))
			require.NotEmpty(t, reports)
			assert.Contains(t, reports[len(reports)-1].Why, "the host did nothing for 15s")
			assert.NoFileExists(t, filepath.Join(dir, "to"))
		})
	}
}

func TestAnSFTPServerThatSaysNothingEndsTheCopy(t *testing.T) {
	defer copies.SetProgramWait(2 * time.Second)()
	s := sshd(t, "Subsystem sftp /bin/sleep 20")
	src, dir := filepath.Join(t.TempDir(), "src"), tempDir(t)
	write(t, src, []byte("text"), 0o644)
	res, _ := s.upload(copies.Plan{Path: dir + "/to"}, src)
	require.ErrorContains(t, errOf(res), "the host's sftp server did not answer within 2s")
	noLeftovers(t, dir)
}

// An account that has nothing but sftp gets many files, too, and they are put on disk by it.
func TestManySmallFilesArriveWhereOnlySFTPRuns(t *testing.T) {
	s := sshd(t, "Subsystem sftp internal-sftp", "ForceCommand internal-sftp")
	src, dir := filepath.Join(t.TempDir(), "src"), tempDir(t)
	for i := range 130 {
		write(t, filepath.Join(src, fmt.Sprint(i)), []byte(fmt.Sprint("of ", i)), 0o644)
	}
	res, _ := s.upload(copies.Plan{Path: dir}, src)
	require.NoError(t, errOf(res))
	for i := range 130 {
		assert.Equal(t, fmt.Sprint("of ", i), read(t, filepath.Join(dir, "src", fmt.Sprint(i))))
	}
	noLeftovers(t, dir)
}

// A host that lets in and starts nothing is not reached: it is no fault of Fairlead's.
func TestAHostThatStartsNoSFTPIsUnreachable(t *testing.T) {
	server := sessiontest.OpenSSHD(t, "ForceCommand sleep 1000")
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey}, server.HostKeys(t))
	require.NoError(t, err)
	p, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}, Ready: time.Second}})
	require.NoError(t, err)
	defer p.Close()
	c := &copies.Copy{Plan: copies.Plan{Op: copies.Download, Path: "/etc/hostname"}, Sink: func(hosts.Host) io.Writer { return io.Discard }}
	cmd, err := c.Command()
	require.NoError(t, err)
	r, err := p.Run(t.Context(), server.Host(t, "web1"), cmd)
	require.ErrorIs(t, err, session.ErrUnreachable)
	assert.Equal(t, session.StatusUnreachable, r.Status)
	assert.ErrorContains(t, err, "the host was not ready for it within 1s")
	assert.True(t, r.Err.Retriable)
}

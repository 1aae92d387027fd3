package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// tmpfs mounts a file system of one page for each of the chain's files and a few more.
func tmpfs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32k,mode=0700"); err != nil {
		needs.Part(t, "no tmpfs can be mounted here (%v); the test with a file size limit covers the cut write", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

func TestFullDiskStopsRequestsAndLeavesAWholeChain(t *testing.T) {
	mnt := tmpfs(t)
	dir := filepath.Join(mnt, "audit")
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	defer f.Close()
	var good int
	for ; ; good++ {
		require.Less(t, good, 1000)
		e := request(fmt.Sprintf("e_%d", good), good%2 == 0)
		e.Command = strings.Repeat("x", 700)
		if err = f.Record(t.Context(), e); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.ErrorIs(t, err, syscall.ENOSPC)
	assert.EqualError(t, err, "audit: cannot write "+dir+"/000001.jsonl: no space left on device; "+
		"free space on that disk or raise the limit")
	r := whole(t, dir)
	assert.EqualValues(t, good, r.Records)
	assert.Nil(t, r.Torn)

	require.NoError(t, syscall.Mount("", mnt, "", syscall.MS_REMOUNT, "size=64k"))
	require.NoError(t, f.Record(t.Context(), request("e_after", false)), "it goes on once there is space")
	require.NoError(t, f.Close())
	assert.EqualValues(t, good+1, whole(t, dir).Records)
}

// Where the disk is full in the middle of a rotation, whichever step of it fails, nothing is recorded and nothing is lost.
func TestFullDiskInARotationStopsRequestsAndLeavesAWholeChain(t *testing.T) {
	for _, size := range []int64{900, 2000, 3500, 4096} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			mnt := tmpfs(t)
			dir := filepath.Join(mnt, "audit")
			f, err := audit.Open(dir, audit.Config{MaxSize: size})
			require.NoError(t, err)
			defer f.Close()
			var acked []string
			for i := 0; err == nil; i++ {
				require.Less(t, i, 1000)
				id := fmt.Sprintf("e_%d", i)
				if err = f.Record(t.Context(), request(id, i%2 == 0)); err == nil {
					acked = append(acked, id)
				}
			}
			require.ErrorIs(t, err, audit.ErrUnavailable)
			require.ErrorIs(t, err, syscall.ENOSPC)
			for range 3 {
				require.ErrorIs(t, f.Record(t.Context(), request("e_refused", false)), audit.ErrUnavailable)
			}
			whole(t, dir)

			require.NoError(t, syscall.Mount("", mnt, "", syscall.MS_REMOUNT, "size=128k"))
			require.NoError(t, f.Record(t.Context(), request("e_after", false)))
			require.NoError(t, f.Close())
			r := whole(t, dir)
			assert.Greater(t, r.Files, 2)
			assert.EqualValues(t, len(acked)+1+r.Files-1, r.Records, "one more at the end of each full file")
			for e, err := range audit.All(dir) {
				require.NoError(t, err)
				assert.NotEqual(t, "e_refused", e.ID)
			}
		})
	}
}

func TestFullDiskCannotStartAChain(t *testing.T) {
	mnt := tmpfs(t)
	fill, err := os.Create(filepath.Join(mnt, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	require.NoError(t, fill.Close())
	_, err = audit.Open(filepath.Join(mnt, "audit"), audit.Config{})
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.NoError(t, os.Remove(filepath.Join(mnt, "fill")))
	f, err := audit.Open(filepath.Join(mnt, "audit"), audit.Config{})
	require.NoError(t, err, "what the first try left is in nobody's way")
	require.NoError(t, f.Close())
}

// A full disk is seen before anything is recorded, and after a write that failed on it.
func TestACheckSeesAFullDisk(t *testing.T) {
	mnt := tmpfs(t)
	dir := filepath.Join(mnt, "audit")
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	fill := func() {
		fill, err := os.Create(filepath.Join(mnt, "fill"))
		require.NoError(t, err)
		for err == nil {
			_, err = fill.Write(make([]byte, 4096))
		}
		require.NoError(t, fill.Close())
	}
	fill()
	require.ErrorIs(t, f.Check(t.Context()), syscall.ENOSPC)
	require.NoError(t, os.Remove(filepath.Join(mnt, "fill")))
	require.NoError(t, f.Check(t.Context()))
	fill()
	for err == nil {
		e := request("e_2", false)
		e.Command = strings.Repeat("x", 3000)
		err = f.Record(t.Context(), e)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, f.Check(t.Context()), syscall.ENOSPC, "at once")
	require.NoError(t, os.Remove(filepath.Join(mnt, "fill")))
	require.NoError(t, f.Check(t.Context()))
	whole(t, dir)
}

// asNobody runs fn without root's power over file modes, on a thread of its own that is thrown away.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		fn()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		const nobody = 65534
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		fn()
	}()
	<-done
}

func TestUnwritableDirectoryStopsRequests(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))

	require.NoError(t, os.Chmod(dir, 0))
	defer func() { assert.NoError(t, os.Chmod(dir, 0o700)) }()
	var recordErr, openErr, verifyErr error
	asNobody(t, func() {
		recordErr = f.Record(t.Context(), request("e_2", false))
		_, openErr = audit.Open(dir, audit.Config{})
		_, verifyErr = audit.Verify(dir)
	})
	for _, err := range []error{recordErr, openErr, verifyErr} {
		require.ErrorIs(t, err, audit.ErrUnavailable)
		require.ErrorIs(t, err, os.ErrPermission)
		assert.ErrorContains(t, err, dir)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, f.Record(t.Context(), request("e_3", true)), "it goes on once it may")
	require.NoError(t, f.Close())
	assert.EqualValues(t, 2, whole(t, dir).Records)
}

// A result that comes late and does not fit is of a command that ran: Close says so, since nothing else does.
func TestClosingSaysThatResultsAreMissing(t *testing.T) {
	mnt := tmpfs(t)
	dir := filepath.Join(mnt, "audit")
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))
	fill, err := os.Create(filepath.Join(mnt, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 512))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, fill.Close())
	e := result("e_1")
	e.ReadOnly = true
	e.Error.Message = strings.Repeat("x", 8<<10) // more than is left of the page
	require.NoError(t, f.Record(t.Context(), e), "it is written late")
	err = f.Close()
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.ErrorContains(t, err, "commands ran, and their results are missing from the audit log")
}

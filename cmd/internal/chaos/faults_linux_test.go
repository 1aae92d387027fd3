package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// diskSize has room for what an hour leaves.
const diskSize = "size=1g,mode=0700"

// disk makes a directory on a disk of its own, which can be filled. Only root can have that: without, it is an ordinary one, and
// no disk is filled.
func (c *run) disk(dir string) string {
	require.NoError(c.t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, diskSize); err != nil {
		if os.Getuid() == 0 {
			needs.Part(c.t, "no tmpfs can be mounted here: %v", err)
		}
		c.t.Logf("no disk is filled: %v", err)
		return dir
	}
	c.t.Cleanup(func() { assert.NoError(c.t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	c.disks = append(c.disks, dir)
	return dir
}

// fill leaves no byte on a disk until empty is called.
func (c *run) fill(disk string) (empty func()) {
	name := filepath.Join(disk, "filler")
	f, err := os.Create(name)
	if err != nil {
		return func() {}
	}
	defer f.Close()
	size := int64(0)
	for step := int64(64 << 20); step >= 4096; {
		if err := syscall.Fallocate(int(f.Fd()), 0, size, step); err != nil {
			assert.True(c.t, errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINTR), "%v", err)
			step /= 2
			continue
		}
		size += step
	}
	return func() { assert.NoError(c.t, os.Remove(name)) }
}

// breakThings breaks one thing after the other. All is whole again when it returns.
func (c *run) breakThings(ctx context.Context, rnd *rand.Rand) {
	kinds := []string{"kill -9", "SIGSTOP", "no runtime directory", "frozen database", "cut links", "held links", "another clock"}
	if len(c.disks) > 0 {
		kinds = append(kinds, "full disk")
	}
	for sleep(ctx, time.Duration(100+rnd.IntN(900))*time.Millisecond) {
		k, kind := c.any(rnd), kinds[rnd.IntN(len(kinds))]
		lasts := time.Duration(rnd.IntN(2500)) * time.Millisecond
		if rnd.IntN(25) == 0 {
			lasts = 12 * time.Second // longer than what is done may take
		}
		c.broken[kind]++
		switch kind {
		case "kill -9", "another clock":
			assert.NoError(c.t, k.end(syscall.SIGKILL))
			ahead := time.Duration(0)
			if kind == "another clock" {
				ahead = time.Duration(rnd.Int64N(int64(6*time.Hour))) - 3*time.Hour
			}
			if err := k.start(ahead); err != nil {
				c.fault("a keeper does not start again: %v", err)
				return
			}
		case "SIGSTOP":
			k.signal(syscall.SIGSTOP)
			sleep(ctx, lasts)
			k.signal(syscall.SIGCONT)
		case "no runtime directory":
			assert.NoError(c.t, os.RemoveAll(filepath.Dir(placesIn(k.dir).Socket)))
		case "frozen database":
			thaw := postgres.Freeze(c.t)
			sleep(ctx, lasts)
			thaw()
		case "cut links":
			c.far.cut()
		case "held links":
			release := c.far.hold()
			sleep(ctx, lasts)
			release()
		case "full disk":
			empty := c.fill(c.disks[rnd.IntN(len(c.disks))])
			sleep(ctx, lasts)
			empty()
		}
	}
}

package knownhosts_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// A file that opens for writing and takes nothing is what a full disk looks like.
func TestAppendSaysWhereALineCouldNotBeWritten(t *testing.T) {
	fd, err := unix.MemfdCreate("known_hosts", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), "known_hosts")
	defer f.Close()
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
	require.NoError(t, err)
	err = knownhosts.Append(name, "web", testKeys().ed.PublicKey(), knownhosts.AppendOptions{})
	assert.EqualError(t, err, "knownhosts: "+name+" cannot be written: operation not permitted")
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LandlockVersion asks this machine's kernel for the version of its Landlock interface; 0 without Landlock, and where it
// is switched off, and on processors for which [Landlock]'s seccomp filter was not written.
func LandlockVersion() int {
	if nativeArch == 0 {
		return 0
	}
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Rights to change files, by the version that knows them (landlock(7)).
const (
	changes1 = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	changes3 = changes1 | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	ioctl5   = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	scoped6  = 1 | 2 // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL
	reads    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// ruleset is struct landlock_ruleset_attr; kernels that know less of it take a shorter one.
type ruleset struct{ fs, net, scoped uint64 }

// Confine puts the calling process behind Landlock and a seccomp filter, with the directory as the only one in which files
// can be changed, and becomes argv in it. Options of [Landlock.Program] may stand in front of argv. It returns only on
// failure, and then the process must end: it may be confined already. It is for the main function of a helper; argv[0] is
// looked up in PATH.
func Confine(dir string, argv, env []string) error {
	c, err := readConfinement(dir, argv)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(c.argv[0])
	if err != nil {
		return fmt.Errorf("sandbox: nothing was run: %w", err)
	}
	runtime.LockOSThread() // Landlock holds a thread; the program that it becomes has only this one
	if err := restrict(c); err != nil {
		return err
	}
	// What this process was given open would lead around it.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("sandbox: nothing was run: descriptors cannot be closed: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("sandbox: nothing was run: %w", err)
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "TMPDIR" || name == "TMPPREFIX" || slices.Contains(agentVariables, name)
	})
	env = append(env, "TMPDIR="+dir, "TMPPREFIX="+dir+"/.zsh")
	return fmt.Errorf("sandbox: nothing was run: %w", unix.Exec(program, c.argv, env))
}

func restrict(c confinement) error {
	version := LandlockVersion()
	if version < MinLandlock {
		return fmt.Errorf("sandbox: the kernel's Landlock has version %d, and %d is needed; nothing was run", version, MinLandlock)
	}
	hidden, err := realPaths(c.hide)
	if err != nil {
		return err
	}
	attr, size := ruleset{fs: changes3}, unsafe.Sizeof(uint64(0))
	device := uint64(unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	if version >= 5 {
		attr.fs |= ioctl5
		device |= ioctl5
	}
	inside := attr.fs &^ (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK) // a device is a way to any file
	if len(hidden) > 0 {
		attr.fs |= reads
		inside |= reads
		device |= unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	if version >= 6 {
		attr.scoped, size = scoped6, unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("sandbox: Landlock refuses the rules, and nothing was run: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := permit(int(fd), c.dir, inside); err != nil {
		return err
	}
	for _, name := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", ownTerminal()} {
		if err := permit(int(fd), name, device); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if len(hidden) > 0 {
		if err := permitReading(int(fd), "/", hidden); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: the kernel does not give up new privileges, and nothing was run: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("sandbox: Landlock does not take effect, and nothing was run: %w", errno)
	}
	if err := refuseSockets(c.noNetwork); err != nil {
		return err
	}
	return dropCapabilities()
}

// dropCapabilities takes all of them away for good: without new privileges no program gets one back, whatever its account.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("sandbox: capabilities cannot be given up, and nothing was run: %w", err)
	}
	return nil
}

// realPaths are the paths without symbolic links. What is not there cannot be read, but may be made later.
func realPaths(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		real, err := filepath.EvalSymlinks(name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			real = filepath.Clean(name)
		case err != nil:
			return nil, fmt.Errorf("sandbox: where %s leads cannot be found out, and nothing was run: %w", name, err)
		}
		out = append(out, real)
	}
	return out, nil
}

// permitReading allows reading everything below dir but what is hidden: of a directory that holds something hidden, its
// other entries one by one. It follows no links, which may lead to what is hidden, and no real path of which is below one.
func permitReading(ruleset int, dir string, hidden []string) error {
	if !slices.ContainsFunc(hidden, func(h string) bool { return within(h, dir) }) {
		return permitAt(ruleset, dir, reads)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return nil // then nothing below it is allowed
	}
	if err != nil {
		return fmt.Errorf("sandbox: %s cannot be listed, and nothing was run: %w", dir, err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if slices.ContainsFunc(hidden, func(h string) bool { return within(name, h) }) {
			continue
		}
		if err := permitReading(ruleset, name, hidden); err != nil {
			return err
		}
	}
	return nil
}

// permitAt allows rights below what stands at a path, without following a link; what is gone by now needs none.
func permitAt(ruleset int, name string, rights uint64) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sandbox: %s cannot be opened, and nothing was run: %w", name, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("sandbox: %s cannot be looked at, and nothing was run: %w", name, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil
	default:
		rights &= unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	return permitFD(ruleset, fd, name, rights)
}

// permit allows rights below a path.
func permit(ruleset int, name string, rights uint64) error {
	if name == "" {
		return nil
	}
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("sandbox: %s cannot be opened, and nothing was run: %w", name, err)
	}
	defer unix.Close(fd)
	return permitFD(ruleset, fd, name, rights)
}

func permitFD(ruleset, fd int, name string, rights uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("sandbox: Landlock refuses the rule for %s, and nothing was run: %w", name, errno)
	}
	return nil
}

// ownTerminal is the terminal that the process runs on; "" without one. Other terminals of the account stay closed.
func ownTerminal() string {
	name, err := os.Readlink("/proc/self/fd/0")
	if err != nil || !strings.HasPrefix(name, "/dev/pts/") {
		return ""
	}
	return name
}

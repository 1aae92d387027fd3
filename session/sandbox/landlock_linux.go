package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LandlockVersion asks this machine's kernel for the version of its Landlock interface; 0 without Landlock, and where it
// is switched off.
func LandlockVersion() int {
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
)

// ruleset is struct landlock_ruleset_attr; kernels that know less of it take a shorter one.
type ruleset struct{ fs, net, scoped uint64 }

// Confine puts the calling process behind Landlock, with the directory as the only one in which files can be changed, and
// becomes argv in it. It returns only on failure, and then the process must end: it may be confined already. It is for the
// main function of a helper; argv[0] is looked up in PATH.
func Confine(dir string, argv, env []string) error {
	if why := wrongPath(dir); why != "" {
		return fmt.Errorf("sandbox: the path %q %s", clip(dir), why)
	}
	if len(argv) == 0 {
		return errors.New("sandbox: there is no command to run in the sandbox")
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("sandbox: nothing was run: %w", err)
	}
	runtime.LockOSThread() // Landlock holds a thread; the program that it becomes has only this one
	if err := restrict(dir); err != nil {
		return err
	}
	// What this process was given open would lead around it.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("sandbox: nothing was run: descriptors cannot be closed: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("sandbox: nothing was run: %w", err)
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TMPDIR=") || strings.HasPrefix(kv, "TMPPREFIX=") })
	env = append(env, "TMPDIR="+dir, "TMPPREFIX="+dir+"/.zsh")
	return fmt.Errorf("sandbox: nothing was run: %w", unix.Exec(program, argv, env))
}

func restrict(dir string) error {
	version := LandlockVersion()
	if version < MinLandlock {
		return fmt.Errorf("sandbox: the kernel's Landlock has version %d, and %d is needed; nothing was run", version, MinLandlock)
	}
	attr, size := ruleset{fs: changes3}, unsafe.Sizeof(uint64(0))
	device := uint64(unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	if version >= 5 {
		attr.fs |= ioctl5
		device |= ioctl5
	}
	if version >= 6 {
		attr.scoped, size = scoped6, unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("sandbox: Landlock refuses the rules, and nothing was run: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := permit(int(fd), dir, attr.fs); err != nil {
		return err
	}
	for _, name := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", ownTerminal()} {
		if err := permit(int(fd), name, device); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: the kernel does not give up new privileges, and nothing was run: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("sandbox: Landlock does not take effect, and nothing was run: %w", errno)
	}
	return nil
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

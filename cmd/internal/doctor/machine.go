package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// program says what this is, and as whom it acts.
func (o *Options) program(context.Context) []Check {
	who := o.Caller()
	if who.Mark != "" {
		return []Check{ok("version", "%s", version.Read()),
			warn("caller", "unset it where no agent is meant", "%s is set: commands are judged as those of %s", who.Mark, who.Principal)}
	}
	return []Check{ok("version", "%s", version.Read()), ok("caller", "%s", who.Principal)}
}

// sandbox tries what could hold an agent on this machine, in an empty directory.
func (o *Options) sandbox(ctx context.Context) []Check {
	dir, err := os.MkdirTemp("", "fairlead-doctor-")
	if err != nil {
		return []Check{fail("sandbox", "make the directory for temporary files writable", "%s", why(cause(err)))}
	}
	defer os.Remove(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	box := sandbox.Sandbox{ID: "doctor", Principal: "operator/doctor", Host: "this machine", Path: dir, Active: true}
	can, err := sandbox.Probe(ctx, func(ctx context.Context, _, script string) (string, error) {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Stdout = &out
		err := procgroup.Run(cmd)
		return out.String(), err
	}, sandbox.Bubblewrap{}, box)
	if err != nil {
		return []Check{warn("sandbox", "", "%s", why(err))}
	}
	can.Landlock = sandbox.LandlockVersion()
	landlock := fmt.Sprintf("Landlock version %d", can.Landlock)
	if can.Landlock == 0 {
		landlock = "no Landlock"
	}
	switch {
	case can.Bubblewrap:
		return []Check{ok("sandbox", "kernel: bubblewrap works; %s", landlock)}
	case can.Landlock >= sandbox.MinLandlock:
		return []Check{ok("sandbox", "kernel: %s; %s", landlock, can.Why)}
	}
	return []Check{warn("sandbox", "install bubblewrap, and let it make namespaces, if agents work on this machine", "checked only: %s; %s", can.Why, landlock)}
}

// terminals looks how many more terminals this machine can make: each session on this machine takes one.
func (o *Options) terminals(context.Context) []Check { return ptys("/proc/sys/kernel/pty") }

// ptys reads what Linux says of its terminals in dir; other systems say nothing.
func ptys(dir string) []Check {
	number := func(name string) (int, error) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(string(data)))
	}
	used, err := number("nr")
	most, merr := number("max")
	const next = "close what holds them, or raise kernel.pty.max (sysctl)"
	switch {
	case err != nil || merr != nil:
		return nil
	case used >= most:
		return []Check{fail("terminals", next, "all %d are in use: no shell can be started here", most)}
	case used > most/10*8:
		return []Check{warn("terminals", next, "%d of %d are in use", used, most)}
	}
	return []Check{ok("terminals", "%d of %d are in use", used, most)}
}

// openFiles looks how many hosts can be worked on at a time.
func (o *Options) openFiles(context.Context) []Check {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return nil
	}
	const plenty = 1 << 20
	n, capped := dialer.CapForks(plenty)
	switch {
	case !capped:
		return []Check{ok("open files", "at most %d", lim.Cur)}
	case n < session.DefaultForks:
		return []Check{warn("open files", "raise it (ulimit -n)", "at most %d, which is enough for %s at a time", lim.Cur, cmdutil.Count(n, "host"))}
	}
	return []Check{ok("open files", "at most %d, which is enough for %s at a time", lim.Cur, cmdutil.Count(n, "host"))}
}

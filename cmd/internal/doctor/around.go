package doctor

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// look is what looks around on a host. It is judged like any command, as read-only; it changes nothing and leaves nothing.
// Looks is what is sent to a host to see how it is there, and Reason what is recorded as the reason.
const (
	Reason = "doctor"
	Looks  = `printf '%s\n' "shell=${BASH_VERSION:+bash}${ZSH_VERSION:+zsh}${KSH_VERSION:+ksh}"
date +clock=%s
if command -v bwrap >/dev/null 2>&1; then echo bwrap=yes; else echo bwrap=no; fi
df -Pk "${TMPDIR:-/tmp}"`
)

const (
	lookTime = 30 * time.Second
	sftpTime = 10 * time.Second
	heldTime = 10 * time.Second

	maxSkew  = 30 * time.Second // of clocks; certificates and one-time codes go wrong soon after
	lowSpace = 100 << 20        // bytes, for temporary files
)

// around reads what look has printed.
func (o *Options) around(res session.Result) []Check {
	said := map[string]string{}
	var free int64 = -1
	for line := range strings.Lines(string(res.Stdout)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			said[name] = value
			continue
		}
		if f := strings.Fields(line); len(f) >= 6 { // as POSIX has df -P print it; the heading's words are no numbers
			if kib, err := strconv.ParseInt(f[3], 10, 64); err == nil && kib >= 0 && kib < 1<<50 {
				free = kib << 10
			}
		}
	}
	shell := said["shell"]
	if shell == "" {
		shell = "sh"
	}
	all := []Check{ok("shell", "%s on a terminal of its own, standard error %s", shell, stderrMode[res.StderrMode])}
	if res.StderrMode == "lines" {
		all[0] = warn("shell", "install perl there, or bsdextrautils for hexdump", "%s on a terminal of its own, and standard error comes line by line, without NUL bytes", shell)
	}
	if res.StderrMode == "channel" {
		all[0] = warn("shell", "for sessions, jobs and fairlead shell, allow a terminal: PermitTTY yes, and neither no-pty nor restrict for the key",
			"%s runs single commands; the server gives no terminal", shell)
	}
	all = append(all, o.skew(said["clock"], res))
	if said["bwrap"] == "yes" {
		all = append(all, ok("bubblewrap", "installed; fairlead sandbox check tries whether it works"))
	} else {
		all = append(all, ok("bubblewrap", "not there: an agent's sandbox on this host would be checked, and not enforced"))
	}
	switch {
	case free < 0:
		all = append(all, warn("temp space", "", "df printed no figure"))
	case free < lowSpace:
		all = append(all, warn("temp space", "free some, or point TMPDIR elsewhere", "only %s are free for temporary files", size(free)))
	default:
		all = append(all, ok("temp space", "%s are free", size(free)))
	}
	return all
}

var stderrMode = map[string]string{"live": "exact and live", "merged": "merged"}

// skew compares the host's clock with this one, as far as seconds and the way there let it.
func (o *Options) skew(said string, res session.Result) Check {
	at, err := strconv.ParseInt(said, 10, 64)
	if err != nil {
		return warn("clock", "", "date printed no time")
	}
	there, begun := time.Unix(at, 0), res.Started.Truncate(time.Second)
	var off time.Duration
	switch ended := res.Started.Add(res.Duration); {
	case there.Before(begun):
		off = there.Sub(begun)
	case there.After(ended):
		off = there.Sub(ended)
	}
	if off.Abs() <= maxSkew {
		return ok("clock", "within %v of this machine's", (off.Abs() + time.Second).Round(time.Second))
	}
	how := "ahead of"
	if off < 0 {
		how = "behind"
	}
	return warn("clock", "have both keep time (NTP): certificates and one-time codes depend on it", "%v %s this machine's", off.Abs().Round(time.Second), how)
}

// sftp asks whether the server has it. Nothing is done with it.
func (w *walker) sftp(ctx context.Context, h hosts.Host) Check {
	ctx, cancel := context.WithTimeout(ctx, sftpTime)
	defer cancel()
	var rw io.ReadWriteCloser
	release, err := registry.Lend(ctx, w.pool, h, func(t session.Transport) error {
		s, has := t.(interface {
			Subsystem(ctx context.Context, name string) (io.ReadWriteCloser, error)
		})
		if !has {
			return errors.ErrUnsupported
		}
		var err error
		rw, err = s.Subsystem(ctx, "sftp")
		return err
	})
	if err == nil {
		rw.Close()
		release()
		return ok("sftp", "the server has it")
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return warn("sftp", "Subsystem sftp in sshd_config makes files faster", "the server has none: files go through the shell")
	}
	return warn("sftp", "", "it cannot be determined: %s", why(err))
}

// dialed notes how a connection went.
func (w *walker) dialed(_ context.Context, h hosts.Host, p session.Peer, took time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dials[h.Name] = dial{p, float64(took.Microseconds()) / 1000, err}
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return strconv.FormatInt(n>>30, 10) + " GiB"
	case n >= 10<<20:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n>>10, 10) + " KiB"
}

package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
)

// keeper asks the one that runs. None is started.
func (o *Options) keeper(ctx context.Context) []Check {
	mode, err := o.KeeperMode()
	if err != nil {
		return []Check{fail("keeper", "mend that", "%s", why(err))}
	}
	if mode == config.Off {
		return []Check{ok("keeper", "switched off"), separation("shared-uid")}
	}
	places, err := o.Places()
	if err != nil {
		return []Check{fail("keeper", "set XDG_RUNTIME_DIR", "%s", why(err))}
	}
	var all []Check
	for _, at := range []struct {
		path string
		may  os.FileMode
	}{{filepath.Dir(places.Socket), 0o700}, {places.Socket, 0o600}} {
		if st, err := os.Lstat(at.path); err == nil && st.Mode().Perm()&^at.may != 0 {
			all = append(all, fail("keeper", text("chmod %o %s", at.may, at.path), "%s: other accounts may use it (mode %04o)", at.path, st.Mode().Perm()))
		}
	}
	c, err := reach.Dial(ctx, reach.Config{Places: places})
	if err != nil {
		return append(all, noKeeper(places, mode, err), separation("shared-uid"))
	}
	defer c.Close()
	h, err := c.Health(ctx)
	if err != nil {
		return append(all, fail("keeper", "fairlead serve --stop ends it", "it does not answer: %s", why(err)))
	}
	if own := version.Read().Version; h.Version != own {
		all = append(all, warn("keeper", "fairlead serve --stop ends it and its sessions; the next command starts one of this version",
			"the one that runs is %s, and this is %s", h.Version, own))
	} else {
		all = append(all, ok("keeper", "it runs: process %d, %s, %s", h.PID, h.Version, cmdutil.Count(h.Sessions, "session")))
	}
	if said, next, _ := strings.Cut(h.Store, ". "); said != "" {
		all = append(all, fail("keeper", next, "%s", said))
	}
	if said, next, _ := strings.Cut(h.Audit, "; "); said != "" {
		all = append(all, fail("keeper", next, "%s", said))
	}
	return append(all, separation(h.Separation))
}

// noKeeper says why there is none.
func noKeeper(places listen.Places, mode config.KeeperMode, err error) Check {
	switch _, serr := os.Lstat(places.Socket); {
	case errors.Is(err, reach.ErrStuck):
		said, next, _ := strings.Cut(why(err), ": ")
		return fail("keeper", next, "%s", said)
	case !errors.Is(err, reach.ErrNone):
		return fail("keeper", "see "+places.Log, "%s", why(err))
	case serr == nil:
		return warn("keeper", "nothing: the next one that starts replaces it", "no keeper listens on %s: the last one died", places.Socket)
	case mode == config.Require:
		return ok("keeper", "none runs, and one is required: the next command starts it")
	}
	return ok("keeper", "none runs: the next command that profits from one starts it")
}

// separation says what the gate is worth.
func separation(how string) Check {
	if how == "split-uid" {
		return ok("gate", "split-uid: the keeper alone holds keys and policy, and the gate is enforced")
	}
	return ok("gate", "%s: a program of this account could use its keys without Fairlead; the gate is a safeguard, not a security boundary", how)
}

package keeper

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// noted writes an entry about the keeper itself. Nothing that it announces is refused where that fails: commands are.
func (k *Keeper) noted(e audit.Event) {
	e.Principal = cmp.Or(e.Principal, k.cfg.Principal)
	if err := k.sink.Record(context.Background(), e); err != nil {
		k.log.Printf("the audit log has no entry of kind %s: %v", e.Kind, err)
	}
}

// noteStart writes that the keeper has started, and with what.
func (k *Keeper) noteStart(p listen.Places) {
	k.noted(audit.Event{Kind: audit.KeeperStart, Subject: p.Socket, Change: "version " + cmp.Or(k.cfg.Version, "unknown")})
	for _, name := range k.cfg.SettingsFiles {
		switch data, err := os.ReadFile(name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			k.log.Printf("the audit log has no entry of the settings: %v", err)
		default:
			k.noted(audit.Event{Kind: audit.ConfigLoad, Subject: name, Change: fmt.Sprintf("sha256 %x", sha256.Sum256(data))})
		}
	}
	if _, err := k.policy.Current(); err != nil {
		k.log.Print(err)
	}
}

// notePolicy writes that a policy took effect.
func (k *Keeper) notePolicy(hash string) {
	k.noted(audit.Event{Kind: audit.PolicyLoad, Subject: strings.Join(k.cfg.PolicyFiles, ", "), Policy: hash})
}

// grants says what a token gives.
func grants(t store.Token) string {
	text := "role " + t.Role
	if t.Expires.IsZero() {
		return text + ", does not expire"
	}
	return text + ", expires " + t.Expires.UTC().Format(time.RFC3339)
}

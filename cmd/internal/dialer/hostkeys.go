package dialer

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// RecordHostKeys puts changes of known_hosts files that hosts ask for (UpdateHostKeys) into the audit log, before they are made.
func RecordHostKeys(sink func() (audit.Sink, error), principal string) func(context.Context, sshconn.HostKeyChange) error {
	if sink == nil {
		return nil
	}
	return func(ctx context.Context, c sshconn.HostKeyChange) error {
		s, err := sink()
		if err != nil {
			return err
		}
		note := func(kind audit.Kind, what []string, in string) error {
			if len(what) == 0 {
				return nil
			}
			return s.Record(ctx, audit.Event{Kind: kind, Principal: principal, Subject: c.Host,
				Change: fmt.Sprintf("%s for %s in %s (the host says so: UpdateHostKeys)", strings.Join(what, ", "), c.Name, in)})
		}
		if err := note(audit.HostKeyTrust, c.New, c.Files[0]); err != nil {
			return err
		}
		return note(audit.HostKeyForget, c.Old, strings.Join(c.Files, ", "))
	}
}

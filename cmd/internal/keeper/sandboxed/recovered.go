package sandboxed

import (
	"context"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// At its start the keeper compares the store with its audit log. Each may know what the other does not: a store that was restored
// from a backup has forgotten what ran since, and a keeper that was killed has not written how a request ended.

// answeredBefore returns those of the pending requests that the audit log says were answered, with what was answered: the store is
// an older one than the log, and they must not run again.
func (r *Runner) answeredBefore(pending []string) (map[string]string, error) {
	found := map[string]string{}
	if len(pending) == 0 || r.cfg.AuditDir == "" {
		return found, nil
	}
	waits := map[string]bool{}
	for _, id := range pending {
		waits[id] = true
	}
	for e, err := range audit.All(r.cfg.AuditDir) {
		switch {
		case errors.Is(err, audit.ErrUnavailable):
			return nil, err
		case err == nil && waits[e.ID] && (e.Kind == audit.ApprovalResult || e.Kind == audit.CommandResult):
			found[e.ID] = e.Status
		}
	}
	return found, nil
}

// forbidAgain ends a request that the store has as pending and the audit log as answered.
func (r *Runner) forbidAgain(ctx context.Context, id, status string) error {
	why := "the audit log says that this request was answered before (" + status + "), so the store is an older copy. It does not run again. If it is still needed, request it again"
	return r.withdraw(ctx, id, "denied", why)
}

// atStart notes how far the audit log went before this keeper: by places, for the clocks of earlier ones may have been ahead.
func (r *Runner) atStart() {
	if r.cfg.AuditDir == "" {
		return
	}
	last, err := audit.Tail(r.cfg.AuditDir, 1)
	switch {
	case err != nil && len(last) == 0:
		r.cfg.Log.Printf("the audit log cannot be read, so requests of earlier keepers stay without a result: %v", err)
	case len(last) > 0: // of a damaged log, too
		r.logged = last[0].Seq
	}
}

// closeEntries writes, for each request of an earlier keeper that has no result in the audit log, the end that the store knows.
func (r *Runner) closeEntries(ctx context.Context) error {
	if r.cfg.AuditDir == "" {
		return nil
	}
	open := map[string]audit.Event{}
	for e, err := range audit.All(r.cfg.AuditDir) {
		switch {
		case errors.Is(err, audit.ErrUnavailable):
			return err
		case err != nil || e.Seq > r.logged || e.ID == "":
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			about, _, _ := strings.Cut(string(e.Kind), ".")
			switch key := about + " " + e.ID; e.Kind {
			case audit.ApprovalRequest, audit.CommandRequest:
				if strings.HasPrefix(e.ID, "c_") || e.Session != "" {
					open[key] = e
				}
			case audit.ApprovalResult, audit.CommandResult:
				delete(open, key)
			}
		}
	}
	var errs []error
	for _, e := range open {
		if err := r.closeEntry(ctx, e); err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// closeEntry writes the end of one request, if the store knows it.
func (r *Runner) closeEntry(ctx context.Context, e audit.Event) error {
	c, err := r.commandOf(ctx, e)
	if err != nil || !c.Status.Ended() {
		return err
	}
	if e.Kind == audit.ApprovalRequest {
		_, err := r.noteKept(ctx, c)
		return err
	}
	end := r.event(audit.CommandResult, c, "", policy.Decision{Class: policy.Class(c.Class), Rule: c.Rule}, c.Outcome)
	end.ID, end.Session, end.ExitCode = e.ID, e.Session, c.ExitCode
	if c.Status != store.Executed {
		end.Error = audit.Fault{Code: c.Outcome, Message: c.Reason}
	}
	return r.cfg.Record.Record(context.WithoutCancel(ctx), end)
}

// commandOf is the store's record of what an entry is about: a request by its own id, a run in a sandbox by the session that it had
// for itself.
func (r *Runner) commandOf(ctx context.Context, e audit.Event) (store.Command, error) {
	if strings.HasPrefix(e.ID, "c_") {
		return r.cfg.Store.Command(ctx, e.ID)
	}
	page, err := r.cfg.Store.Commands(ctx, store.CommandFilter{Session: e.Session, Brief: true}, store.Paging{Limit: 2})
	switch {
	case err != nil:
		return store.Command{}, err
	case e.Session == "" || len(page.Items) != 1:
		return store.Command{}, store.ErrNotFound
	}
	return page.Items[0], nil
}

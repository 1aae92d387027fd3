package copies

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// latest is the last time that sftp has a number for.
var latest = time.Unix(math.MaxUint32, 0).UTC()

// keptTime is a time of a file as it is kept: in whole seconds, which is what sftp and touch know. whole is false where sftp has
// no number for it, and another one is kept.
func keptTime(t time.Time) (kept time.Time, whole bool) {
	switch s := t.Unix(); {
	case s < 0:
		return time.Unix(0, 0).UTC(), false
	case s > math.MaxUint32:
		return latest, false
	default:
		return time.Unix(s, 0).UTC(), true
	}
}

func (p *Plan) checkTime(e *Entry) error {
	switch kept, whole := keptTime(e.Modified); {
	case !p.Times && !e.Modified.IsZero():
		return fmt.Errorf("%q has the time of its last change, which is for an upload with times", e.Name)
	case p.Times && e.Modified.IsZero():
		return fmt.Errorf("%q has no time of its last change, which an upload with times needs", e.Name)
	case p.Times && (!whole || !kept.Equal(e.Modified)):
		return fmt.Errorf("the time of the last change of %q must be in whole seconds, from 1970 to 2106", e.Name)
	}
	return nil
}

// shownTime is the time of an entry in front of its name, if it has one.
func (e *Entry) shownTime() string {
	if e.Modified.IsZero() {
		return ""
	}
	return e.Modified.UTC().Format(time.RFC3339) + " "
}

// Times puts into Entries when each was changed last, for a plan with Times. Times before 1970 and after 2106 cannot be kept: they
// are in Left.
func (l *Local) Times() {
	for i := range l.Entries {
		kept, whole := keptTime(l.changed[i])
		if l.Entries[i].Modified = kept; !whole {
			l.Left = append(l.Left, Report{Done: Noted, Name: l.Entries[i].Name, Why: "its time is before 1970 or after 2106, and becomes " + kept.Format(time.RFC3339)})
		}
	}
}

// directoryTimes gives directories their times, once nothing changes in them any more.
func (u *uploading) directoryTimes(ctx context.Context) error {
	for n := range u.p.Entries {
		e := &u.p.Entries[n]
		if !e.Dir || !u.p.Times {
			continue
		}
		u.slots <- struct{}{}
		u.wg.Go(func() {
			defer func() { <-u.slots }()
			if err := u.r.Stamp(ctx, u.target(n), e.Modified); err != nil {
				u.fail(n, fmt.Errorf("its time could not be set: %w", err))
			}
		})
	}
	u.wg.Wait()
	return u.fatal()
}

// otherTime is when what is on the host was changed last, where the copy gives it another time.
func (u *uploading) otherTime(ctx context.Context, e *Entry, to string, st hostfs.Meta) (was time.Time, other bool, err error) {
	if !u.p.Times {
		return was, false, nil
	}
	if err = timed(ctx, u.r, path.Dir(to), []*hostfs.Meta{&st}); err != nil {
		return was, false, err
	}
	was, _ = keptTime(st.Changed)
	return was, !was.Equal(e.Modified), nil
}

// timed completes what is known of names in a directory by their times.
func timed(ctx context.Context, r hostfs.FS, dir string, all []*hostfs.Meta) error {
	t, ok := r.(hostfs.Timer)
	all = slices.DeleteFunc(all, func(m *hostfs.Meta) bool { return !m.Changed.IsZero() })
	if !ok || len(all) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i, m := range all {
		if names[i] = m.Name; m.Name == "" { // of the root
			names[i] = "."
		}
	}
	when, err := t.Times(ctx, dir, names)
	if err != nil {
		return err
	}
	for i, m := range all {
		m.Changed = when[i]
	}
	return nil
}

// timed completes what a download found in a directory.
func (d *downloading) timed(ctx context.Context, dir string, all []hostfs.Meta) error {
	if !d.times {
		return nil
	}
	some := make([]*hostfs.Meta, len(all))
	for i := range all {
		some[i] = &all[i]
	}
	return timed(ctx, d.r, dir, some)
}

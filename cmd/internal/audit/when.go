package audit

import (
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// whenHelp says what parseWhen reads.
const whenHelp = "a date (2026-11-21), a time (2026-11-21T02:00:00Z), or how long ago (90m, 12h, 30d)"

// parseWhen reads a moment: a date at midnight here, a time of RFC 3339, or a duration before now, in Go's form or as a
// number of days.
func parseWhen(flag, text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation("2006-01-02", text, now.Location()); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, cmdutil.Usagef("%s %q: it takes %s", flag, text, whenHelp)
}

// parsePeriod reads --since and --until; empty is the zero time.
func parsePeriod(since, until string, now time.Time) (from, to time.Time, err error) {
	if since != "" {
		if from, err = parseWhen("--since", since, now); err != nil {
			return from, to, err
		}
	}
	if until != "" {
		if to, err = parseWhen("--until", until, now); err != nil {
			return from, to, err
		}
	}
	if since != "" && until != "" && !from.Before(to) {
		return from, to, cmdutil.Usagef("--until %q is not after --since %q: give the earlier time to --since", until, since)
	}
	return from, to, nil
}

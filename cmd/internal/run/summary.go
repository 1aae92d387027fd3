package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// summary adds up what became of each host.
type summary struct {
	id       string
	total    int
	tally    exitcode.Tally
	took     time.Duration
	canceled int

	names      map[session.Status][]string
	notRun     []string        // got nothing, because a rollout had stopped
	rollout    *wire.RunReport // nil where there is none
	notStarted []string        // canceled before anything was sent
	reasons    []*failure
}

// failure is one way to fail and who failed so.
type failure struct {
	status session.Status
	*outcome.Cause
}

func (s *summary) add(t *target, r session.Result) {
	if s.names == nil {
		s.names = map[session.Status][]string{}
	}
	s.names[r.Status] = append(s.names[r.Status], t.label)
	if untouched(r) {
		s.notRun = append(s.notRun, t.label)
		return
	}
	s.tally.Add(r)
	if r.Status == session.StatusCanceled {
		s.canceled++
		if r.Err == nil || !r.Err.Sent {
			s.notStarted = append(s.notStarted, t.label)
		}
	}
	if r.Status == session.StatusOK {
		return
	}
	s.because(t, r, "")
}

// atVerify begins what is told of a check.
const atVerify = "verify: "

// verified takes what became of the check of a rollout on a host where the command succeeded.
func (s *summary) verified(t *target, r session.Result) {
	if r.Status == session.StatusOK || untouched(r) {
		return
	}
	s.tally.Add(r)
	good := s.names[session.StatusOK]
	if i := slices.Index(good, t.label); i >= 0 {
		s.names[session.StatusOK] = slices.Delete(good, i, i+1)
	}
	s.names[r.Status] = append(s.names[r.Status], t.label)
	s.because(t, r, atVerify)
}

// because notes how a host failed, after a prefix.
func (s *summary) because(t *target, r session.Result, prefix string) {
	cause := outcome.CauseOf(t.label, r, prefix)
	for _, known := range s.reasons {
		if known.status == r.Status && known.Join(cause) {
			return
		}
	}
	s.reasons = append(s.reasons, &failure{r.Status, cause})
}

// text is what a person should read last; "" when there is nothing to say that the output and the exit code do not.
func (s *summary) text() string {
	if len(s.reasons) == 0 {
		return stopText(s.rollout)
	}
	s.sort()
	if s.total == 1 {
		first := s.reasons[0]
		if text := first.String(); strings.HasPrefix(text, atVerify) { // the exit code is not the check's own
			return fmt.Sprintf("fairlead: %s: %s\n", first.Names[0], text)
		}
		text := outcome.Line(first.Names[0], first.status, first.String())
		if first.status != session.StatusTimeout { // which says itself that the deadline passed
			text += stopText(s.rollout) // which the exit code is of
		}
		return text
	}
	failed, width := 0, 0
	for _, r := range s.reasons {
		failed += len(r.Names)
	}
	folded := make([]string, len(s.reasons))
	for i, r := range s.reasons {
		folded[i] = r.Hosts()
		width = max(width, min(len(folded[i]), 40))
	}
	var b strings.Builder
	good := s.names[session.StatusOK]
	if s.canceled == 0 {
		fmt.Fprintf(&b, "fairlead: %d of %d hosts failed, %d succeeded", failed, s.total, len(good))
		if n := len(s.notRun); n > 0 {
			fmt.Fprintf(&b, ", %d not run", n)
		}
		b.WriteByte('\n')
	} else {
		fmt.Fprintf(&b, "fairlead: interrupted: %d of %d hosts are done\n", s.total-s.canceled, s.total)
		if len(good) > 0 {
			fmt.Fprintf(&b, "  %-*s  ok\n", width, hosts.Fold(good))
		}
	}
	for i, r := range s.reasons {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, folded[i], r)
		for _, own := range r.Own() {
			fmt.Fprintf(&b, "    %s\n", own)
		}
	}
	return b.String() + stopText(s.rollout)
}

// sort puts what decides the exit code first, and where that is equal what hits most.
func (s *summary) sort() {
	weight := func(r *failure) int {
		return slices.Index([]session.Status{
			session.StatusError, session.StatusDenied, session.StatusExpired, session.StatusLost, session.StatusTimeout,
			session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusSignal, session.StatusExit,
			session.StatusCanceled,
		}, r.status)
	}
	slices.SortStableFunc(s.reasons, func(a, b *failure) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(len(b.Names), len(a.Names)), cmp.Compare(a.String(), b.String()))
	})
}

package rules

import (
	"fmt"
	"sync"
	"time"
)

// mostMetered bounds how many principals are counted at a time.
const mostMetered = 10_000

// QuotaError says that a principal asked too often. Nothing was counted for the refused request.
type QuotaError struct {
	Principal string
	What      string    // "rate" or "daily"
	Limit     string    // "30 per minute", "1000 per day"
	Retry     time.Time // when it may be admitted again
}

// Error names the principal, the limit and when to come back.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("rules: %s has used up its %s limit (%s); try again after %s", e.Principal, e.What, e.Limit,
		e.Retry.UTC().Format(time.RFC3339))
}

// meter counts requests by principal, in memory. The zero meter is ready for use.
type meter struct {
	mu  sync.Mutex
	all map[string]*usage
}

type usage struct {
	day    int64 // days since 1970, UTC
	today  int
	tokens float64 // what is left of the rate
	at     time.Time
}

// Admit counts a request of a principal at a time, or refuses it with a [*QuotaError]. A rate of n per minute lets n
// requests through at once and one more every 1/n of a minute; days begin at midnight UTC. What was counted is lost
// with the Engine.
func (e *Engine) Admit(principal string, now time.Time) error {
	l := e.Limits(principal)
	if l.Rate == 0 && l.Daily == 0 {
		return nil
	}
	m := &e.shared.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	day := now.Unix() / 86400
	u := m.all[principal]
	if u == nil {
		m.room(day)
		u = &usage{day: day, tokens: float64(l.Rate), at: now}
		m.all[principal] = u
	}
	if day > u.day { // a clock that goes back gives nothing back
		u.day, u.today = day, 0
	}
	if l.Daily > 0 && u.today >= l.Daily {
		return &QuotaError{principal, "daily", fmt.Sprintf("%d per day", l.Daily), time.Unix((u.day+1)*86400, 0)}
	}
	if l.Rate > 0 {
		each := l.RatePer / time.Duration(l.Rate)
		if passed := now.Sub(u.at); passed > 0 {
			u.tokens = min(float64(l.Rate), u.tokens+float64(passed)/float64(max(each, 1)))
			u.at = now
		}
		if u.tokens < 1 {
			wait := time.Duration((1 - u.tokens) * float64(each))
			return &QuotaError{principal, "rate", fmt.Sprintf("%d per %s", l.Rate, timeName(l.RatePer)), u.at.Add(wait)}
		}
		u.tokens--
	}
	u.today++
	return nil
}

// room makes place for more principals: first by those of days gone by, then by anybody, many at a time so that it is
// done seldom. mu is held.
func (m *meter) room(day int64) {
	if m.all == nil {
		m.all = map[string]*usage{}
	}
	if len(m.all) < mostMetered {
		return
	}
	for name, u := range m.all {
		if u.day < day {
			delete(m.all, name)
		}
	}
	for name := range m.all {
		if len(m.all) <= mostMetered/2 {
			return
		}
		delete(m.all, name)
	}
}

func timeName(d time.Duration) string {
	switch d {
	case time.Second:
		return "second"
	case time.Minute:
		return "minute"
	}
	return "hour"
}

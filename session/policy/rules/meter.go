package rules

import (
	"errors"
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

// Usage is what a principal has used of its limits. The zero Usage is nothing.
type Usage struct {
	Day    int64     `json:"day"`    // since 1970, UTC
	Today  int       `json:"today"`  // requests of that day
	Tokens float64   `json:"tokens"` // what was left of the rate
	At     time.Time `json:"at"`     // then; zero is never
}

// Quotas keep what principals have used. They may be called concurrently.
type Quotas interface {
	// Use has change count a request, and keeps what it makes of the Usage unless it fails. Its error is change's, or says why nothing
	// can be counted. Of one principal there is one change at a time.
	Use(principal string, change func(*Usage) error) error
}

// Admit counts a request of a principal at a time, or refuses it with a [*QuotaError]. A rate of n per minute lets n
// requests through at once and one more every 1/n of a minute; days begin at midnight UTC. What cannot be counted is not admitted.
func (e *Engine) Admit(principal string, now time.Time) error {
	l := e.Limits(principal)
	if l.Rate == 0 && l.Daily == 0 {
		return nil
	}
	err := e.quotas.Use(principal, func(u *Usage) error { return l.count(u, principal, now) })
	if _, over := errors.AsType[*QuotaError](err); err != nil && !over {
		return fmt.Errorf("rules: the requests of %s cannot be counted: %w", principal, err)
	}
	return err
}

// count counts a request.
func (l Limits) count(u *Usage, principal string, now time.Time) error {
	day := now.Unix() / 86400
	if u.At.IsZero() {
		*u = Usage{Day: day, Tokens: float64(l.Rate), At: now}
	}
	if day > u.Day { // a clock that goes back gives nothing back
		u.Day, u.Today = day, 0
	}
	if l.Daily > 0 && u.Today >= l.Daily {
		return &QuotaError{principal, "daily", fmt.Sprintf("%d per day", l.Daily), time.Unix((u.Day+1)*86400, 0)}
	}
	if l.Rate > 0 {
		each := l.RatePer / time.Duration(l.Rate)
		if passed := now.Sub(u.At); passed > 0 {
			u.Tokens += float64(passed) / float64(max(each, 1))
			u.At = now
		}
		u.Tokens = min(float64(l.Rate), u.Tokens) // also where the policy had another rate
		if u.Tokens < 1 {
			wait := time.Duration((1 - u.Tokens) * float64(each))
			return &QuotaError{principal, "rate", fmt.Sprintf("%d per %s", l.Rate, timeName(l.RatePer)), u.At.Add(wait)}
		}
		u.Tokens--
	}
	u.Today++
	return nil
}

// meter keeps Usages in memory. The zero meter is ready for use.
type meter struct {
	mu  sync.Mutex
	all map[string]*Usage
}

// Use implements Quotas.
func (m *meter) Use(principal string, change func(*Usage) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var now Usage
	u := m.all[principal]
	if u != nil {
		now = *u
	}
	if err := change(&now); err != nil {
		return err
	}
	if u == nil {
		m.room(now.Day)
	}
	m.all[principal] = &now
	return nil
}

// room makes place for more principals: first by those of days gone by, then by anybody, many at a time so that it is
// done seldom. mu is held.
func (m *meter) room(day int64) {
	if m.all == nil {
		m.all = map[string]*Usage{}
	}
	if len(m.all) < mostMetered {
		return
	}
	for name, u := range m.all {
		if u.Day < day {
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

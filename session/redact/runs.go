package redact

// A Set keeps its secrets in runs, each with an automaton that never changes. What is new comes as a small run; small
// runs are merged into larger ones, so that there are few, and that a secret is built into an automaton a number of times
// that grows with the logarithm of all there is. Automata are built with no lock held.

// minRun is the size in bytes of forms up to which runs are always merged.
const minRun = 16 << 10

type run struct {
	secrets  []*secret
	all, own *automaton // own is for the secrets that are hidden from everybody
	size     int        // bytes of forms
	dead     int        // of these, what has been forgotten; guarded by the mutex of the Set
}

func (s *Set) newRun(secrets []*secret) *run {
	r := &run{secrets: secrets}
	var own, all []form
	for _, x := range secrets {
		if x.forms == nil {
			x.forms = formsOf(x)
			for _, f := range x.forms {
				x.size += len(f.text)
			}
		}
		if x.in == nil {
			x.in = r
		}
		r.size += x.size
		all = append(all, x.forms...)
		if x.own {
			own = append(own, x.forms...)
		}
	}
	r.all, r.own = newAutomaton(all), newAutomaton(own)
	for _, a := range []*automaton{r.all, r.own} {
		if a != nil {
			s.built.Add(int64(len(a.label)))
		}
	}
	return r
}

// forget takes a secret out with the next merge. The mutex of the Set is held.
func (x *secret) forget() {
	if !x.dead {
		x.dead = true
		x.in.dead += x.size
	}
}

// take adds a run. s.mu is held.
func (s *Set) take(r *run) {
	s.runs = append(s.runs, r)
	s.publish()
}

// publish shows the runs to all writers. s.mu is held, or nobody else has s yet.
func (s *Set) publish() {
	now := &snapshot{own: &search{}, all: &search{}}
	if s.base != nil {
		now.own.autos = append(now.own.autos, s.base.own.autos...)
		now.all.autos = append(now.all.autos, s.base.all.autos...)
	}
	for _, r := range s.runs {
		now.all.add(r.all)
		now.own.add(r.own)
	}
	s.now.Store(now)
}

// tidy merges runs until there are few. One goroutine does it at a time; the others have done their part.
func (s *Set) tidy() {
	if !s.tidying.TryLock() {
		return
	}
	defer s.tidying.Unlock()
	for {
		s.mu.Lock()
		from, to := s.untidy()
		var live []*secret
		for _, r := range s.runs[from:to] {
			for _, x := range r.secrets {
				if !x.dead {
					live = append(live, x)
				}
			}
		}
		s.mu.Unlock()
		if from == to {
			return
		}
		merged := s.newRun(live)
		s.mu.Lock()
		for _, x := range live {
			if x.in = merged; x.dead {
				merged.dead += x.size
			}
		}
		rest := s.runs[to:]
		s.runs = append([]*run{}, s.runs[:from]...)
		if len(live) > 0 {
			s.runs = append(s.runs, merged)
		}
		s.runs = append(s.runs, rest...)
		s.publish()
		s.mu.Unlock()
	}
}

// untidy returns the runs that should be one, or an empty range. s.mu is held.
func (s *Set) untidy() (from, to int) {
	n := len(s.runs)
	if n == 0 {
		return 0, 0
	}
	sum, i := s.runs[n-1].size, n-1
	for i > 0 && (s.runs[i-1].size <= 2*sum || sum+s.runs[i-1].size <= minRun) {
		i--
		sum += s.runs[i].size
	}
	if i < n-1 {
		return i, n
	}
	for i, r := range s.runs {
		if 2*r.dead > r.size {
			return i, i + 1
		}
	}
	return 0, 0
}

// search finds the secrets of several automata.
type search struct{ autos []*automaton }

func (s *search) add(a *automaton) {
	if a != nil {
		s.autos = append(s.autos, a)
	}
}

// search returns what finds the secrets that are hidden from a.
func (s *Set) search(a Audience) *search {
	if now := s.now.Load(); a == Everybody {
		return now.own
	} else {
		return now.all
	}
}

package redact

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	// MinGiven is the length in bytes below which [Set.Add] and [Set.AddOwn] refuse a secret: anything shorter stands
	// in ordinary text by chance.
	MinGiven = 4
	// MinLearned is the length in bytes below which a value is not learned.
	MinLearned = 8
	// MaxSecret is the length in bytes above which a secret is refused. Its longest form, up to six times as long, is the
	// most that a [Writer] holds back for a known secret.
	MaxSecret = 16 << 10

	defaultLearned = 1024
	minPrefix      = 4
)

// Errors of [Set.Add] and [Set.AddOwn].
var (
	ErrTooShort = errors.New("redact: secret shorter than 4 bytes")
	ErrTooLong  = errors.New("redact: secret longer than 16 KiB")
)

// Audience is who reads the result. The zero value is Guarded.
type Audience int

const (
	// Guarded readers are agents, records and stores: every known secret and everything that looks like one is taken
	// out.
	Guarded Audience = iota
	// Everybody is any reader at all, the operator too: only secrets that Fairlead itself put in are taken out.
	Everybody
)

// Config configures a [Set]. The zero value is fine.
type Config struct {
	// Key makes the IDs in marks: the same value has the same ID under the same key. Nil means a random key, so that
	// IDs of different sets cannot be compared, nor values be guessed from them.
	Key []byte
	// MaxLearned bounds how many learned values are kept; the oldest one is forgotten first. 0 means 1024, negative
	// means that nothing is learned.
	MaxLearned int
}

// Set is what is known to be secret. It may be used from many goroutines; a change reaches every [Writer] of the Set
// with its next Write.
type Set struct {
	key        []byte
	maxLearned int

	now atomic.Pointer[snapshot] // nil after a change

	mu      sync.Mutex // guards what follows
	secrets []*secret  // in the order of their coming
	learned int
}

type secret struct {
	value   []byte
	kind    string
	id      string
	own     bool
	learned bool
	forms   []form // made once; guarded by the mutex of the Set
}

// snapshot is a Set at one time, ready for searching.
type snapshot struct{ own, all *automaton }

// New returns an empty Set, which knows the patterns alone.
func New(c Config) *Set {
	s := &Set{key: bytes.Clone(c.Key), maxLearned: c.MaxLearned}
	if len(s.key) == 0 {
		s.key = make([]byte, 32)
		rand.Read(s.key) // never fails
	}
	if s.maxLearned == 0 {
		s.maxLearned = defaultLearned
	}
	return s
}

// Add makes a value secret for [Guarded] readers. Newlines at its end do not count. The kind goes into the mark, made of
// lower-case letters, digits and dashes. The error is [ErrTooShort] or [ErrTooLong]; it does not show the value.
func (s *Set) Add(kind string, value []byte) error { return s.add(kind, value, false, false) }

// AddOwn is Add for a value that Fairlead itself puts into a session, as a password that it types: it is hidden from
// [Everybody].
func (s *Set) AddOwn(kind string, value []byte) error { return s.add(kind, value, true, false) }

// Learn is Add for a value that turned up in a session. It reports whether the value is secret now: values shorter than
// [MinLearned], and those longer than [MaxSecret], are not learned.
func (s *Set) Learn(kind string, value []byte) bool {
	if s.maxLearned < 0 || len(bytes.TrimRight(value, "\r\n")) < MinLearned || isMarks(value) {
		return false
	}
	return s.add(kind, value, false, true) == nil
}

// Len returns how many secrets are known.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.secrets)
}

func (s *Set) add(kind string, value []byte, own, learned bool) error {
	value = bytes.TrimRight(value, "\r\n")
	switch {
	case len(value) < MinGiven:
		return fmt.Errorf("%w (%s)", ErrTooShort, cleanKind(kind))
	case len(value) > MaxSecret:
		return fmt.Errorf("%w (%s)", ErrTooLong, cleanKind(kind))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, old := range s.secrets {
		if !bytes.Equal(old.value, value) {
			continue
		}
		if own && !old.own || !learned && old.learned {
			n := *old // searches under way still use the old one
			n.forms = nil
			n.own = n.own || own
			if n.learned && !learned {
				n.learned, n.kind = false, cleanKind(kind)
				s.learned--
			}
			s.secrets[i] = &n
			s.now.Store(nil)
		}
		return nil
	}
	if learned && s.learned == s.maxLearned {
		s.forgetOldest()
	}
	if learned {
		s.learned++
	}
	s.secrets = append(s.secrets, &secret{
		value: bytes.Clone(value), kind: cleanKind(kind), id: idOf(s.key, value), own: own, learned: learned,
	})
	s.now.Store(nil)
	return nil
}

func (s *Set) forgetOldest() {
	for i, old := range s.secrets {
		if old.learned {
			s.secrets = append(s.secrets[:i:i], s.secrets[i+1:]...)
			s.learned--
			return
		}
	}
}

// automaton returns what finds the secrets that are hidden from a, or nil.
func (s *Set) automaton(a Audience) *automaton {
	now := s.now.Load()
	if now == nil {
		now = s.build()
	}
	if a == Everybody {
		return now.own
	}
	return now.all
}

func (s *Set) build() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now.Load(); now != nil {
		return now
	}
	var own, all []form
	for _, x := range s.secrets {
		if x.forms == nil {
			x.forms = formsOf(x)
		}
		all = append(all, x.forms...)
		if x.own {
			own = append(own, x.forms...)
		}
	}
	now := &snapshot{own: newAutomaton(own), all: newAutomaton(all)}
	s.now.Store(now)
	return now
}

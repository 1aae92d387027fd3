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
	// MaxSecret is the length in bytes above which a given secret is refused. Its longest form, up to six times as long,
	// is the most that a [Writer] holds back for a known secret.
	MaxSecret = 16 << 10
	// MaxLearnedValue is how many bytes of a learned value are kept. What follows these in output is redacted too, as far
	// as the value went on, or to the end of the line.
	MaxLearnedValue = 1 << 10

	defaultLearned      = 1024
	defaultLearnedBytes = 32 << 10
	minPrefix           = 4
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
	// MaxLearned bounds how many learned values are kept of each [Owner]; the one that has not come for the longest time is forgotten first. 0
	// means 1024, negative means that nothing is learned.
	MaxLearned int
	// MaxLearnedBytes bounds the bytes of these values, likewise. 0 means 32 KiB.
	MaxLearnedBytes int
}

// Set is what is known to be secret. It may be used from many goroutines; a change reaches every [Writer] of the Set
// with its next Write.
type Set struct {
	key  []byte
	most limit // of what each owner has learned, and of what was typed, each

	now   atomic.Pointer[snapshot]
	built atomic.Int64 // states of automata, ever: a measure of the work

	mu     sync.Mutex // guards what follows; nothing is built while it is held
	base   *snapshot  // of the Set that this one extends; nil for none
	given  map[string]*secret
	owners map[string]*ledger
	runs   []*run // from the oldest to the newest, of falling sizes

	tidying sync.Mutex // held by the one who merges runs
}

type secret struct {
	value []byte
	kind  string
	id    string
	own   bool
	rest  int    // bytes of the whole value after this, its first part
	forms []form // made before anybody else sees it
	size  int    // bytes of the forms

	dead bool   // forgotten; guarded by the mutex of the Set, as is what follows
	in   *run   // where its forms are
	at   uint64 // when it came last, in its list
}

func (s *Set) secret(kind string, value []byte) *secret {
	return &secret{value: bytes.Clone(value), kind: cleanKind(kind), id: idOf(s.key, value)}
}

// snapshot is a Set at one time, ready for searching.
type snapshot struct{ own, all *search }

// New returns an empty Set, which knows the patterns alone.
func New(c Config) *Set {
	s := &Set{key: bytes.Clone(c.Key), most: limit{c.MaxLearned, c.MaxLearnedBytes}}
	if len(s.key) == 0 {
		s.key = make([]byte, 32)
		rand.Read(s.key) // never fails
	}
	if s.most.values == 0 {
		s.most.values = defaultLearned
	}
	if s.most.bytes <= 0 {
		s.most.bytes = defaultLearnedBytes
	}
	s.init()
	return s
}

func (s *Set) init() {
	s.given, s.owners = map[string]*secret{}, map[string]*ledger{}
	s.publish()
}

// With returns a Set that knows what s knows now, and what a command gives away; s learns nothing. It is for texts about
// a command that may never run.
func (s *Set) With(command string) *Set {
	n := &Set{key: s.key, most: s.most, base: s.now.Load()}
	n.init()
	n.LearnFromCommand(command)
	return n
}

// Add makes a value secret for [Guarded] readers. Newlines at its end do not count. The kind goes into the mark, made of
// lower-case letters, digits and dashes. The error is [ErrTooShort] or [ErrTooLong]; it does not show the value.
func (s *Set) Add(kind string, value []byte) error { return s.add(kind, value, false) }

// AddOwn is Add for a value that Fairlead itself puts into a session, as a password that it types: it is hidden from
// [Everybody].
func (s *Set) AddOwn(kind string, value []byte) error { return s.add(kind, value, true) }

// Len returns how many secrets are known.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.given)
	for _, l := range s.owners {
		n += len(l.learned.by) + len(l.typed.by)
	}
	return n
}

func (s *Set) add(kind string, value []byte, own bool) error {
	value = bytes.TrimRight(value, "\r\n")
	switch {
	case len(value) < MinGiven:
		return fmt.Errorf("%w (%s)", ErrTooShort, cleanKind(kind))
	case len(value) > MaxSecret:
		return fmt.Errorf("%w (%s)", ErrTooLong, cleanKind(kind))
	}
	s.mu.Lock()
	old := s.given[string(value)]
	s.mu.Unlock()
	if old != nil && (old.own || !own) {
		return nil
	}
	n := s.secret(kind, value)
	n.own = own
	if old != nil {
		n.kind = old.kind
	}
	r := s.newRun([]*secret{n})
	s.mu.Lock()
	for _, l := range s.owners { // what is given is in no list of what may be forgotten
		l.learned.remove(string(value))
		l.typed.remove(string(value))
	}
	if was := s.given[string(value)]; was != nil {
		n.own = n.own || was.own
		was.forget()
	}
	s.given[string(value)] = n
	s.take(r)
	s.mu.Unlock()
	s.tidy()
	return nil
}

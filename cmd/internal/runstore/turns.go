package runstore

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"syscall"
)

// turns are the hosts of a run whose turn has come, which is written before a byte is sent: where a run is lost, the others got
// nothing. That holds only if whoever sends has said that it writes them, and not after the machine went down, which may have lost
// the last lines.
type turns struct {
	boots []string // of those who write them
	of    map[string]bool
}

func (t *turns) kept(boot string) { t.boots = append(t.boots, boot) }

func (t *turns) come(label string) {
	if t.of == nil {
		t.of = map[string]bool{}
	}
	t.of[label] = true
}

// never reports whether a host's turn has certainly not come.
func (t *turns) never(label string) bool {
	if len(t.boots) == 0 || t.of[label] {
		return false
	}
	now := boot()
	for _, b := range t.boots {
		if b == "" || b != now {
			return false
		}
	}
	return true
}

type (
	turnsLine struct {
		Turns string `json:"turns"`
	}
	turnLine struct {
		Turn string `json:"turn"`
	}
)

// Turns says that the turn of each host is written with Turn before a byte is sent to it.
func (w *Writer) Turns() {
	if w != nil {
		w.write(turnsLine{boot()})
	}
}

// Turn adds that the turn of a host has come.
func (w *Writer) Turn(label string) {
	if w != nil {
		w.write(turnLine{label})
	}
}

// Join adds to a run of a principal's that another process writes; nil is that there is none. Leave the Writer with [Writer.Leave].
func (s Store) Join(principal, id string) *Writer {
	name, err := s.file(id)
	if err != nil {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	text, err := bufio.NewReader(io.LimitReader(f, maxLine)).ReadBytes('\n')
	var l struct {
		Run struct {
			Principal string `json:"principal"`
			PID       int    `json:"pid"`
		} `json:"run"`
	}
	if err != nil || json.Unmarshal(text, &l) != nil || l.Run.PID == 0 || l.Run.Principal != principal || !locked(f) {
		f.Close()
		return nil
	}
	return &Writer{f: f}
}

// Leave ends the writing of one who has joined.
func (w *Writer) Leave() {
	if w != nil {
		w.f.Close()
	}
}

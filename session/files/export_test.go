package files

import "testing"

// ParseLs opens a door for fuzzing.

// ParseList reads what ListScript prints, in two pieces.
func ParseList(text string) (all []Name, err error) {
	g := &groups{failed: func(error) {}, take: func(n Name) error {
		all = append(all, n)
		return nil
	}}
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := g.Write([]byte(part)); err != nil {
			return all, err
		}
	}
	if len(g.text) > 0 {
		return all, errList
	}
	return all, nil
}

// ListScript does, too.
var ListScript = listText()

// Hold keeps others from changing what a path leads to.
func Hold(t *testing.T, h *Host, path string) (release func()) {
	t.Helper()
	_, release, err := h.turnOf(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// Turns is how many files are being changed.
func Turns() int {
	changing.mu.Lock()
	defer changing.mu.Unlock()
	return len(changing.all)
}

// HoldAllRoom takes all that is shared by the contents of large files.
func HoldAllRoom(t *testing.T) (release func()) {
	t.Helper()
	if err := room.Acquire(t.Context(), maxHeld/heldStep); err != nil {
		t.Fatal(err)
	}
	return func() { room.Release(maxHeld / heldStep) }
}

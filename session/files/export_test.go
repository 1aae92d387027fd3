package files

import "testing"

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

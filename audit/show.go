package audit

import (
	"errors"
	"fmt"
	"strings"
)

// Show returns every event of the exec with this id, oldest first. The beginning of an id is enough where only one
// begins so, and ErrAmbiguous is wrapped where several do. ErrNotFound where there is none. Where lines are not entries,
// which may have been of this exec, it returns what is left of it with an error as that of Tail.
func Show(dir, id string) ([]Event, error) {
	if id == "" {
		return nil, fmt.Errorf("%w: it is empty", ErrNotFound)
	}
	found := map[string][]Event{}
	var damage error
	for e, err := range All(dir) {
		if err != nil {
			if errors.Is(err, ErrUnavailable) {
				return nil, err
			}
			if damage == nil && errors.Is(err, ErrDamaged) { // not what a crash leaves
				damage = err
			}
			continue // a line that is no record has no id
		}
		if strings.HasPrefix(e.ID, id) {
			found[e.ID] = append(found[e.ID], e)
		}
	}
	if events, ok := found[id]; ok {
		return events, damage
	}
	switch len(found) {
	case 0:
		return nil, errors.Join(fmt.Errorf("%w: %q; `fairlead audit tail` shows recent ones", ErrNotFound, id), damage)
	case 1:
		for _, events := range found {
			return events, damage
		}
	}
	return nil, fmt.Errorf("%w: %d of them begin with %q; give more of it", ErrAmbiguous, len(found), id)
}

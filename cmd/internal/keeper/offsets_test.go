package keeper

import "testing"

// What a client says is the id of an event is one, or is refused.
func FuzzOffsets(f *testing.F) {
	for _, s := range []string{"", "0-0", "12-7", "-1-2", "1-", "9223372036854775807-0", "01-1", "1-2-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		o, err := parseOffsets(id)
		if err != nil {
			return
		}
		if o[0] < 0 || o[1] < 0 {
			t.Fatalf("%q: %v", id, o)
		}
		if again, err := parseOffsets(o.String()); err != nil || again != o {
			t.Fatalf("%q became %v and then %v, %v", id, o, again, err)
		}
	})
}

package audit

import (
	"cmp"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Anchored says what the anchors prove: that entries 1 to Through are the ones that were there when the last of them was
// taken. What stands behind Through only the chain itself proves.
type Anchored struct {
	Through uint64    `json:"through"`
	Time    time.Time `json:"time,omitzero"`    // when the anchor of Through was taken
	Matched int       `json:"matched"`          // anchors that were compared and are right
	Purged  int       `json:"purged,omitempty"` // anchors of records that were purged since
	Others  int       `json:"others,omitempty"` // anchors of other chains
}

// pickAnchors keeps the anchors of this chain, sorted by count. It reports false after a problem.
func (v *verifier) pickAnchors() bool {
	if v.anchors == nil {
		return true
	}
	v.report.Anchors = &Anchored{}
	k := v.chain.k
	mine := make([]Anchor, 0, len(v.anchors))
	for _, a := range v.anchors {
		if a.Chain != k.chain {
			v.report.Anchors.Others++
			continue
		}
		if !hmac.Equal([]byte(k.signAnchor(a).MAC), []byte(a.MAC)) {
			v.problem(BadAnchor, filepath.Join(v.dir, keyName), 0,
				fmt.Sprintf("the anchor of entry %d was changed: its MAC does not match", a.Count))
			return false
		}
		mine = append(mine, a)
	}
	if len(mine) == 0 {
		v.problem(NotAnchored, filepath.Join(v.dir, keyName), 0, fmt.Sprintf(
			"no one of the %d anchors belongs to this chain: the chain was replaced as a whole, or the anchors belong to another one", len(v.anchors)))
		return false
	}
	slices.SortStableFunc(mine, func(a, b Anchor) int { return cmp.Compare(a.Count, b.Count) })
	v.anchors = mine
	return true
}

// meetsAnchors compares the record that was just read with the anchors that name it.
func (v *verifier) meetsAnchors(path string, num int) bool {
	r := v.report.Anchors
	for len(v.anchors) > 0 && v.anchors[0].Count <= v.chain.count {
		a := v.anchors[0]
		v.anchors = v.anchors[1:]
		switch {
		case a.Count == 0:
			r.Matched++ // taken before the first record
		case a.Count < v.chain.count:
			r.Purged++
		case a.Hash != hex.EncodeToString(v.chain.hash[:]):
			v.problem(NotAnchored, path, num, fmt.Sprintf(
				"entry %d is not the one that was anchored at %s: the chain was rewritten since", a.Count, a.Time.Format(time.RFC3339)))
			return false
		default:
			r.Matched++
			r.Through, r.Time = a.Count, a.Time
		}
	}
	return true
}

// checkAnchorsEnd finds records that were anchored and are not there.
func (v *verifier) checkAnchorsEnd() {
	if v.report.Anchors == nil {
		return
	}
	for _, a := range v.anchors {
		if a.Count > v.chain.count {
			v.problem(Truncated, filepath.Join(v.dir, headName), 0, fmt.Sprintf(
				"%d entries were anchored at %s, %d are here", a.Count, a.Time.Format(time.RFC3339), v.chain.count))
			return
		}
		v.report.Anchors.Matched++ // of an empty chain
	}
}

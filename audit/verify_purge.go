package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
)

// Missing describes the oldest record files, which are not there any more and of which the chain says that they were
// purged.
type Missing struct {
	Files   int    `json:"files"`
	Records uint64 `json:"records"`
	Left    int    `json:"left,omitempty"` // files that a purge was to remove and that are still there
}

// border is where a file of the chain ends.
type border struct {
	count uint64
	hash  [sha256.Size]byte
}

// startAt takes the chain up at the first file that is there. Whether that may be its beginning is judged by
// checkPurged, when everything that the chain says has been read.
func (v *verifier) startAt(s snapshot) {
	f, err := openToRead(s.path)
	if err != nil {
		return
	}
	defer f.Close()
	raw, _, _, err := newLines(f, 0).next()
	if err != nil {
		return
	}
	l, ok := parseLine(raw)
	if !ok || l.seq == 0 {
		return
	}
	if _, mine := v.chain.k.checkMAC(l); !mine {
		return
	}
	if _, err := hex.Decode(v.chain.hash[:], l.prev); err == nil {
		v.chain.count = l.seq - 1
	}
	v.borders = map[int]border{s.n - 1: {v.chain.count, v.chain.hash}}
}

// checkPurged accepts that the first files are missing only where the chain itself says that they were purged, and up
// to which record.
func (v *verifier) checkPurged() {
	if len(v.files) == 0 {
		return
	}
	first := v.files[0].n
	through := 0
	for _, p := range v.purges {
		n, ok := dataNumber(p.Through)
		if !ok || n < first-1 {
			continue
		}
		if b, ok := v.borders[n]; ok && b.count == p.Records && hex.EncodeToString(b.hash[:]) == p.Hash {
			through = max(through, n)
		}
	}
	if first > 1 {
		if through == 0 {
			v.problem(Gap, filepath.Join(v.dir, dataName(first-1)), 0,
				"this file of the chain is missing, and no entry says that it was purged")
			return
		}
		v.report.Purged = &Missing{Files: first - 1, Records: v.borders[first-1].count}
	}
	if through > 0 { // and so no less than what is missing
		if v.report.Purged == nil {
			v.report.Purged = &Missing{}
		}
		v.report.Purged.Left = through - (first - 1)
	}
}

// notePurge remembers what a chain.purge record says.
func (v *verifier) notePurge(l line) {
	var e struct {
		Purged Purged `json:"purged"`
	}
	if json.Unmarshal(closed(l), &e) == nil && e.Purged.Through != "" {
		v.purges = append(v.purges, e.Purged)
	}
}

package hosts

import (
	"fmt"
	"slices"
)

// Prod is the tier a host counts as when none is known.
const Prod = "prod"

// Dev is the tier of hosts that may break.
const Dev = "dev"

// TierName returns the host's tier, or [Prod] when it has none: what nobody described is treated with the care that
// production needs.
func (h Host) TierName() string {
	if h.Tier == "" {
		return Prod
	}
	return h.Tier
}

// tiers are those that every inventory may have hosts of.
var tiers = [...]string{Prod, "staging", Dev}

// CheckTier reports what is not the name of a tier, and names that would not count as [Prod] though they say so.
func CheckTier(s string) error {
	for i, c := range s {
		lower := 'a' <= c && c <= 'z'
		if !lower && (i == 0 || !('0' <= c && c <= '9') && c != '-' && c != '_') {
			return fmt.Errorf("%q is not a word in small letters, such as prod, staging or dev", shorten(s))
		}
	}
	switch s {
	case "production", "prd":
		return fmt.Errorf("%q would not count as prod: write prod", s)
	}
	return nil
}

// Tiers returns the tiers that a selector names as they are, without those of its globs.
func (s Selector) Tiers() []string {
	var out []string
	s.walk(func(e expr) {
		if l, ok := e.(*labelExpr); ok && l.key == "tier" && !l.glob {
			out = append(out, l.value)
		}
	})
	return out
}

// HasTier reports whether a tier is one that every inventory may have, or that of a host.
func (inv *Inventory) HasTier(tier string) bool {
	return slices.Contains(tiers[:], tier) || slices.ContainsFunc(inv.hosts, func(h Host) bool { return h.TierName() == tier })
}

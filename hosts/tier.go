package hosts

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

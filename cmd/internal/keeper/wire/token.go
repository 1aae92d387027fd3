package wire

import "time"

// NewToken asks for a bearer token.
type NewToken struct {
	Name      string  `json:"name,omitempty" maxLength:"200" doc:"for people"`
	Principal string  `json:"principal" maxLength:"80" doc:"who its bearer is: agent/NAME or operator/NAME"`
	Role      string  `json:"role" enum:"viewer,operator,approver,admin,agent" doc:"no role both runs and approves"`
	TTLS      float64 `json:"ttl_s,omitempty" exclusiveMinimum:"0" maximum:"315360000" doc:"how many seconds it is valid; without end if omitted"`
}

// Token is one, with its secret only when it was just made.
type Token struct {
	ID        string     `json:"id"`
	Name      string     `json:"name,omitempty"`
	Principal string     `json:"principal"`
	Role      string     `json:"role"`
	CreatedBy string     `json:"created_by"`
	Created   time.Time  `json:"created_at"`
	Expires   *time.Time `json:"expires_at,omitempty"`
	Revoked   *time.Time `json:"revoked_at,omitempty"`
	Used      *time.Time `json:"used_at,omitempty"`
	Secret    string     `json:"secret,omitempty"`
}

// Tokens is a list of them.
type Tokens struct {
	Items []Token `json:"items"`
}

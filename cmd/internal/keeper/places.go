package keeper

import "github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

// What those who start and find keepers say is in package listen.
type (
	Places    = listen.Places
	AgentDoor = listen.AgentDoor
	TCP       = listen.TCP
)

// ErrRunning is returned by Serve when a keeper answers on the socket already.
var ErrRunning = listen.ErrRunning

// FindPlaces returns where a keeper and its callers meet, for an environment.
func FindPlaces(getenv func(string) string) (Places, error) { return listen.FindPlaces(getenv) }

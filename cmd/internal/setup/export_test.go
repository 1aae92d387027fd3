package setup

// Doors for tests of the edits alone.
var (
	Set, Unset           = set, unset
	SetTOML, UnsetTOML   = setTOML, unsetTOML
	PlainJSON, PlainTOML = plainJSON, plainTOML
)

// With and Without edit a client's configuration.
func With(client, text, command string, args []string) (string, error) {
	return clients[client].with(text, clients[client].entry(command, args))
}

// Without is the way back.
func Without(client, text string) (string, error) { return clients[client].without(text) }

// Program is the path by which a client starts this program.
var Program = program

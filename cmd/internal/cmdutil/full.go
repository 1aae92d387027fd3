package cmdutil

// FullHint ends the error of a command on a host whose slots are all in use.
const FullHint = "close one: fairlead sessions close NAME (fairlead sessions lists them; in MCP: session_close)"

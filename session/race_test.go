//go:build race

package session_test

// raceEnabled says that the race detector runs, which finds nothing in shells: one case of four is enough for our side.
const raceEnabled = true

//go:build race

package files_test

// raceEnabled: the detector makes copies of its own.
const raceEnabled = true

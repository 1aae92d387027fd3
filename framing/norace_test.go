//go:build !race

package framing_test

const raceEnabled = false

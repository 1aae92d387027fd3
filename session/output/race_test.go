//go:build race

package output_test

const raceEnabled = true

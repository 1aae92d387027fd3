//go:build linux && amd64 && race

package proof_test

const slowdown = 3

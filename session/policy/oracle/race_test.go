//go:build linux && amd64 && race

package oracle_test

const slowdown = 3

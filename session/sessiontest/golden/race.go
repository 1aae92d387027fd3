//go:build race

package golden

const racing = true

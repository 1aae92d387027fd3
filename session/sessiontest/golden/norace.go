//go:build !race

package golden

const racing = false

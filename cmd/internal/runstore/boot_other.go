//go:build !linux && !darwin

package runstore

// boot names this start of the machine; "" is that it is not known.
func boot() string { return "" }

//go:build !linux

package serve

// adopt does nothing: only Linux lets a process adopt what its descendants leave behind.
func adopt() (stop func()) { return func() {} }

//go:build !unix

package hostfs

func SyncAll(string) {}

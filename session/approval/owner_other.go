//go:build !unix

package approval

import "io/fs"

// Where there are no uids nothing is known of owners, and peerOf turns everybody away.
func owner(fs.FileInfo) (uid int, known bool) { return 0, false }

func refused(error) bool { return false }

func dead(int) bool { return false }

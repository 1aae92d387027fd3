// Package stamp tells versions of a file apart.
package stamp

import (
	"os"
	"time"
)

// Stamp tells versions of a file apart. The zero stamp is a file that is not there.
type Stamp struct {
	Changed time.Time
	size    int64
	mode    os.FileMode
}

func Of(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.ModTime(), info.Size(), info.Mode()}
}

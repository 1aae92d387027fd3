package inventory

import (
	"time"

	"github.com/fsnotify/fsnotify"
)

// WithoutWatchers is o where the system's answer to asking for a watcher is err, and the file is read every look.
func (o WatchOptions) WithoutWatchers(err error, look time.Duration) WatchOptions {
	o.watcher = func() (*fsnotify.Watcher, error) { return nil, err }
	o.look = look
	return o
}

// Again is o where programs are asked again after d.
func (o WatchOptions) Again(d time.Duration) WatchOptions {
	o.again = d
	return o
}

// Elsewhere are other tools' keys, and ours that they stand for.
var Elsewhere = elsewhere

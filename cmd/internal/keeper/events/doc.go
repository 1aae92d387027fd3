// Package events owns what is told to readers of the keeper's events: the last few hundred, for readers that come back.
package events

// Package stream owns answers that go on: server-sent events, and the end of an answer whose caller may no longer have it.
package stream

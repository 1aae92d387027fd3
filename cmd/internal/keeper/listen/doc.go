// Package listen owns where a keeper is reached: its own socket with the locks that keep every other keeper away from it, the
// socket for an agent, and the port for callers elsewhere. It lets in whom the system lets in, so many at a time, and says
// which process and account are at the other end. What callers may do is decided in package access.
package listen

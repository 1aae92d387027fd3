// Package page is the door of the keeper's web page, and the page itself: static files, and nothing that runs commands.
//
// Who asks the keeper for a link gets a code, which is good once and for a short time. The page hands it in for a cookie,
// which no script can read, and a token, which no other page can: cookies are the same for all ports of 127.0.0.1, so a
// request counts only where both are right. The Door keeps neither but as hashes, and forgets them all when it ends. The pages
// of one browser share a cookie, since it sends one alone of a name, and each has a token, and a [Guest], of its own.
//
// A page ends when it is left, 12 hours after it was let in, an hour after its last request, and when too many others are let
// in; and with it what it does: streams end, terminals are hung up. A request that goes on counts all the time.
//
// A [Door] may be used concurrently. It has no goroutine, and the package no global state.
package page

// Package page is the door of the keeper's web page, and the page itself: static files, and nothing that runs commands.
//
// Who asks the keeper for a link gets a code, which is good once and for a short time. The page hands it in for a cookie,
// which no script can read, and a token, which no other page can: cookies are the same for all ports of 127.0.0.1, so a
// request counts only where both are right. The Door keeps neither but as hashes, and forgets them all when it ends.
//
// A [Door] may be used concurrently. It has no goroutine, and the package no global state.
package page

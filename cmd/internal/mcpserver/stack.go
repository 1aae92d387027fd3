package mcpserver

// roomForACall is what the stack of a call needs at most, about, in bytes.
const roomForACall = 24 << 10

// growStack makes room on the stack of the goroutine that serves a call while little is on it. Each call has a new
// goroutine, whose stack would else be copied several times on its way down; that took a tenth of a short call. It is not
// inlined, so that it gives the room back.
//
//go:noinline
func growStack() {
	var room [roomForACall]byte
	touch(&room)
}

// touch keeps the compiler from seeing that nobody needs the room.
//
//go:noinline
func touch(room *[roomForACall]byte) { room[0] = 1 }

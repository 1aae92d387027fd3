package framing

// Kind says what an Event is.
type Kind uint8

// The kinds of events. Within one frame they come as Started, any number of Stdout, Ended; Stderr may come at any time
// before Ended, even before Started, because the two streams travel different ways as far as the terminal.
const (
	Stray   Kind = iota + 1 // output of something that an earlier command left running, of either stream
	Started                 // the command is about to run
	Stdout                  // standard output of the command
	Stderr                  // standard error of the command
	Ended                   // the frame is complete: see Event.Trailer
	Exited                  // the shell itself has ended: see Event.Exit
	Refused                 // what [Shell].Watch reports; it may come at any time, for a call that the command or one before it made
	Broken                  // the stream holds what no healthy shell sends: see Event.Err
)

// Event is one step of a decoded stream.
type Event struct {
	Kind    Kind
	Data    []byte  // for Stray, Stdout, Stderr and Refused; valid until the next call of the decoder
	Trailer Trailer // for Ended
	Exit    Exit    // for Exited
	Err     *Error  // for Broken
}

// Trailer is what the shell says about a command that has ended.
type Trailer struct {
	ExitCode int    // 0 to 255
	Dir      string // the working directory, any bytes, also one that was deleted; "" if the shell does not know it
	Trace    bool   // xtrace is on in the shell; pass it with the next Command
	Errexit  bool   // errexit is on in the shell
	Cooked   bool   // the terminal rewrites what is printed: send a [Tty] frame that repairs it before the next command
}

// Exit is how the shell ended.
type Exit struct {
	Code   int    // meaningful when Signal is 0
	Signal int    // the number of the signal that ended it; 0 if none did
	Dir    string // the working directory then, if the shell could still say it
}

// Package terminals has what every full terminal on a host needs, wherever it is shown: the command line that becomes the
// account's login shell, its recording, and its entry on the record.
//
// [Line] and [Term] say what to start. An [Entry] puts on record that it is about to be started, before, and how it has
// ended, after. A [Recording] is a file in the asciicast format. There is no global state.
package terminals

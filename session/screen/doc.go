// Package screen understands what an interactive program shows on its terminal, and speaks to it.
//
// A [Screen] takes the raw bytes of a terminal and gives back what somebody in front of it would see ([Screen.Render]),
// the modes the terminal is in ([Modes]) and what the program seems to wait for ([Screen.Watch], or [Recognise] for
// those who keep the bytes themselves). [Keys] turns names of keys into the bytes a terminal sends, [Clean] makes text
// for a reader who is no terminal, and [Recorder] and [Play] write and replay recordings in the asciicast v2 format.
//
// Drawing a screen is the work of a [Renderer]; package emulate beside this one has one. Without it a Screen shows the
// last lines as plain text. This package itself needs nothing but the standard library.
//
// Nothing here answers a terminal's queries: what a program asks its terminal goes unanswered, so that no answer can
// ever be typed into a shell. There are no goroutines, no clocks and no global state.
package screen

// Package connect owns how the keeper reaches hosts: the inventories that callers name, each followed from its first use on, and
// dialing with the agent of whoever asks.
package connect

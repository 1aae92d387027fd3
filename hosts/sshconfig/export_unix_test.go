//go:build unix

package sshconfig

// OwnGroup is whose members may write a file.
var OwnGroup = ownGroup

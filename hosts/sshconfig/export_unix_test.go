//go:build unix

package sshconfig

// OwnGroup is whose members may write a file.
var OwnGroup = ownGroup

// PrivateGroup reports whether a group is an account's own.
var PrivateGroup = privateGroup

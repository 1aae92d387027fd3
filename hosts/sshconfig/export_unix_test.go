//go:build unix

package sshconfig

// OwnGroup is whose members may write a file.
var OwnGroup = ownGroup

// PrivateGroup reports whether a group is an account's own.
var PrivateGroup = privateGroup

// Writable reports whether others may write a file.
var Writable = writable

// Strange reports whether an account's files may be changed by one that need not be trusted.
var Strange = strange

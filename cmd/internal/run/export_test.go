package run

// ConfirmText is for tests.
var ConfirmText = confirmText

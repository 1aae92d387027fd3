// Package sshsig makes and verifies signatures of files as ssh-keygen -Y does: OpenSSH's SSHSIG format (PROTOCOL.sshsig).
//
// [Sign] makes a [Signature] with any ssh.Signer, [Parse] reads an armored one, and [Signature.Verify] tells whether it is
// one of a message in a namespace. A Signature holds the public key that made it: whether that key is anybody's is for the
// caller to say.
//
// Keys of security keys (sk-ssh-ed25519@openssh.com, sk-ecdsa-sha2-nistp256@openssh.com) are verified with what the
// hardware says beside; one that was made without a touch does not verify.
//
// Parsing is strict: whatever is read without an error has one form in bytes, and is written in it again. Certificates, DSA
// and signatures with SHA-1 are refused. There is no global state, and everything may be used concurrently.
package sshsig

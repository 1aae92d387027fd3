//go:build unix

package sshconfig

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// unsafeOwner says why a file must not be trusted, or "". The rule is OpenSSH's: owned by root or the account itself,
// and not writable for others. A group is let through when it is the owner's private one, as Debian's ssh does,
// because files come out group-writable there by default.
func unsafeOwner(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if strange(st.Uid, uint32(os.Getuid())) {
		return "belongs to another account; it must belong to you or root"
	}
	if writable(info.Mode(), privateGroup(st.Uid, st.Gid)) {
		return "can be written by other accounts; run: chmod go-w on it"
	}
	return ""
}

// writable reports whether others than the owner may write a file, whose group may be the owner's private one.
func writable(mode fs.FileMode, private bool) bool {
	return mode&0o002 != 0 || mode&0o020 != 0 && !private
}

// strange reports whether a file of uid may be changed by an account that me need not trust.
func strange(uid, me uint32) bool { return uid != 0 && uid != me }

func privateGroup(uid, gid uint32) bool {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return false
	}
	g, err := user.LookupGroupId(strconv.FormatUint(uint64(gid), 10))
	return err == nil && ownGroup(u, g)
}

// ownGroup reports whether g is the group that systems make for u alone: its first one, of the same name.
func ownGroup(u *user.User, g *user.Group) bool { return u.Gid == g.Gid && g.Name == u.Username }

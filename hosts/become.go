package hosts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Become says as which account commands run, where that is not the one that logs in, and by which program of the host. The zero
// value is the account that logs in.
type Become struct {
	User   string // "" is the account that logs in
	Method string // one of BecomeMethods; "" means sudo
	ByCall bool   // one call asks for this account, and the inventory does not
}

// BecomeMethods are the programs that change accounts.
var BecomeMethods = [...]string{"sudo", "sudo-rs", "su", "doas"}

// NoBecome is what a call says to run as the account that logs in, whatever the inventory says.
const NoBecome = "none"

// Program is the method with its default; "" where there is nothing to become.
func (b Become) Program() string {
	if b.User != "" && b.Method == "" {
		return BecomeMethods[0]
	}
	return b.Method
}

// String returns "root by sudo"; "" where there is nothing to become.
func (b Become) String() string {
	if b.User == "" {
		return ""
	}
	return b.User + " by " + b.Program()
}

// ParseBecome reads an account, or what String returns. The empty text and [NoBecome] are the zero Become.
func ParseBecome(text string) (b Become, err error) {
	if text == "" || text == NoBecome {
		return b, nil
	}
	user, method, how := strings.Cut(text, " by ")
	if how && method == "" {
		return b, errors.New("names no program behind by")
	}
	b.User, b.Method = user, method
	return b, b.Check()
}

// Called returns what a call makes of b that names an account: "" leaves it as it is, [NoBecome] is the account that logs in, and
// another account than the inventory's is ByCall.
func (b Become) Called(user string) (Become, error) {
	switch user {
	case "", b.User:
		return b, nil
	case NoBecome:
		return Become{}, nil
	}
	b.User, b.ByCall = user, true
	return b, b.Check()
}

// Check says what is wrong with b.
func (b Become) Check() error {
	if b.User == "" {
		if b.Method != "" {
			return fmt.Errorf("%s needs an account to become", b.Method)
		}
		return nil
	}
	if err := CheckBecomeUser(b.User); err != nil {
		return fmt.Errorf("%q %w", b.User, err)
	}
	if b.Method != "" && !slices.Contains(BecomeMethods[:], b.Method) {
		return fmt.Errorf("%q is not one of %s", b.Method, strings.Join(BecomeMethods[:], ", "))
	}
	return nil
}

// CheckBecomeUser says why text cannot be the name of an account to become: it has a place in a command line of every kind of
// login shell.
func CheckBecomeUser(text string) error {
	if err := CheckUser(text); err != nil {
		if text == "" {
			return errors.New("is missing")
		}
		return err
	}
	for _, c := range text {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.ContainsRune("._@+-", c):
		default:
			return fmt.Errorf("must not contain %q", c)
		}
	}
	if text == NoBecome {
		return errors.New("is what a call says to become no other account")
	}
	return nil
}

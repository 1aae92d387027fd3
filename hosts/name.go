package hosts

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name of a host, a group or a label key, in bytes: what DNS allows, and what fits in a file name.
const maxName = 255

// CheckName says whether name can be the name of a host: letters, digits and "._-+", beginning with a letter, a digit or
// "_", at most 255 bytes, and not the word "all". Everything else has a meaning in selectors, on command lines or in file
// names. The error's text completes a sentence about the name.
func CheckName(name string) error {
	if name == "all" {
		return errors.New(`is a word of selectors: "all" means every host`)
	}
	return checkWord(name)
}

// CheckGroup says whether name can be the name of a group. The rules are those of [CheckName].
func CheckGroup(name string) error { return CheckName(name) }

// CheckLabel says whether key can be the key of a label and value its value. A key is like a name and may hold "/" too;
// "tier" is a field of its own and no label. A value is any line of text.
func CheckLabel(key, value string) error {
	if key == "tier" {
		return errors.New("is a field of its own: write tier: instead of a label")
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > maxName {
		return fmt.Errorf("has a value of %d bytes, more than %d", len(value), maxName)
	}
	if !utf8.ValidString(value) {
		return errors.New("has a value that is not UTF-8")
	}
	for _, r := range value {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("has a value with the unprintable character %U", r)
		}
	}
	return nil
}

func checkWord(s string) error { return checkRunes(s, nameRune) }
func checkKey(s string) error  { return checkRunes(s, keyRune) }

func checkRunes(s string, ok func(rune) bool) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > maxName:
		return fmt.Errorf("has %d bytes, more than %d", len(s), maxName)
	case !utf8.ValidString(s):
		return errors.New("is not UTF-8")
	}
	for i, r := range s {
		if !ok(r) {
			return fmt.Errorf("must not contain %q", r)
		}
		if i == 0 && !nameStart(r) {
			return fmt.Errorf("must not begin with %q", r)
		}
	}
	return nil
}

func nameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func nameRune(r rune) bool {
	switch r {
	case '.', '_', '-', '+':
		return true
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func keyRune(r rune) bool { return r == '/' || nameRune(r) }

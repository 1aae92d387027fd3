//go:build !linux

package files_test

import "errors"

func mount(dir, size string) error { return errors.ErrUnsupported }

func readOnly(dir string) error { return errors.ErrUnsupported }

func unmount(dir string) error { return nil }

package files_test

import "syscall"

func mount(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
}

func readOnly(dir string) error {
	return syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }

// SPDX-License-Identifier: Apache-2.0

//go:build linux

package vfstest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// MakeExt4 makes an ext4 file system in a new file of a size.
func MakeExt4(image string, size int64) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	out, err := exec.Command("mkfs.ext4", "-q", "-m", "0", image).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mkfs.ext4: %w: %s", err, out)
	}
	return nil
}

// MountExt4 mounts the ext4 file system in a file at dir, with options of the
// system call. To unmount it detaches the loop device.
//
// mount(8) reuses the device that an unmounted file still has. If the device is
// detached at that moment and attached to the file of another process, it
// mounts that one.
func MountExt4(image, dir, options string) error {
	file, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	for {
		const getFree = 0x4c82 // LOOP_CTL_GET_FREE
		n, err := ioctl(control, getFree, nil)
		if err != nil {
			return err
		}
		loop, err := attach(fmt.Sprint("/dev/loop", n), file)
		if errors.Is(err, syscall.EBUSY) {
			continue // another process was faster
		}
		if err != nil {
			return err
		}
		return errors.Join(syscall.Mount(loop.Name(), dir, "ext4", 0, options), loop.Close())
	}
}

// attach attaches a loop device to a file until the device is closed.
func attach(device string, file *os.File) (*os.File, error) {
	loop, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	const configure, autoclear = 0x4c0a, 4 // LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR
	c := struct {                          // struct loop_config
		fd, _ uint32
		_     [52]byte
		flags uint32
		_     [240]byte
	}{fd: uint32(file.Fd()), flags: autoclear}
	if _, err := ioctl(loop, configure, unsafe.Pointer(&c)); err != nil {
		_ = loop.Close() // nothing is attached
		return nil, err
	}
	return loop, nil
}

// Unmount unmounts dir, even if it is busy.
func Unmount(dir string) error {
	err := syscall.Unmount(dir, 0)
	if errors.Is(err, syscall.EBUSY) {
		err = fmt.Errorf("%w: a descriptor was left open", err)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	}
	return err
}

// CutPower shuts down the ext4 file system of dir like a power failure: nothing
// reaches the disk afterwards, not even the journal.
func CutPower(dir string) error {
	const (
		shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN
		noLogFlush = 2
	)
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	how := uint32(noLogFlush)
	_, err = ioctl(f, shutdown, unsafe.Pointer(&how))
	return err
}

// ioctl controls a device. The kernel reads what arg points to, which stays
// alive until the call returns.
func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) (uintptr, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg))
	if errno != 0 {
		return 0, errno
	}
	return n, nil
}

package programs_test

import "testing"

func TestDisksAreListedNotWritten(t *testing.T) {
	table(t, `
		read-only | lsblk -f
		dangerous | mount /dev/sdb1 /mnt
		dangerous | umount /data
		write | swapon -a
		write | swapon /dev/sdb2
		dangerous | fdisk /dev/sda
		forbidden | mkfs.ext4 /dev/sda1
		forbidden | mkfs -t ext4 /dev/sda1
		forbidden | wipefs -a /dev/sda
		forbidden | dd if=/dev/zero of=/dev/sda
		forbidden | dd if=/dev/zero of=/dev/../dev/nvme0n1 bs=1M
		write | dd if=a of=b
		forbidden | shred /dev/sda
		dangerous | shred -u file
		forbidden | blkdiscard /dev/sda
		dangerous | lvremove -f vg/lv
		dangerous | zfs destroy pool/x
		forbidden | zpool destroy tank
		forbidden | sgdisk --zap-all /dev/sda
		forbidden | parted -s /dev/sda mklabel gpt
		dangerous | tune2fs -m 1 /dev/sda1
		write | smartctl -t long /dev/sda
		forbidden | cryptsetup luksFormat /dev/sda
		forbidden | cryptsetup -q erase /dev/sda
		dangerous | cryptsetup open /dev/sda x
		forbidden | hdparm --security-erase p /dev/sda
		read-only | hdparm -I /dev/sda
		forbidden | badblocks -wsv /dev/sdb
		dangerous | badblocks /dev/sdb
		forbidden | pvremove -ff /dev/sda2
		forbidden | pvcreate -ff /dev/sda2
		dangerous | pvremove /dev/sda2
		write | pvcreate /dev/sda2
		dangerous | vgremove -f vg0
		forbidden | zpool labelclear -f /dev/sda
		forbidden | sgdisk -o /dev/sda
		dangerous | sgdisk -p /dev/sda
		forbidden | sfdisk --delete /dev/sda
		read-only | sfdisk -d /dev/sda
		dangerous | btrfs subvolume delete x
		forbidden | cp image /dev/sda
		forbidden | tee /dev/sda
	`)
}

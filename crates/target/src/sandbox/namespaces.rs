//! The sandbox by namespaces alone, for machines without bubblewrap.

use std::path::Path;
use std::process::Command;

use super::Mount;

/// Options of `unshare`: the namespaces, and to kill everything in them when it ends.
const UNSHARE: &[&str] = &[
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--net",
    "--ipc",
    "--uts",
    "--kill-child=KILL",
];
/// Sets up a private root directory, as root of the new namespaces, drops privileges, and runs a
/// command. Its arguments are the new root, the directory of the command, the mounts as three words
/// each, `--` and the command. Programs are looked up in `/sbin` too.
///
/// Making a bind mount read-only does not affect mounts below it, so these are taken from
/// `mountinfo` and remounted one by one. The first process of the namespace must reap the others,
/// so it is a shell, without privileges by then.
const SCRIPT: &str = r#"
set -eu
own_path=${PATH-}
PATH=$own_path:/usr/sbin:/sbin:/usr/bin:/bin
root=$1 directory=$2
shift 2
mount -t tmpfs -o mode=755 tmpfs "$root"
restrict() {
    while read -r _ _ _ _ at flags _; do
        case $at in
        "$1" | "$1"/*) mount -o "remount,bind,$flags,nosuid,nodev$2" "$at" ;;
        esac
    done < /proc/self/mountinfo
}
while [ "$1" != -- ]; do
    how=$1 from=$2 to=$root$3
    shift 3
    mkdir -p "${to%/*}"
    if [ "$how" = link ]; then
        ln -s "$from" "$to"
        continue
    fi
    if [ -d "$from" ]; then mkdir -p "$to"; else [ -e "$to" ] || : > "$to"; fi
    mount --rbind "$from" "$to"
    restrict "$to" "$how"
done
shift
mkdir "$root/dev" "$root/proc"
for name in null zero full random urandom; do
    : > "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
for at in 0,stdin 1,stdout 2,stderr; do
    ln -s "/proc/self/fd/${at%,*}" "$root/dev/${at#*,}"
done
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
echo 0 > "$root/proc/sys/user/max_user_namespaces"
mount -o remount,bind,ro,nosuid,nodev,noexec "$root/proc"
mount -o remount,bind,ro,nosuid,nodev "$root"
cd "$root"
pivot_root . .
umount -l .
cd "$directory"
PATH=$own_path
exec setsid setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- sh -c '"$@"; exit "$?"' sh "$@"
"#;

/// The command that runs the words appended to it in new namespaces. The new root is mounted on
/// `root`, which only they see.
pub(super) fn command(unshare: &Path, root: &Path, directory: &Path, mounts: &[Mount]) -> Command {
    let mut command = Command::new(unshare);
    command
        .args(UNSHARE)
        .args(["--", "/bin/sh", "-c", SCRIPT, "sh"]);
    command.arg(root).arg(directory);
    for mount in mounts {
        match mount {
            Mount::Read(path) => command.arg(",ro").arg(path).arg(path),
            Mount::Write(from, to) => command.arg("").arg(from).arg(to),
            Mount::Link(text, path) => command.arg("link").arg(text).arg(path),
        };
    }
    command.arg("--");
    command
}

package cp

const long = `Copy files and directories to every selected host, or from one host.

  fairlead cp app.conf @web:/etc/app/        # into a directory, on all web servers at once
  fairlead cp web1:/var/log/syslog .         # from a host
  fairlead cp web1:/srv/a 'web[2-4]:/srv/b'  # from host to hosts, through this machine

HOST:PATH and SELECTOR:PATH are paths on hosts: absolute, or relative to the home directory. If DST is a directory, or ends
with a slash, files keep their names in it; else DST is the new name. SRC/ with a slash means what is in a directory. Fairlead
reports when a directory SRC goes into a directory DST that exists. From a host, the path may have * ? and [] in it. A file
here whose name has a colon is ./a:b.

Directories are copied whole. Modes are kept, without set-uid and set-gid, unless --mode sets them, and times with --times;
owners are not. A symbolic link is followed where it is named, and skipped below that; devices, FIFOs and sockets are always
skipped. What is skipped or cannot be read is reported. Sparse files are reported and copied whole. Links on a host are not
followed below DST.

Each file arrives under a temporary name, is checked against its SHA-256, is put on disk and renamed: a file that has its
name is whole. It is a new file: hard links, access control lists and extended attributes of the one that it replaces are not
kept. What a killed copy leaves on a host is removed by the next one to the same directory; with --resume that one continues
it, in the same place. The source is read once for hosts that keep pace with each other.

A copy is judged by the policy as a command that writes (or reads) the same paths, for all hosts before a byte goes
anywhere, and each host's audit entry has the hashes. When an AI agent calls Fairlead (detected from its environment), the
agent policy applies, and a copy to a host needs approval.

Exit codes: 0 everything was copied; 1 something was not; 2 wrong call; 3 unreachable; 4 timeout; 5 denied; 6 an error in
Fairlead itself; 130 interrupted.`

const example = `  fairlead cp -n nginx.conf @web:/etc/nginx/nginx.conf   # what would change, as a diff
  fairlead cp --mode 0755 deploy.sh 'lab[001-030]:bin/'
  fairlead cp --delete --times site/ @web:/srv/www        # the same files, with their times, and no others`

const fetchLong = `Copy files from every selected host into a directory for each: DIR/HOST/PATH.

PATH is absolute or relative to the home directory, and may have * ? and [] in it. Directories are copied whole. See
fairlead cp for what is copied, and how.`

const fetchExample = `  fairlead fetch '@web:/var/log/nginx/*.log' logs   # logs/web1/var/log/nginx/access.log, …
  fairlead fetch 'all:/etc/ssh/sshd_config' conf`

package framing

// Repair is the script of a [Tty] frame that makes the terminal raw again, as [Loader] left it.
const Repair = `PATH=/usr/bin:/bin stty raw -echo isig -iexten noflsh <&0 >/dev/null 2>&1`

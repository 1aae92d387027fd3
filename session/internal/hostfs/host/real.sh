# Prints where "$1" leads, without links: also those of the last name, which readlink gives one by one. It must be there.
#
#= f one_path what it leads to so far
#= n how_often a link was followed
#= l its_link where the link leads
#= d its_dir that it is in
one_path=$1 how_often=0
while [ -h "$one_path" ] && [ "$how_often" -lt 40 ]; do
	its_link=$(readlink -- "$one_path" && echo .) || exit; its_link=${its_link%??}
	case $its_link in /*) one_path=$its_link ;; *) one_path=${one_path%/*}/$its_link ;; esac
	how_often=$((how_often+1))
done
ls -d -- "$one_path" >/dev/null || exit
if [ -d "$one_path" ]; then
	(cd -P -- "$one_path" && pwd -P)
else
	its_dir=${one_path%/*}
	(cd -P -- "${its_dir:-/}" && its_dir=$(pwd -P && echo .) && its_dir=${its_dir%??} && printf '%s\n' "${its_dir%/}/${one_path##*/}")
fi

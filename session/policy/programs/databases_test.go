package programs_test

import "testing"

func TestDatabasesShowTheirStatusOnThisHost(t *testing.T) {
	table(t, `
		read-only | pg_isready -h localhost -p 5432
		network-read | pg_isready -h db.example
		network-read | pg_isready --host /srv/x
		read-only | pg_isready -h /var/run/postgresql
		write | psql -h /srv/x -l
		write | mysql -S ./x -e status
		read-only | mysql -S /run/mysqld/mysqld.sock -e status
		read-only | psql -U postgres -l
		read-only | psql -c "select pid, state, left(query, 80) from pg_stat_activity where lower(state) <> 'idle'"
		unknown | psql -c "select left(pg_read_file('x'), 80) from pg_locks"
		write | psql -h db -l
		write | psql -l "host=db"
		unknown | psql
		unknown | psql -f x.sql
		unknown | psql -c 'delete from t'
		unknown | psql -c '\! touch pwned'
		unknown | psql -c '\l' -c '\! id'
		unknown | psql -c 'show x; select pg_terminate_backend(1)'
		read-only | psql -c 'select count(*) from pg_stat_activity'
		read-only | psql -U postgres -d postgres -c 'select count(*) from pg_stat_activity'
		read-only | psql -Atc 'select count(*) from pg_stat_activity' postgres
		read-only | psql -l app
		read-only | psql -d app -c '\dt'
		read-only | psql -c 'show work_mem' app
		unknown | psql -U postgres -d app -c 'select count(*) from pg_stat_activity'
		unknown | psql --dbname=app -c 'select 1'
		unknown | psql -Atc 'explain SELECT now()' app
		unknown | psql -c 'show work_mem; select version()' app
		unknown | psql -c 'show work_mem' -c 'select version()' app
		read-only | psql -c "select pid, query, now() - query_start from pg_stat_activity where state <> 'idle' order by 3 limit 5;"
		read-only | psql -Atc 'select datname, pg_size_pretty(pg_database_size(datname)) from pg_database'
		read-only | psql -c 'SELECT pg_is_in_recovery();'
		unknown | psql -c 'select count(*) from users'
		unknown | psql -c 'select * from pg_locks where evil.now()'
		unknown | psql -c 'select count(dblink(1)) from pg_locks'
		unknown | psql -c 'select * from pg_locks for update'
		read-only | pg_controldata /var/lib/postgresql/15/main
		read-only | mysqldump --version
		unknown | mysqldump --version app
		unknown | psql -c '\dt \! id'
		write | psql -l -o pwned
		unknown | mysql
		read-only | mysql -e 'show full processlist\G'
		unknown | mysql -e '\! touch pwned'
		unknown | mysql -e 'show tables; \! id'
		unknown | mysql -e 'show tables; system id'
		unknown | mysql -e 'drop table x'
		write | mysql -h db -e 'show processlist'
		dangerous | mysqladmin shutdown
		read-only | redis-cli -h 127.0.0.1 info
		network-read | redis-cli -h cache info
		dangerous | redis-cli flushall
		unknown | redis-cli monitor
		unknown | redis-cli eval x 0
		unknown | redis-cli
		sensitive-read | redis-cli get session:1
		sensitive-read | redis-cli config get requirepass
		unknown | sqlite3 x.db .tables
		dangerous | pg_ctl stop
		read-only | pg_ctlcluster 15 main status
		unknown | pg_dump app
	`)
}

CREATE TABLE sandboxes (
	sandbox_id @WORD@ PRIMARY KEY,
	owner_principal_id @WORD@ NOT NULL,
	host @WORD@ NOT NULL,
	label @BLOB@ NOT NULL,
	path @BLOB@ NOT NULL,
	is_active BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	deleted_at BIGINT NOT NULL
);
CREATE INDEX sandboxes_by_time ON sandboxes (created_at, sandbox_id);
CREATE INDEX sandboxes_by_owner ON sandboxes (owner_principal_id, created_at, sandbox_id);

CREATE TABLE keepers (
	keeper_id @WORD@ PRIMARY KEY,
	started_at BIGINT NOT NULL,
	seen_at BIGINT NOT NULL
);

CREATE TABLE sessions (
	session_id @WORD@ PRIMARY KEY,
	name @WORD@ NOT NULL,
	principal @WORD@ NOT NULL,
	host @WORD@ NOT NULL,
	sandbox_id @WORD@ REFERENCES sandboxes (sandbox_id),
	keeper_id @WORD@ NOT NULL,
	cwd @BLOB@ NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	ended_why @BLOB@ NOT NULL
);
CREATE INDEX sessions_by_time ON sessions (created_at, session_id);
CREATE INDEX sessions_open ON sessions (keeper_id) WHERE ended_at = 0;

CREATE TABLE commands (
	command_id @WORD@ PRIMARY KEY,
	session_id @WORD@ NOT NULL,
	sandbox_id @WORD@ REFERENCES sandboxes (sandbox_id),
	hosts @BLOB@ NOT NULL,
	fleet BIGINT NOT NULL,
	command @BLOB@ NOT NULL,
	cwd @BLOB@ NOT NULL,
	asked_why @BLOB@ NOT NULL,
	status @WORD@ NOT NULL,
	verdict @WORD@ NOT NULL,
	reason @BLOB@ NOT NULL,
	outcome @WORD@ NOT NULL,
	class @WORD@ NOT NULL,
	rule @WORD@ NOT NULL,
	requested_by @WORD@ NOT NULL,
	approved_by @WORD@ NOT NULL,
	proof @WORD@ NOT NULL,
	exit_code BIGINT,
	stdout @BLOB@ NOT NULL,
	stderr @BLOB@ NOT NULL,
	stdout_sum @WORD@ NOT NULL,
	stderr_sum @WORD@ NOT NULL,
	exec_result @BLOB@ NOT NULL,
	sealed @BLOB@,
	claimed_by @WORD@ NOT NULL,
	claimed_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	finalized_at BIGINT NOT NULL,
	purged_at BIGINT NOT NULL
);
CREATE INDEX commands_by_time ON commands (created_at, command_id);
CREATE INDEX commands_by_sandbox ON commands (sandbox_id, created_at, command_id);
CREATE INDEX commands_by_session ON commands (session_id, created_at, command_id);
CREATE INDEX commands_by_asker ON commands (requested_by, created_at, command_id);
CREATE INDEX commands_alive ON commands (status, expires_at) WHERE ended_at = 0;
CREATE INDEX commands_by_stdout ON commands (stdout_sum) WHERE stdout_sum <> '';
CREATE INDEX commands_by_stderr ON commands (stderr_sum) WHERE stderr_sum <> '';

CREATE TABLE command_hosts (
	command_id @WORD@ NOT NULL REFERENCES commands (command_id) ON DELETE CASCADE,
	host @WORD@ NOT NULL,
	PRIMARY KEY (command_id, host)
);
CREATE INDEX command_hosts_by_host ON command_hosts (host, command_id);

CREATE TABLE approvals (
	approval_id @WORD@ PRIMARY KEY,
	command_id @WORD@ NOT NULL UNIQUE REFERENCES commands (command_id) ON DELETE CASCADE,
	digest @WORD@ NOT NULL,
	sealed @BLOB@,
	decision @WORD@ NOT NULL,
	decided_by @WORD@ NOT NULL,
	proof @WORD@ NOT NULL,
	reason @BLOB@ NOT NULL,
	fingerprint @WORD@ NOT NULL,
	signature @BLOB@ NOT NULL,
	asked_at BIGINT NOT NULL,
	decided_at BIGINT NOT NULL
);

CREATE TABLE approvers (
	approver_id @WORD@ PRIMARY KEY,
	principal @WORD@ NOT NULL,
	public_key @BLOB@ NOT NULL,
	fingerprint @WORD@ NOT NULL UNIQUE,
	kind @WORD@ NOT NULL,
	enrolled_by @WORD@ NOT NULL,
	enrolled_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL
);

CREATE TABLE tokens (
	token_id @WORD@ PRIMARY KEY,
	secret_sha256 @BLOB@ NOT NULL UNIQUE,
	name @BLOB@ NOT NULL,
	principal @WORD@ NOT NULL,
	role @WORD@ NOT NULL,
	scopes @BLOB@ NOT NULL,
	hosts @BLOB@ NOT NULL,
	created_by @WORD@ NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL
);

CREATE TABLE request_keys (
	principal @WORD@ NOT NULL,
	request_key @WORD@ NOT NULL,
	request_sha256 @BLOB@ NOT NULL,
	target_id @WORD@ NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (principal, request_key)
);
CREATE INDEX request_keys_by_end ON request_keys (expires_at);

CREATE TABLE events (
	seq BIGINT PRIMARY KEY,
	kind @WORD@ NOT NULL,
	principal @WORD@ NOT NULL,
	payload @BLOB@ NOT NULL,
	created_at BIGINT NOT NULL
);

CREATE TABLE counters (
	name @WORD@ PRIMARY KEY,
	value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('events', 0);

CREATE TABLE outputs (
	sha256 @WORD@ PRIMARY KEY,
	size BIGINT NOT NULL,
	data @BLOB@,
	created_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	purged_at BIGINT NOT NULL
);
CREATE INDEX outputs_by_use ON outputs (used_at) WHERE purged_at = 0;

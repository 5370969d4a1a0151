-- Sessions of users and limits of logins are removed when they count no more, as other rows that logins leave are.

alter table user_sessions
  -- The expiry of its last token.
  add column expire_date timestamptz(3);
update user_sessions s set expire_date = greatest(s.create_date,
  (select max(r.expire_date) from refresh_tokens r where r.entity_id = s.entity_id and r.session_id = s.id),
  (select max(t.expire_date) from user_tokens t where t.entity_id = s.entity_id and t.session_id = s.id));
alter table user_sessions alter column expire_date set not null;
create index user_sessions_by_expiry on user_sessions (entity_id, expire_date);
-- Found when a session is removed.
create index refresh_tokens_of_session on refresh_tokens (entity_id, session_id);
create index user_tokens_of_session on user_tokens (entity_id, session_id) where session_id is not null;

alter table login_limits
  add column expire_date timestamptz(3);
update login_limits set expire_date = greatest(last_send_date, last_entry_date) + interval '1 hour';
update login_limits set expire_date = now() where expire_date is null;
alter table login_limits alter column expire_date set not null;
create index login_limits_by_expiry on login_limits (entity_id, expire_date);

-- A user's sessions and tokens are ended together.
create index user_sessions_by_user on user_sessions (entity_id, user_id);
create index user_tokens_by_user on user_tokens (entity_id, user_id);

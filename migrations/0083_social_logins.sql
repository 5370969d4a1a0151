-- Logins by social providers, and dates by which rows of all logins are removed.

-- The users behind proven identities: the subject of an issuer, which gives it to one person and to nobody else.
create table user_identities (
  entity_id uuid not null,
  issuer text not null,
  subject text not null check (char_length(subject) between 1 and 255),
  user_id text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, issuer, subject),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);

-- ID tokens that began a session, as long as they would be accepted otherwise: the hash of the part that is signed.
create table used_id_tokens (
  entity_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  expire_date timestamptz(3) not null,
  primary key (entity_id, sha256)
);
create index used_id_tokens_by_expiry on used_id_tokens (entity_id, expire_date);

create index device_tokens_by_expiry on device_tokens (entity_id, expire_date);
create index login_codes_by_expiry on login_codes (entity_id, expire_date);
create index refresh_tokens_by_expiry on refresh_tokens (entity_id, expire_date);

-- Answers are kept as long as the longest-lived token in them. Those of before live as long as the longest token.
alter table sealed_answers add column expire_date timestamptz(3) not null default now() + interval '14 days';
alter table sealed_answers alter column expire_date drop default;
create index sealed_answers_by_expiry on sealed_answers (entity_id, expire_date);

-- Users of command-line tools keep no secret: their login opens their key, which lies under the root key alone.
alter table user_key_wraps drop constraint user_key_wraps_kind_check;
alter table user_key_wraps add constraint user_key_wraps_kind_check
  check (kind in ('pin', 'answers', 'device', 'recovery', 'login'));

-- A key that a secret of its user opens never opens by a login, whatever the program does, and the reverse.
create function refuse_weaker_wrap() returns trigger language plpgsql as $$
begin
  if new.kind = 'login' and exists (select from user_key_wraps w where w.entity_id = new.entity_id
      and w.user_id = new.user_id and w.kind in ('pin', 'answers', 'recovery'))
    or new.kind in ('pin', 'answers', 'recovery') and exists (select from user_key_wraps w
      where w.entity_id = new.entity_id and w.user_id = new.user_id and w.kind = 'login') then
    raise exception 'the key of user % opens in one way: by a login, or by what the user has', new.user_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger user_key_wraps_one_way before insert or update on user_key_wraps
  for each row execute function refuse_weaker_wrap();

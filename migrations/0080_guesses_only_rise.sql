-- The number of guesses at a user's secret never falls, whatever the program does, and its row stays.
create function refuse_fall() returns trigger language plpgsql as $$
begin
  raise exception 'a guess of % is never given back', old.user_id using errcode = 'restrict_violation';
end $$;

create trigger user_key_guesses_only_rise before update on user_key_guesses for each row
  when (new.counted < old.counted or new.cleared < old.cleared) execute function refuse_fall();
revoke delete on user_key_guesses from bezant_runtime;

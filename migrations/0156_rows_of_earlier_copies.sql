-- A journal that an earlier version wrote lacks the columns that were added since: they get their defaults. Without this, one such
-- record would fail the merge, and nothing would ever be signed.
create function row_of_copy(of anyelement, copy jsonb) returns anyelement language plpgsql stable as $$
declare
  missing text;
  defaults jsonb;
begin
  select string_agg(format('%L, %s', a.attname, pg_get_expr(d.adbin, d.adrelid)), ', ') into missing
    from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = pg_typeof(of)::text::regclass and a.attidentity = '' and a.attgenerated = ''
      and not copy ? a.attname;
  if missing is not null then
    execute 'select jsonb_build_object(' || missing || ')' into defaults;
  end if;
  return jsonb_populate_record(of, coalesce(defaults, '{}') || copy);
end $$;

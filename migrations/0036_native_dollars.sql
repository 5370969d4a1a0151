-- The coins that are worth one US dollar, native ones that are USDC among them: these have no currency, as no coins of the business account.
create or replace view dollar_tokens as
  select id as token_id from tokens where listed and (currency = 'USD' or (is_native and symbol = 'USDC'));

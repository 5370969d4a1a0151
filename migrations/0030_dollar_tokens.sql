-- The coins that are worth one US dollar, whose amounts transactions show in dollars too.
create view dollar_tokens as select id as token_id from tokens where listed and currency = 'USD';

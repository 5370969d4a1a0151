-- The identifier that a payer gives to what it pays for: an entity takes one authorization of the payer for it.
alter table x402_payments add column identifier text check (char_length(identifier) between 16 and 128);
create unique index x402_payments_by_identifier on x402_payments (entity_id, payer, identifier) where identifier is not null;

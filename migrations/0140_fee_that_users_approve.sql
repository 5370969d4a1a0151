-- The most that a transaction may cost its user for gas, as it was shown before the approval. Null of all others.
alter table transactions add column fee_max numeric(78, 0) check (fee_max >= 0);

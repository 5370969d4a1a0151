-- The code that created a contract, and the address of the metadata that its compiler wrote into it. Absent for contracts of before.
alter table contracts add column bytecode text, add column metadata_link text;
-- The reason code that the request gave, such as PMT001.
alter table payment_intents add column purpose_of_transfer text;
alter table payouts add column purpose_of_transfer text;
alter table payout_batches add column purpose_of_transfer text;

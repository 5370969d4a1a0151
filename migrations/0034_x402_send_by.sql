-- The time by which a payment has to be sent: its seller waits no longer, and a buyer who was turned away must not be charged later.
alter table x402_payments add column send_by timestamptz(3) not null default now();
alter table x402_payments alter column send_by drop default;

-- Payments that their payers signed and a seller of this server asked to settle (x402). The treasury of the seller's entity sends
-- each in a transaction of the same id, and its state follows from that transaction: this table has none of its own.
create table x402_payments (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  token_address text not null,
  payer text not null,
  payee text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Of the authorization: the number by which its payer tells it from others, and the seconds between which it is valid.
  nonce bytea not null check (octet_length(nonce) = 32),
  valid_after numeric(78, 0) not null,
  valid_before numeric(78, 0) not null,
  signature bytea not null,
  -- Whether the key of the payer made the signature; a contract decides about others.
  of_key boolean not null,
  -- The gas that the contracts of token and payer may use: the payer chooses theirs.
  gas_max bigint not null,
  -- When the treasury has its transaction; null before.
  submit_date timestamptz(3),
  -- Why it never got one.
  refusal text,
  -- The delivery that was answered that it is settled: another one would be for the same payment.
  delivery_id uuid,
  next_attempt_at timestamptz(3) not null default now(),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  -- A chain executes an authorization once, for whichever entity.
  unique (entity_id, blockchain, token_address, payer, nonce),
  constraint x402_payments_refused_unsent check (refusal is null or submit_date is null)
);
create index x402_payments_due on x402_payments (blockchain, entity_id, next_attempt_at, id)
  where submit_date is null and refusal is null;

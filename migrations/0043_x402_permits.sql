-- Payments by x402 that their payers signed for Permit2, through the contract of a scheme, and first payments of accounts.
alter table x402_payments
  -- The scheme of the permit; null for an authorization of the token itself (EIP-3009).
  add column permit_scheme text check (permit_scheme in ('exact', 'upto')),
  -- The amount that the payer signed, and the one account that may send it; with upto the seller chose how much of it moves, or none.
  add column amount_max numeric(78, 0),
  add column sender text,
  -- The approval of Permit2 that the payer signed beside it (EIP-2612).
  add column approval_before numeric(78, 0),
  add column approval_signature bytea,
  -- Whether the transaction creates the account of the payer first.
  add column creates_account boolean not null default false,
  drop constraint x402_payments_amount_check,
  drop constraint x402_payments_entity_id_blockchain_token_address_payer_nonc_key,
  add constraint x402_payments_amount_check check (amount > 0 or (amount = 0 and permit_scheme = 'upto')),
  add constraint x402_payments_permit_whole check (
    (permit_scheme is not null) = (amount_max is not null)
    and (sender is not null) = (permit_scheme is not distinct from 'upto')
    and (approval_before is not null) = (approval_signature is not null)
    and (approval_before is null or permit_scheme is not null)
    and not (creates_account and permit_scheme is not null)
    and (amount_max is null or amount_max > 0)
    and (permit_scheme is null or amount = amount_max or (permit_scheme = 'upto' and amount < amount_max)));
-- A chain executes each once, for whichever entity: an authorization by its token and number, a permit by its number alone.
create unique index x402_payments_by_authorization on x402_payments (entity_id, blockchain, token_address, payer, nonce)
  where permit_scheme is null;
create unique index x402_payments_by_permit on x402_payments (entity_id, blockchain, payer, nonce)
  where permit_scheme is not null;

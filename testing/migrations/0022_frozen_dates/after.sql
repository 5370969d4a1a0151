-- A wallet is frozen since its last change at the latest.
select frozen_date = '2026-02-03' from wallets where state = 'FROZEN';
select frozen_date is null from wallets where state = 'LIVE';

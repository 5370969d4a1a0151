-- Few balances have a part of their rise left; a reorg finds them.
create index token_checks_risen on token_checks (blockchain) where risen > 0;

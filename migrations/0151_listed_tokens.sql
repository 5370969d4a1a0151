-- Listed tokens and native coins are few among those that strangers push to wallets.
create index tokens_listed on tokens (blockchain) where listed;
create index tokens_native on tokens (blockchain) where is_native;

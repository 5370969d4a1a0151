-- Policies of API keys: what leaves at the request of a key counts against the limits of its policy. Rows of before were of no such policy.
alter table policies drop constraint policies_scope_check;
alter table policies add constraint policies_scope_check check (scope in ('entity', 'walletSet', 'wallet', 'apiKey'));
-- The key that asked; null where a member, a user or an engine did.
alter table policy_decisions add column api_key_id uuid;
alter table policy_spending add column api_key_id uuid;

-- Finds whether a login made a user: such a user approves on a device, and no app may give that user a PIN.
create index user_emails_user on user_emails (entity_id, user_id);
create index user_identities_user on user_identities (entity_id, user_id);

-- Nothing reads these: an operation says by itself whether it creates its account.
alter table operations drop column creates_account;
drop index transactions_by_operation;

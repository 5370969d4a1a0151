-- The id of the app by which wallets and their sets show the user who holds them.
create view user_names as select entity_id, id, user_id from users;

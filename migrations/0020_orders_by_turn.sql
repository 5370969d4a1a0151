-- Orders take turns: what rested longest is looked at first, so that what cannot be paid holds up nobody.
drop index payouts_waiting;
create index payouts_waiting on payouts (blockchain, look_after, id) where status = 'pending' and not submitted;
drop index transfers_waiting;
create index transfers_waiting on transfers (blockchain, look_after, id)
  where direction = 'out' and status = 'pending' and not submitted;
drop index refunds_waiting;
create index refunds_waiting on payments (blockchain, look_after, id)
  where type = 'refund' and status = 'pending' and not submitted;

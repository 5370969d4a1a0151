-- Answers of an outside provider of screening, kept until they expire.

create table provider_answers (
  chain text not null,
  address text not null,
  actions text[] not null,
  rule_name text not null,
  risk_score text not null,
  risk_category text not null,
  create_date timestamptz(3) not null,
  expire_date timestamptz(3) not null,
  primary key (chain, address)
);

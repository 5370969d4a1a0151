import type { Introduction } from '#runtime/http/openapi/document'

const text = `Payments, wallets and on-chain transactions of a stablecoin platform that you run yourself. Compatible with, and not
affiliated with, the interface of the Circle APIs.

## Keys

Send \`Authorization: Bearer KEY\` with an API key of the server, which looks like \`TEST_API_KEY:ID:SECRET\`. A key belongs to one
entity and reaches only what that entity owns. A \`TEST_API_KEY\` reaches test networks, a \`LIVE_API_KEY\` main networks. In a
sandbox, \`GET /sandbox\` shows the key, and the reference page at \`/docs/reference\` already uses it. Operations of the operator need a
key with the scope \`operator:read\`. The JSON-RPC endpoints take a client key, \`TEST_CLIENT_KEY:ID:SECRET\`, which a page may hold
and which opens nothing else.

Operations that use a developer's wallet keys also take \`entitySecretCiphertext\`: the 32-byte entity secret, encrypted to the
key of \`GET /v1/w3s/config/entity/publicKey\` (RSA-OAEP with SHA-256). Encrypt it anew for each request: a ciphertext works once.

## Idempotency

Operations that move money, and most that create a resource, require an \`idempotencyKey\`: a UUID that you choose. If you do
not know the outcome of a request, repeat it with the same key and the same body. It has no further effect, and returns the
resource as it is now. Only an accepted request binds its key; a different body with the same key is refused. Keys never
expire.

## Lists

Lists show the newest item first. \`from\` and \`to\` limit \`createDate\`, both inclusive; \`pageSize\` sets the number of items.
The \`Link\` header has the addresses of the next and the previous page: follow them until there is no \`next\`. They keep the
filters and the end of the range, so that pages do not move while items arrive. \`pageAfter\` and \`pageBefore\` are ids of items
and exclude each other.

## Values

Amounts are decimal strings, never numbers. Dates are RFC 3339 in UTC with milliseconds. EVM addresses are shown in lower case.
Fields without a value are absent unless their description says otherwise; unknown fields of a request are ignored. A result
is the member \`data\` of the response, except for the few operations whose schema has no \`data\`.

## Errors

Every error has a \`code\` and a \`message\`, and \`errors\` where fields are to blame: branch on \`code\`, and show or log the
message. Each operation lists its codes by status. A resource of another entity is answered like one that does not exist.
Before an operation is reached, headers of more than 16 KB are answered with 431, unknown paths with 404, and operations that
were removed from the interface with 410. After 429 and 503, wait for the seconds of \`Retry-After\` and repeat the request.
Quote the \`X-Request-Id\` of a response to the operator of the server: the log has it.

## Notifications

Subscribe an endpoint with \`POST /v1/notifications/subscriptions\` to be told of each change of payment intents, payments,
payouts, transfers and recipients. Each notification shows the resource as its GET does, is signed, and is delivered at least
once: ignore a \`MessageId\` that you have seen. \`POST /v2/notifications/subscriptions\` does the same for transactions of
wallets, in the format of webhooks: ignore a \`notificationId\` that you have seen.`

const tags = [
  { name: 'Configuration', description: 'The server and the business account.' },
  {
    name: 'Entity',
    description: 'The configuration of the entity and its secret, which opens the keys of its wallets.',
  },
  { name: 'Users', description: 'The users of your app, who hold the keys of wallets, and their sessions.' },
  {
    name: 'Challenges',
    description:
      'What an app asks of a user: wallets, payments and signatures, which the user approves on a page.',
  },
  {
    name: 'Pages',
    description: 'What the page of challenges sends: with the token of a user, and no API key.',
  },
  { name: 'Wallet sets', description: 'Groups of wallets whose keys derive from one seed.' },
  { name: 'Wallets', description: 'Addresses on one blockchain each, whose keys the platform holds.' },
  { name: 'Tokens', description: 'The coins and tokens that the server knows.' },
  {
    name: 'Monitored tokens',
    description: 'The choice of tokens that lists of balances and transactions show.',
  },
  {
    name: 'Transactions',
    description: 'Transfers and contract calls from wallets, their fees, and incoming transfers.',
  },
  {
    name: 'Signing',
    description: 'Signatures with the key of a wallet, over messages, typed data and transactions.',
  },
  {
    name: 'Contracts',
    description: 'Deployed and imported contracts, and queries of their state.',
  },
  {
    name: 'Event monitors',
    description: 'Monitored events of contracts, and their logs.',
  },
  {
    name: 'Modular wallets',
    description: 'JSON-RPC for pages: passkeys of their users, and reads of chains.',
  },
  { name: 'Faucet', description: 'Test coins on the local chains of a sandbox.' },
  { name: 'Payment intents', description: 'Expected deposits, each with an address to pay to.' },
  { name: 'Payments', description: 'Deposits to the addresses of payment intents, and their refunds.' },
  { name: 'Balances', description: 'The money of the main wallet of the business account.' },
  { name: 'Payouts', description: 'Payments in stablecoins to recipients of the address book.' },
  {
    name: 'Transfers',
    description: 'Withdrawals to addresses of your own, and money that arrives on deposit addresses.',
  },
  { name: 'Address book', description: 'Recipients of payouts.' },
  { name: 'Recipient addresses', description: 'Addresses of your own elsewhere that transfers can go to.' },
  {
    name: 'Deposit addresses',
    description: 'Permanent addresses, one on each chain, that credit the main wallet.',
  },
  { name: 'Stablecoins', description: 'The stablecoins and their supply.' },
  {
    name: 'Messages',
    description: 'Messages of contracts from one chain to another, with the attestations that deliver them.',
  },
  {
    name: 'Unified balance',
    description:
      'What depositors hold in contracts of several chains, and spend on any of them by a signature.',
  },
  {
    name: 'x402',
    description:
      'A facilitator of x402: payments that their payers signed, settled for sellers of this account.',
  },
  { name: 'Deposits', description: 'Dollars that arrive by wire, which a sandbox can simulate.' },
  {
    name: 'Bank accounts',
    description: 'Linked bank accounts, and payouts to them, for which coins are redeemed.',
  },
  { name: 'Notifications', description: 'Subscriptions of endpoints to changes of resources.' },
  { name: 'Webhooks', description: 'Subscriptions of endpoints to changes of transactions of wallets.' },
  { name: 'Compliance', description: 'Screening of addresses by lists and rules.' },
  { name: 'Operator', description: 'Health, metrics and the books of the server, for its operator.' },
  { name: 'Sandbox', description: 'The credentials and the chains of a sandbox.' },
] as const

/** The text of the API reference that no single operation has. */
export const introduction: Introduction = { text, tags }

export type SettingFacts = {
  about: string
  default?: string
  /** Whether the API uses it, but not a worker. */
  ofApi?: true
  /** Whether its value lets a reader act as the operator: a key, or an address with a password. */
  holdsSecret?: true
}

/**
 * Every setting of the environment, as `bezant serve --help` and `docs/settings.md` show it. To add one, add it here
 * and read it in `config.ts`.
 */
export const settings = {
  DATABASE_URL: {
    about:
      'URL of the PostgreSQL database. It may list several servers, of which the primary is used: `postgresql://user@one,two/name?target_session_attrs=read-write`. Without it, a sandbox starts an embedded PostgreSQL, and commands use that of the sandbox on their data directory. An `--ephemeral` sandbox ignores it.',
    holdsSecret: true,
  },
  BEZANT_DIRECT_DATABASE_URL: {
    about:
      'URL of the database itself, when `DATABASE_URL` leads to a pooler in transaction mode such as PgBouncer: for notifications and migrations. See docs/operate.md.',
    default: 'none: `DATABASE_URL` leads to the database itself',
    holdsSecret: true,
  },
  BEZANT_READ_DATABASE_URL: {
    about:
      'URLs of streaming replicas of the database, separated by commas: the API reads lists and single resources from them. See [read replicas](operate.md#read-replicas). A sandbox ignores it.',
    default: 'none',
    ofApi: true,
    holdsSecret: true,
  },
  BEZANT_ROOT_KEY: {
    about:
      'The key that encrypts all stored keys: 64 hexadecimal digits. While it is rotated, the old and the new one, with a comma or a line break between them: see docs/operate.md.',
    default: '`root.key` in the data directory',
    holdsSecret: true,
  },
  BEZANT_ROOT_KEY_SERVICE: {
    about:
      'The key of a service outside of the program that wraps the root key: `pkcs11:token=NAME;object=NAME?module-path=FILE` (RFC 7512), `vault:https://HOST:8200/v1/transit/keys/NAME`, `aws-kms:ARN` or `gcp-kms:projects/…/cryptoKeys/NAME`. See [a key service](operate.md#a-key-service-for-the-root-key).',
    default: 'none: the root key is in `BEZANT_ROOT_KEY` or `root.key`',
  },
  BEZANT_HSM_PIN: {
    about: 'PIN of the token of a `pkcs11` service. Its file is read for each use.',
    default: 'none: the key is used without a login',
    holdsSecret: true,
  },
  BEZANT_VAULT_TOKEN: {
    about: 'Token of a `vault` service. Its file is read for each use, so that an agent may renew it.',
    default: 'none',
    holdsSecret: true,
  },
  BEZANT_NETWORKS: {
    about:
      'Chains and their RPC endpoints: `[{"blockchain": "BASE", "rpcUrls": ["https://…", "https://…"]}]`. Blocks are read from the best endpoint of a chain, and transactions are sent to all. More than half of the endpoints, or as many as `"agree"` says, must report a block before it is final: with three, one may fail. `"inFlightMax"` is the number of pending transactions that the nodes accept from one address. `"batchMax"` is the number of calls that the provider accepts in one request; it is detected when absent. `"accountCode": {"0xADDRESS": "0xHASH"}` names the code of the contracts of modular wallets, and of contracts that these call: see `bezant contracts list`. `"crosschain"` names the contracts of cross-chain messages and unified balances: see docs/crosschain-messages.md.',
  },
  BEZANT_OWN_NETWORKS: {
    about:
      'Further EVM networks, as a list in JSON: see docs/further-networks.md. `BEZANT_OWN_NETWORKS_FILE` names a file with it. A sandbox starts those of test environments by `--chains`, and `BEZANT_NETWORKS` connects all of them.',
  },
  BEZANT_DATA_DIR: {
    about: 'Directory of `root.key`, the journals and the counted guesses at PINs.',
    default: '`.bezant`',
  },
  BEZANT_JOURNAL_DIR: {
    about: 'Directory of the journals, in which workers record transactions before they send them.',
    default: '`journals` in the data directory',
  },
  BEZANT_HOST: {
    about: 'Address that the API, and the probes of a worker, listen on.',
    default: '127.0.0.1',
  },
  BEZANT_PORT: { about: 'Port of the API.', default: '4020', ofApi: true },
  BEZANT_WORKER_PORT: {
    about: 'Port of `/ping`, `/ready` and `/metrics` of a worker; 0 for a free one.',
    default: 'none',
  },
  BEZANT_PUBLIC_URL: {
    about: 'Address of the API in links, notifications and the URLs of their certificates.',
    default: '`http://HOST:PORT`',
  },
  BEZANT_PAGE_PORT: {
    about:
      'Port of the page of users and of payment pages, which have an origin of their own; 0 for a free one.',
    default: 'the port of the API plus one',
    ofApi: true,
  },
  BEZANT_CHALLENGE_URL: {
    about:
      'Public origin of the page of users and of payment pages, such as `https://pin.example`, as browsers see it. Links of payment pages contain it. Set it as `serviceUrl` of the browser client.',
    default: '`http://HOST:PAGE-PORT`',
    ofApi: true,
  },
  BEZANT_LOG_LEVEL: { about: 'Log level: `debug`, `info`, `warn` or `error`.', default: '`info`' },
  BEZANT_DATABASE_CONNECTIONS: {
    about: 'Maximum number of database connections of a process; a quarter of them is reserved for reads.',
    default: '16',
  },
  BEZANT_BLOCK_RETENTION_DAYS: {
    about:
      'Number of days for which final blocks are kept, at least 7: `bezant chain accept` cannot revert older ones.',
    default: '7',
  },
  BEZANT_BODY_BYTES_MAX: {
    about: 'Maximum size of request bodies with call data, documents or batches; it is 65536 for all others.',
    default: '1048576',
    ofApi: true,
  },
  BEZANT_REQUESTS_PER_SECOND: {
    about: 'Rate limit of each API key, and of each client address without a valid key; 0 for none.',
    default: '0',
  },
  BEZANT_CALL_MGAS: {
    about:
      'Gas, in millions, of one contract query or estimate that a node executes for a request with an API key. A call of a page gets 10 million at most.',
    default: '30',
  },
  BEZANT_PAGE_NODE_MS: {
    about:
      'Milliseconds of the time of nodes that requests with a client key, or without a key, may use in a second from one address, ten times as much at once, and eight times as much from all addresses of an entity; 0 for no limit. Sandboxes have none unless it is set.',
    default: '500',
    ofApi: true,
  },
  BEZANT_REQUEST_LOG: {
    about:
      'What the request log keeps of each request: `off` nothing, `rows` a row without headers and bodies, `bodies` those too, without secrets.',
    default: '`rows`; `bodies` in a sandbox',
    ofApi: true,
  },
  BEZANT_PROXIES: {
    about:
      'Addresses and networks of trusted proxies, such as `10.0.0.7,10.1.0.0/16`: the client address is taken from the headers that they forward, and from no others.',
    default: 'none',
  },
  BEZANT_NOTIFICATION_TARGETS: {
    about:
      'Allowed receivers of notifications: `public` addresses (https only), or also this machine (`loopback`) or its network (`private`).',
    default: '`public`',
  },
  BEZANT_PASSKEY_ORIGINS: {
    about:
      'Origins of the pages whose users may register passkeys and log in, such as `https://shop.example,https://app.example`. `loopback` stands for all pages of this machine.',
    default: 'none; `loopback` in a sandbox',
    ofApi: true,
  },
  BEZANT_SMTP_URL: {
    about:
      'The SMTP server that mails codes to users, such as `smtps://user:password@mail.example`. Without one, a sandbox shows the mails at `GET /sandbox/mails`, and any other server refuses logins by e-mail.',
    default: 'none',
    ofApi: true,
    holdsSecret: true,
  },
  BEZANT_MAIL_FROM: {
    about: 'The sender of mails to users.',
    default: '`Bezant <no-reply@localhost>`',
    ofApi: true,
  },
  BEZANT_SOCIAL_PROVIDERS: {
    about:
      'Providers with which the users of an entity log in, and the ids of its apps there: `[{"entity": "ENTITY-ID", "provider": "Google", "clientIds": ["CLIENT-ID"]}]`. `provider` is `Google`, `Apple` or `Facebook`; `"issuer"` names another issuer of OpenID Connect under that name. `Facebook` needs the one id of its app, and the `"appSecret"`. Plain http only for addresses of this machine or its network.',
    default: 'none',
    ofApi: true,
    holdsSecret: true,
  },
  BEZANT_SIGN_IN_PROVIDER: {
    about:
      'Provider of OpenID Connect with which members sign in to the console, besides their passwords: `[{"issuer": "https://id.example", "clientId": "CLIENT-ID", "clientSecret": "SECRET"}]`. It sends browsers back to `BEZANT_PUBLIC_URL` with `/console/signed-in`, and names members by a verified `email`, which is their name here. A second factor that it names (`amr`) counts as a one-time code.',
    default: 'none',
    ofApi: true,
    holdsSecret: true,
  },
  BEZANT_CROSSCHAIN_ENVIRONMENT: {
    about:
      'Networks whose cross-chain messages and unified balances this server answers for, `TEST` or `LIVE`: a domain names a network of each.',
    default: '`LIVE`',
  },
  BEZANT_CROSSCHAIN_ENTITY: {
    about:
      'Id of the entity whose treasury pays the gas of burns of unified balances and of forwarded messages. Without it, nobody pays, and neither is done.',
  },
  BEZANT_COIN_PRICES: {
    about:
      'Prices of native coins in USD by symbol, such as `ETH=4000.5,AVAX=30` or `ETH-SEPOLIA=1`, with which a delivery is priced: one that costs more gas than its fee covers waits; and fees of [EURC](crosschain-messages.md#eurc) in native coins, which main networks take by these prices alone. Without a price, coins of test networks cost nothing, ETH 5000, AVAX 60 and MATIC 1.',
    default: 'none',
  },
  BEZANT_FAST_ALLOWANCE: {
    about:
      'USDC of burns that may be attested before they are final, at a time, in whole coins: as much as you are ready to lose to a reorg. A tenth of it is the most for one message.',
    default: '1000000',
  },
  BEZANT_ATTESTERS: {
    about:
      'Attesters that sign cross-chain messages beside this server: `[{"publicKey": "0x04…", "url": "https://attester.example", "token": "LIVE_API_KEY:…"}]`, as docs/crosschain-messages.md describes. One without `url` and `token` is asked no more, and its key is still shown. Plain http only for addresses of this machine or its network.',
    default: 'none',
    holdsSecret: true,
  },
  BEZANT_ATTESTATION_THRESHOLD: {
    about:
      'Number of attesters, this server included, that have to sign a cross-chain message: that of the contracts on every chain.',
    default: '1',
  },
  BEZANT_ATTESTATION_SERVICE: {
    about:
      'Base URL of the attestation service that is asked for messages, fees and keys of domains whose messages this server does not attest itself, such as `https://attestations.example`. Its answers are passed on: see docs/crosschain-messages.md for the trust that takes. Plain http only for addresses of this machine or its network.',
    default: 'none',
    ofApi: true,
  },
  BEZANT_UNIFIED_BALANCE_HOURLY_MAX: {
    about:
      'USDC that transfers of unified balances may take to one chain within an hour, in whole coins: more is refused, with an alarm.',
    default: '1000000',
  },
  BEZANT_PAYMENT_BATCH_SECONDS: {
    about:
      'Seconds that an accepted payment of a unified balance waits at most for others of its batch: the longer, the less gas for each.',
    default: '10',
  },
  BEZANT_NOTIFICATION_SIGNATURE: {
    about:
      '`SignatureVersion` of notifications: 1 (RSA with SHA-1, which clients expect) or 2 (RSA with SHA-256).',
    default: '1',
  },
  BEZANT_AUTO_BUMP: {
    about:
      '1 accelerates stuck transactions automatically, up to a fee of one native coin; not those whose users approved a fee.',
    default: '0',
  },
  BEZANT_PENDING_LIMITS: {
    about:
      '1 limits the pending transactions of an address as the hosted service does (ETH and AVAX 32, MATIC 16).',
    default: '0',
  },
  BEZANT_RECIPIENT_HOLD_HOURS: {
    about:
      '24 activates new recipients and recipient addresses after a day, as the hosted service can; 0 at once.',
    default: '0',
    ofApi: true,
  },
  BEZANT_ENTITY_COUNTRY: {
    about:
      'Country of your entities. Those in `FR` and `SG` can withdraw only to recipient addresses with an `identity`, and have to name the sender of every payout. In `SG`, payment intents and payouts need a `purposeOfTransfer`.',
    default: '`US`',
  },
  BEZANT_BANK_RAIL: {
    about:
      'The connection to a bank that you run, for linked bank accounts and redemptions: `[{"url": "https://bank.example", "secret": "SECRET", "blockchain": "BASE", "address": "0xADDRESS", "beneficiary": {"name": "…"}, "beneficiaryBank": {"accountNumber": "…", "routingNumber": "…"}}]`. Orders are posted to `url`, signed under `secret`, redeemed coins go to `address`, and customers wire to the `beneficiary`: see docs/banking.md. Plain http only for addresses of this machine or its network.',
    default: 'none',
    holdsSecret: true,
  },
  BEZANT_SCREENING_TEST_SUFFIX: {
    about:
      'Number of last characters by which addresses of test networks choose a rule of screening: 12, 4 (which random addresses have too), or 0 for none.',
    default: '12',
  },
  BEZANT_SPONSORED_MGAS_PER_WALLET: {
    about:
      'Million gas that a treasury pays for the operations of one modular wallet on one chain within a day. 0 pays for none.',
    default: '50',
  },
  BEZANT_SPONSORED_MGAS_PER_ENTITY: {
    about: 'The same for all wallets of an entity: pages get no more beyond it, whoever used it.',
    default: '5000',
  },
  BEZANT_DEVELOPER_MGAS_PER_WALLET: {
    about:
      'Million gas that a treasury pays for the operations of one smart account of a developer on one chain within a day.',
    default: '5000',
  },
  BEZANT_DEVELOPER_MGAS_PER_ENTITY: {
    about:
      'The same for all wallets of an entity, modular ones included. More than `BEZANT_SPONSORED_MGAS_PER_ENTITY`, so that pages leave some to developers.',
    default: '50000',
  },
  BEZANT_FEE_COINS_PER_WALLET: {
    about:
      'Native coins that a treasury pays within a day as fees of one wallet that lacks them, on a chain whose transactions can name another account that pays (Aptos, Solana). 0 pays for none.',
    default: '1',
  },
  BEZANT_FEE_COINS_PER_ENTITY: {
    about: 'The same for all wallets of an entity.',
    default: '10',
  },
  BEZANT_REVIEW_APPROVERS: {
    about:
      'Number of operators, each with a key or a sign-in of their own, who have to approve a transaction under review: 1 or 2. With 2, a file of payouts is approved by another one than its uploader.',
    default: '1',
  },
  BEZANT_REVIEW_ON_TEST_NETWORKS: {
    about:
      '`approve` or `deny` decides about transactions under review on test networks at once; `operator` leaves them to an operator.',
    default: '`operator`',
  },
  BEZANT_SCREENING_URL: {
    about:
      'URL of an outside provider of screening, which is asked about each recipient of a transaction before it is cleared. Plain http only for addresses of this machine or its network.',
    default: 'none',
  },
  BEZANT_SCREENING_TOKEN: {
    about: 'Secret that is sent to the provider of screening as a bearer token.',
    default: 'none',
    holdsSecret: true,
  },
  BEZANT_SCREENING_KEPT_HOURS: {
    about: 'Hours for which an answer of the provider of screening counts; 0 keeps it for a minute.',
    default: '24',
  },
  BEZANT_NFT_METADATA: {
    about:
      '1 fetches the metadata of listed NFTs in the background from the addresses that their contracts tell: https only, public addresses only, at most 64 KB, without redirects. Such an address learns that this server asks.',
    default: '0',
  },
  BEZANT_IPFS_GATEWAY: {
    about:
      'Base URL of the gateway that `ipfs://` metadata is fetched from, such as `https://ipfs.io`. Plain http only for addresses of this machine or its network.',
    default: 'none',
  },
  BEZANT_CONTRACT_SOURCES_DIR: {
    about:
      'Directory of verified sources of contracts, in the layout of Sourcify: `CHAIN-ID/ADDRESS/metadata.json`, with the source files in `sources` beside it. Imported contracts get their ABI and sources from it.',
    default: 'none',
    ofApi: true,
  },
  BEZANT_CONTRACT_SOURCES_URL: {
    about:
      'Base URL of a server of verified sources with version 2 of the interface of Sourcify, such as `https://sourcify.dev/server`. It is asked for imported contracts whose ABI is not known otherwise, and learns their addresses. Plain http only for addresses of this machine or its network.',
    default: 'none',
    ofApi: true,
  },
  BEZANT_TRANSFER_RUNNING: {
    about: '0 shows transfers in progress as `pending`, for clients that do not know `running`.',
    default: '1',
  },
} as const satisfies Record<string, SettingFacts>

export type Setting = keyof typeof settings

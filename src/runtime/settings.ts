export type SettingFacts = {
  about: string
  default?: string
  /** Whether only the API uses it, not a worker. */
  ofApi?: true
}

/**
 * Every setting of the environment, as `bezant serve --help` and `docs/settings.md` show it. To add one, add it here
 * and read it in `config.ts`.
 */
export const settings = {
  DATABASE_URL: {
    about:
      'The PostgreSQL; an `--ephemeral` sandbox ignores it. Without it, a sandbox has an embedded one, which commands join by its data directory.',
  },
  BEZANT_ROOT_KEY: {
    about: '64 hexadecimal digits that open every key at rest.',
    default: '`root.key` in the data directory',
  },
  BEZANT_NETWORKS: {
    about:
      '`[{"blockchain": "BASE", "rpcUrls": ["https://…", "https://…"]}]`. Of several endpoints the best is read, all are sent to, and more than half (`"agree": 2`) must name a block before it is final: three survive the loss of one. `"inFlightMax"` is how many transactions of one address the nodes\' pools hold, `"batchMax"` how many calls their provider takes in one request; left out, it is learnt.',
  },
  BEZANT_DATA_DIR: { about: 'Where `root.key` and journals are.', default: '`.bezant`' },
  BEZANT_JOURNAL_DIR: {
    about: 'Where workers write what they send before they send it.',
    default: '`journals` in the data directory',
  },
  BEZANT_HOST: {
    about: 'The address that the API and the probes of a worker listen on.',
    default: '127.0.0.1',
  },
  BEZANT_PORT: { about: 'The port that the API listens on.', default: '4020', ofApi: true },
  BEZANT_WORKER_PORT: {
    about: 'The port on which a worker answers `/ping`, `/ready` and `/metrics`; 0 takes a free one.',
    default: 'none, and it listens on nothing',
  },
  BEZANT_PUBLIC_URL: {
    about: 'The address of the API in links, notifications and their certificates.',
    default: '`http://HOST:PORT`',
  },
  BEZANT_LOG_LEVEL: { about: '`debug`, `info`, `warn` or `error`.', default: '`info`' },
  BEZANT_DATABASE_CONNECTIONS: {
    about: 'How many connections one process opens. A quarter of them is kept for reading.',
    default: '16',
  },
  BEZANT_BLOCK_RETENTION_DAYS: {
    about:
      'How many days of blocks below the final ones are kept, at least 7: `bezant chain accept` cannot undo what is older.',
    default: '7',
  },
  BEZANT_BODY_BYTES_MAX: {
    about:
      "How large a request's body may be where call data, documents or batches are sent; all others end at 65536.",
    default: '1048576',
    ofApi: true,
  },
  BEZANT_REQUESTS_PER_SECOND: {
    about: 'Rate limit of one API key, and of one address that shows no good key; 0 is none.',
    default: '0',
  },
  BEZANT_PROXIES: {
    about:
      'Addresses and networks of your proxies, such as `10.0.0.7,10.1.0.0/16`: what they say of where a request came from is believed, and of nobody else.',
    default: 'none',
  },
  BEZANT_NOTIFICATION_TARGETS: {
    about:
      'Where notifications may go: `public` (https only), or also to this machine (`loopback`) or its network (`private`).',
    default: '`public`',
  },
  BEZANT_NOTIFICATION_SIGNATURE: {
    about:
      'The SignatureVersion of notifications: 1 (SHA1 with RSA, as clients expect it) or 2 (SHA256 with RSA).',
    default: '1',
  },
  BEZANT_AUTO_BUMP: {
    about: '1 accelerates what is stuck without being asked, up to one native coin of fee.',
    default: '0',
  },
  BEZANT_PENDING_LIMITS: {
    about:
      '1 limits what one address may have under way as the hosted service does (ETH and AVAX 32, MATIC 16).',
    default: '0',
  },
  BEZANT_RECIPIENT_HOLD_HOURS: {
    about:
      '24 holds new recipients and recipient addresses back for a day, as the hosted service can; 0 does not.',
    default: '0',
    ofApi: true,
  },
  BEZANT_ENTITY_COUNTRY: {
    about:
      'Where your entities are at home: those of `FR` and `SG` can only withdraw to recipient addresses whose `identity` they gave, and name the sender of every payout.',
    default: '`US`',
  },
  BEZANT_TRANSFER_RUNNING: {
    about: '0 shows transfers under way as `pending`, for clients that do not know `running`.',
    default: '1',
  },
} as const satisfies Record<string, SettingFacts>

export type Setting = keyof typeof settings

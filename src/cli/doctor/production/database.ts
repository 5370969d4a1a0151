import type { Config } from '#runtime/config'
import { serversWithoutPassword, transportOf } from '#runtime/db/transport'
import { reachOfHost } from './host-reach.ts'
import type { ProductionRule } from './rule.ts'
import type { ServerFacts } from './store.ts'

/** The ways to the database, which need no answer of it. */
export const connectionRules: readonly ProductionRule<Config>[] = [
  {
    name: 'DATABASE_URL',
    safe: 'encrypted or on this machine, and with a password or a certificate',
    faults: ({ databaseUrl }) => connectionFaults(databaseUrl),
  },
  {
    name: 'BEZANT_DIRECT_DATABASE_URL',
    safe: 'as DATABASE_URL, or none',
    faults: ({ directDatabaseUrl }) => connectionFaults(directDatabaseUrl),
  },
  {
    name: 'BEZANT_READ_DATABASE_URL',
    safe: 'as DATABASE_URL, or none',
    faults: async ({ readDatabaseUrls: urls }) => (await Promise.all(urls.map(connectionFaults))).flat(),
  },
]

async function connectionFaults(url: string | undefined) {
  if (url === undefined) return []
  const { hosts, encryption } = transportOf(url)
  const reaches = await Promise.all(hosts.map(reachOfHost))
  const distant = hosts.filter((_, index) => reaches[index] !== 'machine').join(', ')
  const trusting = await serversWithoutPassword(url)
  return [
    distant !== '' &&
      encryption !== 'verified' &&
      `${encryption === 'none' ? 'the connection is not encrypted' : 'any server is taken for the database'}, and the network between here and ${distant} can read and change it: add sslmode=verify-full`,
    trusting.length > 0 &&
      `${trusting.join(', ')} asks for no password, so other programs that reach it are the platform: set scram-sha-256 in place of trust in pg_hba.conf`,
  ]
}

export const serverRules: readonly ProductionRule<ServerFacts>[] = [
  {
    name: 'rights of the database user',
    safe: 'those of bezant_runtime',
    faults: (facts) => {
      const rights = rightsOf(facts)
      return [
        rights.length > 0 &&
          `a process that was broken into can rewrite the books, because ${facts.user} ${rights.join(', ')}: give serve and worker a user that is a member of bezant_runtime and of nothing else`,
      ]
    },
  },
  {
    name: 'wal_level',
    safe: 'enough for an archive',
    faults: ({ settings }) => [
      settings.wal_level === 'minimal' &&
        'the write-ahead log is too short for an archive or a replica: set wal_level = replica',
    ],
  },
  {
    name: 'archive_mode',
    safe: 'the write-ahead log is kept elsewhere',
    faults: ({ settings, hasSlot, archivesInVain }) => {
      if (settings.archive_mode === 'off')
        return [
          !hasSlot &&
            'nothing keeps the write-ahead log, so a lost disk takes all since the last backup: archive it, or let a receiver with a replication slot take it',
        ]
      return [
        settings.archive_command === '' &&
          settings.archive_library === '' &&
          'archive_mode is on, and nothing archives: set archive_command',
        archivesInVain &&
          'the last attempt to archive the write-ahead log failed: the log of the server says why',
      ]
    },
  },
  {
    name: 'data_checksums',
    safe: 'on',
    faults: ({ settings }) => [
      settings.data_checksums === 'off' &&
        'a disk that returns wrong bytes changes amounts, and backups keep them: stop the server, and run "pg_checksums --enable"',
    ],
  },
  ...['autovacuum', 'track_counts'].map(
    (name): ProductionRule<ServerFacts> => ({
      name,
      safe: 'on',
      faults: ({ settings }) => [
        settings[name as 'autovacuum'] === 'off' &&
          `dead rows stay, queues get slower, and the server stops in the end, for want of transaction ids: set ${name} = on`,
      ],
    }),
  ),
  {
    name: 'password_encryption',
    safe: 'scram-sha-256',
    faults: ({ settings }) => [
      settings.password_encryption === 'md5' &&
        'new passwords are stored as MD5, which a copy of the server gives away: set scram-sha-256, and the passwords of bezant and bezant_app once more',
    ],
  },
]

const rightsOf = (facts: ServerFacts): string[] => {
  if (facts.isSuperuser) return ['is a superuser']
  return [
    facts.owns && 'owns tables or the database',
    facts.createsRoles && 'may create roles',
    facts.createsDatabases && 'may create databases',
    facts.replicates && 'may copy the server',
    facts.bypassesRows && 'bypasses row security',
    facts.writesAll && 'may write all data, or files of the server',
  ].filter((right) => right !== false)
}

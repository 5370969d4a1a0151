export type Durability = 'persistent' | 'ephemeral'

const tuned = {
  max_connections: '200',
  shared_buffers: '64MB',
  io_method: 'sync',
  jit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statement errors are returned to the client; the server's log is for the server.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  log_line_prefix: '',
  lc_messages: 'C',
}

const byDurability = {
  persistent: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
  ephemeral: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
}

/** Returns the postmaster's settings as arguments, which override the cluster's own files. */
export function settingsOf(durability: Durability, listening: Record<string, string>): string[] {
  const settings = { ...tuned, ...byDurability[durability], ...listening }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

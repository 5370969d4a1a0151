/** Whether the primary answers for a commit before the standby has it. */
export type ReplicationMode = 'synchronous' | 'asynchronous'

/** Two database servers of this machine, a primary and its standby, of which the standby takes over. */
export type DatabasePair = {
  /** Addresses of both, as a list for `DATABASE_URL`: host:port,host:port. */
  hosts: string
  /** The administrator's connection to the server that is the primary now. */
  primaryUrl(): string
  /** Lets nothing more reach the standby, so that it lacks what is committed from now on. */
  stopReplication(): Promise<void>
  /** Kills the primary and what supervises it, as a machine that loses its power. */
  killPrimary(): Promise<void>
  /** Resolves when the standby is the primary. */
  promoted(): Promise<void>
  close(): Promise<void>
}

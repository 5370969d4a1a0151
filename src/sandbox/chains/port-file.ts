import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The published port of the previous run, which tools may be configured with. */
export type PortFile = { read(): number | undefined; write(port: number): void }

export function portFileIn(directory: string): PortFile {
  const path = join(directory, 'rpc-port')
  return {
    read: () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) || undefined : undefined),
    write: (port) => writeFileSync(path, String(port)),
  }
}

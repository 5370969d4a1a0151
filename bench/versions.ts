import { join } from 'node:path'
import { anvilBinary } from '#sandbox/chains/binary'
import { findBinaries } from '#sandbox/postgres/binaries'
import { findOwner } from '#sandbox/postgres/privileges'
import { versionOf } from './machine.ts'
import { root } from './processes.ts'

/** Versions of the software, besides our own code, that the figures depend on. */
export async function describeVersions(): Promise<string> {
  const server = process.env['BENCH_DATABASE_URL']
    ? 'the PostgreSQL of BENCH_DATABASE_URL'
    : versionOf((await findBinaries(await findOwner(join(root, 'none')))).postgres).replace(
        'postgres (PostgreSQL) ',
        'PostgreSQL ',
      )
  const node = versionOf(anvilBinary()).replace(/^anvil( Version:)? ?/, 'anvil ')
  return `${server}, ${node}`
}

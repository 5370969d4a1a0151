import { createHash } from 'node:crypto'
import { lchown, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { cached } from './cache.ts'
import { here, run } from './command.ts'
import type { Owner } from './privileges.ts'

export const user = 'bezant'
export const database = 'bezant'

// The builtin provider sorts and folds the same on every platform; the system's locales do not.
const initdbOptions = [
  `--username=${user}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--auth-local=trust',
  process.platform === 'win32' ? '--auth-host=trust' : '--auth-host=reject',
  '--no-sync',
  '--no-instructions',
]

/** Returns an empty cluster to copy, made once per machine and version, because initdb takes about a second. */
export function findTemplate(binaries: Binaries, owner: Owner | undefined): Promise<string> {
  const digest = createHash('sha256').update(initdbOptions.join(' ')).digest('hex').slice(0, 8)
  return cached(binaries.cache, `template-${digest}`, async (cluster) => {
    await mkdir(cluster, { mode: 0o700 })
    if (owner) await lchown(cluster, owner.uid, owner.gid)
    const at = { cluster, owner }
    await run({ program: binaries.initdb, args: ['-D', here(cluster, owner), ...initdbOptions], ...at })
    await run(
      { program: binaries.postgres, args: ['--single', '-D', here(cluster, owner), 'template1'], ...at },
      `ALTER DATABASE postgres RENAME TO ${database};\n`,
    )
    // Owned by root again, so that other processes of that user cannot alter the template of new clusters.
    if (owner) await takeBack(cluster)
  })
}

async function takeBack(cluster: string): Promise<void> {
  const entries = await readdir(cluster, { recursive: true })
  await Promise.all(['', ...entries].map((entry) => lchown(join(cluster, entry), 0, 0)))
}

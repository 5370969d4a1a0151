import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '#lib/system-code'
import { countEntries } from './copy-tree.ts'
import { EmbeddedPostgresError } from './errors.ts'
import { canReach, type Owner } from './privileges.ts'

const abandonedMs = 3_600_000

/** Opens this user's directory for files that are made once per machine and version; `owner` can enter it. */
export async function openCache(version: string, owner: Owner | undefined): Promise<string> {
  const own = process.getuid?.() ?? userInfo().username
  const path = join(await temporaryDirectory(owner), `bezant-${own}-pg-${version}`)
  await mkdir(path, { mode: 0o700 }).catch((error) => {
    if (systemCode(error) !== 'EEXIST') throw error
  })
  // The name is predictable and the parent is world-writable: files that another user put there must never be executed.
  const found = await lstat(path)
  const foreign =
    process.getuid !== undefined && (found.uid !== process.getuid() || (found.mode & 0o022) !== 0)
  if (!found.isDirectory() || foreign) {
    throw new EmbeddedPostgresError(
      'UNUSABLE',
      `${path} belongs to another user or is writable by others, so its PostgreSQL files cannot be trusted. Remove it and start again.`,
    )
  }
  if (owner) await chmod(path, 0o711)
  return path
}

/**
 * Returns the cache entry `name`. `build` makes it in a private directory, which is renamed when complete, so that concurrent
 * and killed builders do no harm. An entry from which a temporary-file cleaner removed files is built again.
 */
export async function cached(
  cache: string,
  name: string,
  build: (directory: string) => Promise<void>,
): Promise<string> {
  const path = join(cache, name)
  if (await isWhole(path)) return join(path, 'content')
  const draft = await mkdtemp(join(cache, `${name}.new-`))
  await removeAbandoned(cache, draft)
  try {
    await chmod(draft, 0o711)
    await build(join(draft, 'content'))
    await writeFile(join(draft, 'entries'), String(await countEntries(join(draft, 'content'))))
    await replace(draft, path)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return join(path, 'content')
}

async function replace(draft: string, path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rename(draft, path)
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(systemCode(error) ?? '') || attempt === 5) throw error
    }
    if (await isWhole(path)) return
    const discarded = await mkdtemp(`${path}.old-`)
    await rename(path, join(discarded, 'entry')).catch(() => undefined)
    await rm(discarded, { recursive: true, force: true })
  }
}

/** Removes drafts an hour older than this one: their builders were killed. */
async function removeAbandoned(cache: string, draft: string): Promise<void> {
  const { mtimeMs } = await lstat(draft)
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const found = /\.(new|old)-/.test(name) ? await lstat(path).catch(() => undefined) : undefined
    if (found && mtimeMs - found.mtimeMs > abandonedMs) await rm(path, { recursive: true, force: true })
  }
}

async function isWhole(path: string): Promise<boolean> {
  try {
    const expected = Number(await readFile(join(path, 'entries'), 'utf8'))
    return expected === (await countEntries(join(path, 'content')))
  } catch {
    return false
  }
}

async function temporaryDirectory(owner: Owner | undefined): Promise<string> {
  for (const candidate of [tmpdir(), '/tmp', '/var/tmp']) {
    if (!owner || (await canReach(candidate, owner).catch(() => false))) return candidate
  }
  throw new EmbeddedPostgresError(
    'UNUSABLE',
    `The user "${owner?.name}", as whom PostgreSQL runs, can enter none of ${tmpdir()}, /tmp and /var/tmp. Set TMPDIR to a directory it can enter.`,
  )
}

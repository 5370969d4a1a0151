import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readConfig, readSurroundings } from '#runtime/config'
import { fileRules } from './files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bezant-rights-'))
  for (const name of ['data', 'data/journals', 'data/journals/one', 'data/guesses'])
    await mkdir(join(folder, name))
  for (const name of ['data/root.key', 'token', 'networks'])
    await writeFile(join(folder, name), name === 'networks' ? '[]' : 'ab'.repeat(32))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

beforeEach(async () => {
  for (const name of ['data', 'data/journals', 'data/journals/one', 'data/guesses'])
    await chmod(join(folder, name), 0o700)
  for (const name of ['data/root.key', 'token']) await chmod(join(folder, name), 0o600)
  await chmod(join(folder, 'networks'), 0o644)
})

/** The faults about rights, by the names of their rules. */
async function rightsFaults(more: Record<string, string> = {}): Promise<Record<string, string>> {
  const environment = {
    ...more,
    BEZANT_DATA_DIR: join(folder, 'data'),
    BEZANT_NETWORKS_FILE: join(folder, 'networks'),
    BEZANT_SCREENING_TOKEN_FILE: join(folder, 'token'),
  }
  const given = { config: readConfig({}, environment), surroundings: readSurroundings(environment) }
  const rules = fileRules.filter(({ name }) => name.startsWith('rights'))
  const found = await Promise.all(
    rules.map(async ({ name, faults }) => [name, (await faults(given)).filter(Boolean).join()] as const),
  )
  return Object.fromEntries(found.filter(([, text]) => text !== ''))
}

it('finds nothing amiss with the documented rights, and those of the group of the program', async () => {
  expect(await rightsFaults()).toEqual({})
  await chmod(join(folder, 'data'), 0o770)
  for (const name of ['data/root.key', 'token']) await chmod(join(folder, name), 0o640)
  expect(await rightsFaults()).toEqual({})
})

it.each([
  ['rights on the data directory', 'data', 0o701],
  ['rights on root.key', 'data/root.key', 0o604],
  ['rights on journals and guesses', 'data/journals', 0o705],
  ['rights on journals and guesses', 'data/journals/one', 0o702],
  ['rights on journals and guesses', 'data/guesses', 0o755],
  ['rights on files of settings', 'token', 0o644],
  // It holds no secret, and another user who changes it chooses the nodes.
  ['rights on files of settings', 'networks', 0o646],
])('names %s when %s has another mode', async (rule, name, mode) => {
  await chmod(join(folder, name), mode)
  const faults = await rightsFaults()
  expect(Object.keys(faults)).toEqual([rule])
  expect(faults[rule]).toContain(join(folder, name))
})

it.runIf(process.getuid?.() === 0)(
  'takes no access list of a credential for a right of a group',
  async () => {
    const foreignGroup = 54_321
    await chown(join(folder, 'token'), 0, foreignGroup)
    const elsewhere = { CREDENTIALS_DIRECTORY: join(folder, 'data') }
    for (const [mode, settings, faults] of [
      [0o440, { CREDENTIALS_DIRECTORY: folder }, []],
      [0o444, { CREDENTIALS_DIRECTORY: folder }, ['rights on files of settings']],
      [0o440, elsewhere, ['rights on files of settings']],
    ] as const) {
      await chmod(join(folder, 'token'), mode)
      expect(Object.keys(await rightsFaults(settings))).toEqual(faults)
    }
    await chown(join(folder, 'token'), 0, process.getgid!())
  },
)

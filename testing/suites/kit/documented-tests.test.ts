import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installKit } from '#testing/processes/kit-package'
import { programFile } from '#testing/processes/programs'
import { root } from '#testing/runner/root'

const run = promisify(execFile)
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bezant-documented-'))
  await installKit(folder, await programFile('kit'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Runs the tests of a directory with Vitest, as a user does, and returns what it says. */
async function runVitest(directory: string): Promise<string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_OPTIONS|VITEST|BEZANT|TEST_)/.test(name),
  )
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { ...Object.fromEntries(own), NO_COLOR: '1', CI: '1' }
  return run(process.execPath, [vitest, 'run'], { cwd: directory, env }).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }) => expect.unreachable(`the tests fail:\n${stdout}${stderr}`),
  )
}

const directoryIn = async (name: string): Promise<string> => {
  const directory = join(folder, name)
  await mkdir(directory, { recursive: true })
  return directory
}

it('the tests that docs/testing.md shows pass, each file on a sandbox of its own', async () => {
  const directory = await directoryIn('documented')
  const page = await readFile(join(root, 'docs/testing.md'), 'utf8')
  for (const [, path, text] of page.matchAll(/```js\n\/\/ (\S+)\n([\s\S]+?)```/g)) {
    await mkdir(join(directory, dirname(path!)), { recursive: true })
    await writeFile(join(directory, path!), text!)
  }
  const said = await runVitest(directory)
  expect(said).toMatch(/Test Files +2 passed/)
  expect(said).toMatch(/Tests +5 passed/)
  expect(said).toContain('The faults of the sandbox had the seed 7')
})

it('the ten tests of examples/shop pass', async () => {
  const directory = await directoryIn('shop')
  for (const name of await readdir(join(root, 'examples/shop')))
    if (name !== 'node_modules')
      await cp(join(root, 'examples/shop', name), join(directory, name), { recursive: true })
  expect(await runVitest(directory)).toMatch(/Tests +10 passed/)
})

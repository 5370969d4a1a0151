/** A release is prepared in a small repository; what it lists is that of this one. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { root as ownRoot } from '#testing/runner/root'
import { releasedFile, releasedRule } from '../tidy/released.ts'
import { billOfMaterials, licencesOf, packRelease } from './pack.ts'
import { prepareRelease } from './prepare.ts'

let root: string
const write = (path: string, text: string) => writeFileSync(join(root, path), text)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const prepare = (version: string) => prepareRelease({ root, version, date: '2027-01-31' })

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bezant-release-'))
  for (const folder of ['docs', 'migrations']) mkdirSync(join(root, folder))
  const manifest = { name: 'bezant', version: '0.1.0', license: 'Apache-2.0' }
  write('package.json', JSON.stringify(manifest, undefined, 2))
  const packages = { '': manifest, 'node_modules/other': { version: '0.1.0' } }
  write('package-lock.json', JSON.stringify({ ...manifest, lockfileVersion: 3, packages }, undefined, 2))
  write('CHANGELOG.md', '# Changes\n\n## Unreleased\n\n- Something is faster.\n')
  write('docs/install.md', 'npm install bezant-0.1.0.tgz\n')
  write('migrations/0001_first.sql', 'select 1;\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** The violations of the rule about released migrations. */
function violations(): string[] {
  const files = [releasedFile, 'migrations/0001_first.sql', 'migrations/0002_second.sql'].flatMap((path) => {
    try {
      const text = read(path)
      return [{ path, text, lines: text.split('\n') }]
    } catch {
      return []
    }
  })
  return releasedRule.check({ root, files, matching: () => [], exists: () => false })
}

it('writes the version everywhere, a heading of the changes, and the sums of the migrations', () => {
  prepare('0.2.0')
  expect(JSON.parse(read('package.json')).version).toBe('0.2.0')
  const lock = JSON.parse(read('package-lock.json'))
  expect([lock.version, lock.packages[''].version]).toEqual(['0.2.0', '0.2.0'])
  expect(lock.packages['node_modules/other'].version).toBe('0.1.0')
  expect(read('CHANGELOG.md')).toBe(
    '# Changes\n\n## Unreleased\n\n## 0.2.0 (2027-01-31)\n\n- Something is faster.\n',
  )
  expect(read('docs/install.md')).toBe('npm install bezant-0.2.0.tgz\n')
  expect(JSON.parse(read(releasedFile))).toMatchObject({ '0001_first.sql': { since: '0.2.0' } })
})

it('refuses a version that is none or was released, and changes that are not named, and writes nothing', () => {
  expect(() => prepare('1.0')).toThrow('give three numbers')
  expect(() => prepare('0.0.9')).toThrow('0.0.9 is below 0.1.0')
  prepare('0.1.0')
  expect(() => prepare('0.1.0')).toThrow('0.1.0 is not above 0.1.0, which was released')
  const before = read('package.json')
  expect(() => prepare('0.2.0')).toThrow('names no change')
  expect(read('package.json')).toBe(before)
})

it('a released migration that changed or is gone is a violation, and one that was added is none', () => {
  prepare('0.1.0')
  write('migrations/0002_second.sql', 'select 2;\n')
  expect(violations()).toEqual([])
  write('CHANGELOG.md', '## Unreleased\n\n- One more.\n')
  prepare('0.2.0')
  write('migrations/0002_second.sql', 'select 3;\n')
  rmSync(join(root, 'migrations/0001_first.sql'))
  expect(violations()).toEqual([
    'migrations/0001_first.sql is gone, and 0.1.0 had it',
    'migrations/0002_second.sql is not as 0.2.0 had it',
  ])
})

it('packs a tagged commit without changes alone', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: root })
  git('init', '-q')
  expect(() => packRelease(root, () => undefined)).toThrow('the working tree has changes')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  expect(() => packRelease(root, () => undefined)).toThrow('no tag v0.1.0')
})

it('lists what is installed: runtime packages with their sums and licences, and none of development', () => {
  const { bomFormat, specVersion, components } = JSON.parse(billOfMaterials(ownRoot))
  expect([bomFormat, specVersion]).toEqual(['CycloneDX', '1.5'])
  const named = (name: string) => components.find((each: { name: string }) => each.name === name)
  expect(named('pg')).toMatchObject({
    purl: expect.stringMatching(/^pkg:npm\/pg@/),
    hashes: [{ alg: 'SHA-512' }],
  })
  expect(named('vitest')).toBeUndefined()
  const licences = licencesOf(ownRoot)
  expect(licences).toMatch(/^\| pg \| [\d.]+ \| MIT \| {2}\|$/m)
  expect(licences).toMatch(/^\| @account-abstraction\/contracts \| 0\.7\.0 \| MIT \| yes \|$/m)
  expect(licences).not.toMatch(/^\| vitest /m)
})
